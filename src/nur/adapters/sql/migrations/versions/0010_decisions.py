"""Decisions about pairs of notes, suggestions, and what each line of the audit log changed."""

import sqlalchemy as sa
from alembic import op

from nur.adapters.sql.columns import Moment

revision = "0010"
down_revision = "0009"
#: Programs with an older head do not work on this schema.
oldest_program = "0010"


def upgrade() -> None:
    _pairs(
        "decisions",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=False),
        sa.Column("decided_at", Moment(), nullable=False),
    )
    _pairs(
        "suggestions",
        sa.Column("relation", sa.String(), nullable=False),
        sa.Column("found_at", Moment(), nullable=False),
    )
    op.add_column("audit_log", sa.Column("change", sa.String()))
    op.add_column("audit_log", sa.Column("version", sa.Integer()))
    op.add_column("audit_log", sa.Column("other_id", sa.Uuid()))


def _pairs(name: str, *columns: sa.Column[object]) -> None:
    op.create_table(
        name,
        _note("newer_id"),
        _note("older_id"),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("review_id", sa.String(), nullable=False),
        sa.Column("newer_hash", sa.String(64), nullable=False),
        sa.Column("older_hash", sa.String(64), nullable=False),
        *columns,
    )
    op.create_index(f"uq_{name}_review", name, ["tenant_id", "review_id"], unique=True)
    op.create_index(f"ix_{name}_older", name, ["older_id"])


def _note(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Uuid(), sa.ForeignKey("memory_notes.note_id", ondelete="CASCADE"), primary_key=True)
