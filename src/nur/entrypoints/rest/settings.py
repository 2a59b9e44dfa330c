"""Route that shows the settings in effect."""

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field, JsonValue

from nur.entrypoints.rest.deps import OpenServices, answered
from nur.entrypoints.rest.problems import documented
from nur.settings import Settings, masked

router = APIRouter(prefix="/v2/admin", tags=["admin"])


class SettingOut(BaseModel):
    """One setting."""

    name: str = Field(description="name of the environment variable")
    value: JsonValue = Field(description="secrets are masked; null: not set")
    is_set: bool = Field(description="false: the default applies")
    meaning: str | None


class SettingsOut(BaseModel):
    """All settings."""

    settings: list[SettingOut]

    @classmethod
    def of(cls, settings: Settings) -> "SettingsOut":
        """Build it from the settings read at start."""
        values = masked(settings)
        return cls(
            settings=[
                SettingOut(
                    name=name.upper(),
                    value=values[name.upper()],
                    is_set=name in settings.model_fields_set,
                    meaning=field.description,
                )
                for name, field in Settings.model_fields.items()
            ]
        )


@router.get("/settings", response_model=SettingsOut, responses=documented())
async def settings(services: OpenServices) -> Response:
    """Get the settings in effect with secrets masked, as `nur config` shows them."""
    return answered(SettingsOut.of(services.settings))
