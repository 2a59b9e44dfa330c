"""The target's lexical rows, made again from the terms that are stored with each chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from nur.adapters.sql.moving.rows import MOVE, PAGE
from nur.adapters.sql.moving.tables import writing
from nur.adapters.sql.store_facts import get_fact, set_fact
from nur.adapters.sql.tables import chunk_pieces
from nur.domain.notes import ChunkKey
from nur.retrieval.pieces.stored import lexical_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from nur.adapters.sql.lexical_index import LexicalIndex

#: The fact of the target that holds the last chunk whose lexical rows are there.
REACHED = f"{MOVE}lexical_rows"


def write_lexical_rows(
    target: Engine, lexical_index: LexicalIndex, progress: Callable[[str, int], None], *, from_the_start: bool
) -> None:
    """Write them page by page; stopped half-way, the next run goes on, unless chunks have changed since."""
    with writing(target) as connection:
        if from_the_start or get_fact(connection, REACHED) is None:
            connection.exec_driver_sql("DELETE FROM piece_terms")
            set_fact(connection, REACHED, "0")
        reached = int(get_fact(connection, REACHED) or 0)
    done = 0
    while True:
        with writing(target) as connection:
            page = _page(connection, reached)
            if not page:
                return
            lexical_index.add(connection, {key: lexical_rows(blob) for key, blob in page.items()}, {})
            reached = max(page)
            set_fact(connection, REACHED, str(reached))
        done += len(page)
        progress("lexical rows", done)


def _page(connection: Connection, after: int) -> dict[ChunkKey, bytes]:
    rows = chunk_pieces.c
    found = select(rows.chunk_key, rows.pieces).where(rows.chunk_key > after).order_by(rows.chunk_key).limit(PAGE)
    return {ChunkKey(row.chunk_key): row.pieces for row in connection.execute(found)}
