"""Copies a store and verifies every table by its hash. The target's first start fills its vector index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from nur.adapters.sql.moving.ends import filling, reading
from nur.adapters.sql.moving.tables import REACHED, copy_table, hash_table, write_lexical_rows, writing
from nur.adapters.sql.store_facts import get_fact, set_fact
from nur.adapters.sql.tables import metadata, store_facts
from nur.domain.errors import BadRequest, StoreDamaged, StoreDown
from nur.ports.store_facts import RESTORED

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.adapters.sql.moving.ends import StorePlace
    from nur.adapters.sql.moving.tables import MovedTable
    from nur.ports.clock import Clock

#: Tables that the lexical rows are derived from.
_CHUNKS = {"memory_notes", "memory_note_chunks", "chunk_pieces"}


@dataclass(frozen=True, slots=True)
class MoveManifest:
    """The copied tables. The target was read back and has the same hashes."""

    store_id: str
    tables: tuple[MovedTable, ...]


def move(source: StorePlace, target: StorePlace, clock: Clock, progress: Callable[[str, int], None]) -> MoveManifest:
    """Copy the whole store; the source is unchanged. After an interruption, run it again to resume.

    Raises BadRequest for a target that is not empty, StoreDamaged when the copy differs from the source.
    """
    if source == target:
        raise BadRequest("Source and target are the same store.")
    try:
        with reading(source) as connection:
            store_id = get_fact(connection, "store_id") or ""
            with filling(target, store_id) as (engine, lexical_index):
                return MoveManifest(store_id, _copy(connection, engine, lexical_index, clock, progress))
    except IntegrityError as error:
        raise BadRequest(
            "The source has changed since this move began. Empty the target and move again; the source is unchanged."
        ) from error
    except SQLAlchemyError as error:
        raise StoreDown(f"The move was interrupted: {type(error).__name__}. Run it again: it goes on.") from error


def _copy(
    source: Connection,
    target: Engine,
    lexical_index: LexicalIndex,
    clock: Clock,
    progress: Callable[[str, int], None],
) -> tuple[MovedTable, ...]:
    moved = [copy_table(source, target, table, progress) for table in metadata.sorted_tables]
    changed = any(one.written for one in moved if one.name in _CHUNKS)
    write_lexical_rows(target, lexical_index, progress, from_the_start=changed)
    with target.connect() as connection:
        found = {table.name: hash_table(connection, table) for table in metadata.sorted_tables}
    wrong = [one.name for one in moved if replace(one, written=0) != found[one.name]]
    if wrong:
        raise StoreDamaged(f"The copy differs from the source in {', '.join(wrong)}. Move again.")
    with writing(target) as connection:
        set_fact(connection, RESTORED, clock.now().isoformat())  # a start rebuilds an index outside the store
        connection.execute(store_facts.delete().where(store_facts.c.name == REACHED))
    return tuple(moved)
