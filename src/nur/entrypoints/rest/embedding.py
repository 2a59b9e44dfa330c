"""/v2/admin/embedding: the store's embedding model, and moving to another one while the store is in use."""

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from nur.bootstrap import Services
from nur.entrypoints.rest.answers import answered
from nur.entrypoints.rest.deps import OpenServices
from nur.entrypoints.rest.fields import NO_NUL, Body
from nur.entrypoints.rest.problems import documented
from nur.services.jobs.reembed_online import ReembedState

router = APIRouter(prefix="/v2/admin/embedding", tags=["admin"])


class ReembedIn(Body):
    """Which model to move to."""

    to: str = Field(
        min_length=1,
        max_length=200,
        pattern=NO_NUL,
        examples=["openai:text-embedding-3-small:1536"],
        description="local, openai (as the settings say), or provider:model:dimensions",
    )


class ComparisonOut(BaseModel):
    """How alike the two models answer."""

    questions: int
    same_top: float = Field(description="share of the former model's ten best that the new one has among its own")
    found_itself: float = Field(description="share of questions whose own chunk the new model has among its ten best")


class ReembeddedOut(BaseModel):
    """What the last re-embedding did that came to its end."""

    from_version: str
    to_version: str
    embedded: int = Field(description="chunks that had no vector of the new model")
    comparison: ComparisonOut | None


class EmbeddingOut(BaseModel):
    """The store's model, and how a move to another one stands."""

    embedding_version: str = Field(examples=["local:wordllama-l2-supercat:256"])
    held_versions: dict[str, int] = Field(description="chunk vectors by model; those of others allow a way back")
    state: ReembedState
    to_version: str | None = Field(description="the model that everything is being embedded with")
    done: int = Field(description="chunks that have a vector of it")
    total: int
    error: str | None
    last: ReembeddedOut | None

    @classmethod
    async def of(cls, services: Services) -> "EmbeddingOut":
        """As it stands."""
        report = services.reembed.report
        last = await services.reembed.last()
        return cls(
            embedding_version=services.embedder.model.version,
            held_versions=await services.stores.vectors.versions(),
            state=report.state,
            to_version=report.to_version,
            done=report.done,
            total=report.total,
            error=report.error,
            last=None if last is None else ReembeddedOut.model_validate(last),
        )


@router.get("", response_model=EmbeddingOut, responses=documented())
async def embedding(services: OpenServices) -> Response:
    """The store's model, which others there are vectors of, and how a move to another one stands."""
    return answered(await EmbeddingOut.of(services))


@router.post("", status_code=202, response_model=EmbeddingOut, responses=documented(409))
async def start_reembedding(body: ReembedIn, services: OpenServices) -> Response:
    """Embed everything with another model, beside everything else, then switch in one step. Asked again, it goes on."""
    await services.reembed.start(body.to)
    return answered(await EmbeddingOut.of(services), 202)


class Forgotten(BaseModel):
    """How many chunk vectors were forgotten, by model."""

    forgotten: dict[str, int]


@router.post("/purge", response_model=Forgotten, responses=documented(409))
async def purge_other_vectors(services: OpenServices) -> Response:
    """Forget the vectors of all models but the store's own: no way back from then on."""
    return answered(Forgotten(forgotten=await services.reembed.purge()))
