"""A model that is quick enough embeds pieces: their vectors stand beside their chunk's."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("note_chunk_embeddings", sa.Column("pieces", sa.LargeBinary()))
