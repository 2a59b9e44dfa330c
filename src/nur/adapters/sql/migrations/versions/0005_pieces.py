"""Store pieces of chunks, which search ranks: their terms, offsets and vectors, and one lexical row each.

Pieces cannot be made here from the stored chunks: every note is analysed again when the store is opened. Until then its
chunks are found only by their vectors.
"""

import sqlalchemy as sa
from alembic import op

from nur.adapters.sql.postgres.lexical_index import CREATE as POSTINGS
from nur.adapters.sql.sqlite.lexical_index import CREATE as FTS5

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.drop_column("memory_note_chunks", "term_vector")
    op.drop_column("memory_note_chunks", "sentences")
    op.execute("UPDATE memory_note_chunks SET term_count = 0")
    op.create_table(
        "chunk_pieces",
        sa.Column("chunk_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("piece_count", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("pieces", sa.LargeBinary(), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.Column("atoms", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_key"],
            ["memory_note_chunks.chunk_key"],
            name=op.f("fk_chunk_pieces_chunk_key"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("chunk_key", name=op.f("pk_chunk_pieces")),
    )
    op.create_table(
        "lexical_words",
        sa.Column("word_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("word_key", name=op.f("pk_lexical_words")),
        sa.UniqueConstraint("term", name=op.f("uq_lexical_words_term")),
        sqlite_autoincrement=True,
    )
    op.add_column("lexical_totals", sa.Column("pieces", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute("UPDATE lexical_totals SET terms = 0")
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    if is_sqlite:
        op.execute("DROP TABLE chunk_vocabulary")
        op.execute("DROP TABLE chunk_terms")
    for statement in FTS5 if is_sqlite else POSTINGS:
        op.execute(statement)
