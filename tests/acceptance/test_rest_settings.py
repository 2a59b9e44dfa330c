"""GET /v2/admin/settings."""

from __future__ import annotations

from nur.settings import Settings
from tests.rest_client import open_rest

SECRET = "a secret that nobody may read"


async def test_all_settings_are_shown_and_no_secret() -> None:
    async with open_rest(nur_token=SECRET, chunk_target_tokens=800) as rest:
        answer = await rest.call("GET", "/v2/admin/settings")
    shown = {setting["name"]: setting for setting in answer.json()["settings"]}
    assert set(shown) == {name.upper() for name in Settings.model_fields}
    assert SECRET not in answer.text
    assert shown["NUR_TOKEN"]["value"] == "********"
    assert (shown["CHUNK_TARGET_TOKENS"]["value"], shown["CHUNK_TARGET_TOKENS"]["is_set"]) == (800, True)
    assert (shown["INDEX"]["value"], shown["INDEX"]["is_set"]) == ("auto", False)
    assert shown["INDEX"]["meaning"]
