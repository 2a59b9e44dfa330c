"""Store the vectors of pieces, which fast models embed, with their chunk's vector."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("note_chunk_embeddings", sa.Column("pieces", sa.LargeBinary()))
