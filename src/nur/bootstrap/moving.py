"""Moves the configured store to another database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.bootstrap import NO_POSTGRES
from nur.domain.errors import BadConfiguration
from nur.ports.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.adapters.sql.moving.move import MoveManifest
    from nur.settings import Settings


def move_store(settings: Settings, target: str, progress: Callable[[str, int], None]) -> MoveManifest:
    """Copy the configured store to another folder or database. Raises BadRequest, BadConfiguration, NotFound."""
    from nur.adapters.sql.moving.ends import StorePlace
    from nur.adapters.sql.moving.move import move

    url = settings.database_url
    source = StorePlace(settings.nur_data_dir) if url is None else StorePlace.parse(url.get_secret_value())
    try:
        return move(source, StorePlace.parse(target), SystemClock(), progress)
    except ImportError as error:
        raise BadConfiguration(NO_POSTGRES) from error
