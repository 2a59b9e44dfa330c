"""Statements in the texts of notes."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "note_statements",
        sa.Column(
            "derivation_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            sa.ForeignKey("derivations.derivation_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("start_char", sa.Integer(), primary_key=True),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("trust", sa.String(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_note_statements", "note_statements", ["kind", "trust"])
