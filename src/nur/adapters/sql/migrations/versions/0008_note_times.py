"""Times that notes name, and an index on when notes were said."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

ACTIVE = sa.text("status = 'active'")


def upgrade() -> None:
    op.create_table(
        "note_times",
        sa.Column(
            "derivation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            sa.ForeignKey("derivations.derivation_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("start_char", sa.Integer(), primary_key=True),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.Column("first_day", sa.Integer(), nullable=False),
        sa.Column("end_day", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_note_times", "note_times", ["first_day", "end_day"])
    op.create_index(
        "ix_notes_said", "memory_notes", ["tenant_id", "occurred_at"], sqlite_where=ACTIVE, postgresql_where=ACTIVE
    )
