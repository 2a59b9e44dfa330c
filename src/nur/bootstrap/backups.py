"""Builds the backup job from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from nur.domain.errors import BadRequest
from nur.services.jobs.nightly_backup import NightlyBackup

if TYPE_CHECKING:
    from nur.ports.clock import Clock
    from nur.settings import Settings


def make_nightly_backup(settings: Settings, clock: Clock) -> NightlyBackup | None:
    """Return the nightly backup job; None if BACKUP_DIR is not set."""
    if settings.backup_dir is None:
        return None
    from nur.adapters.sql.sqlite.backup import SqliteBackups

    backups = SqliteBackups(settings.nur_data_dir, settings.backup_dir, passphrase(settings))
    zone = ZoneInfo(settings.nur_timezone) if settings.nur_timezone else None
    return NightlyBackup(backups, settings.backup_at, zone, settings.backup_keep, clock)


def passphrase(settings: Settings) -> str | None:
    """Return the passphrase that encrypts backups; None: they are not encrypted."""
    return settings.backup_passphrase.get_secret_value() if settings.backup_passphrase else None


def require_file(settings: Settings) -> None:
    """Raise BadRequest if the store is in PostgreSQL, which backup and restore do not support."""
    if settings.database_url is not None:
        raise BadRequest("DATABASE_URL is set: the store is in PostgreSQL. Use pg_dump, or nur export and nur import.")
