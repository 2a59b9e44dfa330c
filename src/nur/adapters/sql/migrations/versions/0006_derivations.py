"""Rows derived from a note at its revision; the first are fingerprints."""

import sqlalchemy as sa
from alembic import op

from nur.adapters.sql.columns import Moment

revision = "0006"
down_revision = "0005"

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "derivations",
        sa.Column("derivation_id", KEY, primary_key=True),
        sa.Column("note_id", sa.Uuid(), sa.ForeignKey("memory_notes.note_id", ondelete="CASCADE"), nullable=False),
        sa.Column("deriver", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("derived_at", Moment(), nullable=False),
    )
    op.create_index("uq_derivations_note", "derivations", ["note_id", "deriver"], unique=True)
    op.create_table(
        "fingerprint_bands",
        sa.Column(
            "derivation_id",
            KEY,
            sa.ForeignKey("derivations.derivation_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("band_hash", sa.BigInteger(), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_fingerprint_bands", "fingerprint_bands", ["band_hash"])
