"""What protects a note where the caller does not state it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nur.domain.chunks import sha256
from nur.domain.drafting import ProtectionRules
from nur.domain.errors import BadRequest
from nur.domain.notes import Kind, NoteMetadata, Retention, Sensitivity, Status, Visibility
from nur.domain.writes import Draft, Protection
from tests.store_notes import START, a_note

DAY = timedelta(days=1)
RULES = ProtectionRules(frozenset({"medical"}))
NORMAL, SENSITIVE, HIGH = Sensitivity
ME, TEAM = Visibility.ME, Visibility.TEAM


def a_draft(kind: Kind, text: str, meta: NoteMetadata, stated: Protection) -> Draft:
    return Draft(kind=kind, text=text, meta=meta, stated=stated, content_hash=sha256(text))


def resolved(stated: dict[str, Any], existing: dict[str, Any] | None, source: str | None, text: str) -> NoteMetadata:
    note = None if existing is None else a_note("Blood count.", **existing)
    meta = NoteMetadata(source_system=source)
    draft = a_draft(Kind.ARTIFACT, text, meta, Protection(**stated))
    return RULES.resolve(draft, note, START).meta


@pytest.mark.parametrize(
    ("stated", "existing", "source", "expected"),
    [
        ({}, None, "drive", (NORMAL, ME)),
        ({}, None, "Medical", (HIGH, ME)),  # whatever its case
        ({"sensitivity": NORMAL, "visibility": TEAM}, None, "medical", (NORMAL, TEAM)),  # stated: it wins
        ({}, {"sensitivity": SENSITIVE, "visibility": TEAM}, "drive", (SENSITIVE, TEAM)),  # kept
        ({"sensitivity": NORMAL}, {"sensitivity": SENSITIVE}, "drive", (NORMAL, ME)),  # lowered, on purpose
        ({}, {"sensitivity": NORMAL, "source_system": "medical"}, "medical", (NORMAL, ME)),  # lowered once, stays so
        ({}, {"sensitivity": HIGH, "source_system": "medical"}, "manual", (HIGH, ME)),
        ({}, {"visibility": TEAM, "source_system": "manual"}, "medical", (HIGH, ME)),  # raised by its new source
        ({}, {"sensitivity": HIGH, "status": Status.DELETED}, "drive", (HIGH, ME)),  # out of the trash
    ],
)
@pytest.mark.parametrize("text", ["Blood count.", "Another text."])
def test_who_may_see_a_note(
    stated: dict[str, Any], existing: dict[str, Any] | None, source: str, expected: tuple[object, ...], text: str
) -> None:
    meta = resolved(stated, existing, source, text)
    assert (meta.sensitivity, meta.visibility) == expected


CUSTOM = {"retention": Retention.CUSTOM, "expires_at": START + DAY}
OVER = {"retention": Retention.CUSTOM, "expires_at": START}


@pytest.mark.parametrize(
    ("stated", "existing", "expected"),
    [
        ({}, None, (Retention.FOREVER, None)),
        ({"expires_at": START + DAY}, None, (Retention.CUSTOM, START + DAY)),
        ({"retention": Retention.FOREVER, "expires_at": START + DAY}, None, (Retention.CUSTOM, START + DAY)),
        ({}, CUSTOM, (Retention.CUSTOM, START + DAY)),
        ({"retention": Retention.FOREVER}, CUSTOM, (Retention.FOREVER, None)),
        ({}, {"retention": Retention.UNTIL_RESOLVED}, (Retention.UNTIL_RESOLVED, None)),
        ({}, OVER, (Retention.FOREVER, None)),  # expired: it starts again
        ({}, {**CUSTOM, "status": Status.DELETED}, (Retention.FOREVER, None)),
    ],
)
def test_how_long_a_note_is_kept(
    stated: dict[str, Any], existing: dict[str, Any] | None, expected: tuple[object, ...]
) -> None:
    meta = resolved(stated, existing, None, "Blood count.")
    assert (meta.retention, meta.expires_at) == expected


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"expires_at": START}, "expires_at must lie in the future"),
        ({"retention": Retention.ONE_YEAR, "expires_at": START - DAY}, "expires_at must lie in the future"),
        ({"retention": Retention.CUSTOM}, "retention_policy custom needs expires_at"),
    ],
)
def test_an_end_that_is_over_or_missing_is_refused(stated: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        resolved(stated, None, None, "Blood count.")


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("Blood count.", "manual", "medical"),
        ("Blood count.", None, "medical"),
        ("Another text.", "manual", "manual"),
    ],
)
def test_the_same_text_keeps_its_sensitive_source(text: str, source: str | None, expected: str) -> None:
    meta = resolved({}, {"source_system": "medical", "sensitivity": HIGH}, source, text)
    assert meta.source_system == expected


def test_an_ordinary_source_is_replaced() -> None:
    assert resolved({}, {"source_system": "drive"}, "gmail", "Blood count.").source_system == "gmail"


def test_no_rules_no_sensitive_sources() -> None:
    draft = a_draft(Kind.NOTE, "x", NoteMetadata(source_system="medical"), Protection())
    assert ProtectionRules().resolve(draft, None, START) == replace(draft)
