"""Make PostgreSQL use the partial index to find chunks that are not indexed yet.

Its planner assumes that `indexed_revision <> revision` is true of nearly every row, and would read them all with every
search.
"""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(
        "CREATE FUNCTION stale_chunks(most integer) RETURNS SETOF bigint"
        " LANGUAGE sql STABLE SET enable_seqscan = off AS"
        " 'SELECT chunk_key FROM memory_note_chunks"
        " WHERE indexed_revision IS NULL OR indexed_revision <> revision LIMIT most'"
    )
