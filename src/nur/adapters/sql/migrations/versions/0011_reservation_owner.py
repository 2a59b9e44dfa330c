"""Record which process handles the call of an idempotency key."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("idempotency_keys", sa.Column("owner", sa.Integer()))
