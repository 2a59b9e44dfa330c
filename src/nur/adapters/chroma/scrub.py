"""Leave no bytes of removed records in an embedded Chroma's files. Chroma itself keeps them: it never overwrites."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE = "chroma.sqlite3"
_BUSY_SECONDS = 10.0  #: another of Chroma's connections may be reading

#: Chroma's queue keeps what was written until 1,000 records are; of a record that was deleted since, only that counts.
_DELETE = 3
_FORGET_SUPERSEDED = """
    DELETE FROM embeddings_queue AS old WHERE EXISTS (
        SELECT 1 FROM embeddings_queue AS gone
        WHERE gone.topic = old.topic AND gone.id = old.id AND gone.seq_id > old.seq_id AND gone.operation = ?
    )
"""
#: Words of deleted documents stay in the full-text index until its parts are merged.
_MERGE_WORDS = "INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES ('optimize')"


def scrub(folder: Path) -> None:
    """Rewrite the database of an embedded Chroma (1.5.9) without what was deleted. Raises sqlite3.Error."""
    with closing(sqlite3.connect(folder / FILE, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute(_FORGET_SUPERSEDED, [_DELETE])
        connection.execute(_MERGE_WORDS)
        connection.execute("VACUUM")
