"""Store the ids that the search gave to a trace's items."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("search_trace_items", sa.Column("public_id", sa.String()))
    op.add_column("search_trace_items", sa.Column("public_chunk_id", sa.String()))
