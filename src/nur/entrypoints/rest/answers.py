"""A good answer, as every route gives it."""

from fastapi.responses import Response
from pydantic import BaseModel


def answered(body: BaseModel | None, status: int = 200, **headers: str) -> Response:
    """A good answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is None:
        return Response(status_code=status, headers=named)
    return Response(body.model_dump_json(), status, named, "application/json")
