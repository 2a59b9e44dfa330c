"""Hypothesis strategies for notes and filters, with few values each so that they often match."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, NoteMetadata, Sensitivity, Visibility
from tests.store_notes import START

if TYPE_CHECKING:
    from datetime import datetime

_names = st.sampled_from(["", "a", "A", "b"])
_maybe_names = st.none() | _names
_tenants = ["default", "default", "default", "acme"]
_owners = ["ann", "bob"]
_confidences = st.none() | st.sampled_from([0.0, 0.69, 0.7, 1.0])
#: Around the start, to the microsecond.
moments: st.SearchStrategy[datetime] = st.sampled_from(
    [
        START + change
        for step in (timedelta(microseconds=1), timedelta(hours=1))
        for change in (-step, timedelta(0), step)
    ]
)


@dataclass(frozen=True, slots=True)
class DrawnNote:
    """The fields of a note that filters use."""

    kind: Kind
    tenant: str
    owner: str
    meta: NoteMetadata
    is_deleted: bool


notes: st.SearchStrategy[DrawnNote] = st.builds(
    DrawnNote,
    kind=st.sampled_from(Kind),
    tenant=st.sampled_from(_tenants),
    owner=st.sampled_from(_owners),
    meta=st.builds(
        NoteMetadata,
        type=_maybe_names,
        confidence=_confidences,
        source_system=_maybe_names,
        conversation_id=_maybe_names,
        project=_names,
        agent=_names,
        scope=_names,
        sensitivity=st.sampled_from(Sensitivity),
        visibility=st.sampled_from(Visibility),
        occurred_at=st.none() | moments,
        expires_at=st.none() | st.none() | moments,
    ),
    is_deleted=st.sampled_from([False] * 7 + [True]),
)

#: Filter conditions besides the tenant.
CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "kinds": st.frozensets(st.sampled_from(Kind)),
    "type": _names,
    "min_confidence": st.sampled_from([0.0, 0.7, 1.0]),
    "conversation_id": _names,
    "source_system": _names,
    "sensitivity": st.sampled_from(Sensitivity),
    "visibility": st.sampled_from(Visibility),
    "occurred_from": moments,
    "occurred_to": moments,
    "project": _names,
    "agent": _names,
    "scope": _names,
    "visible_to": st.sampled_from([*_owners, "eve"]),
}


@st.composite
def _filters(draw: st.DrawFn) -> NoteFilter:
    """At most two conditions besides the tenant: with more, almost nothing matches."""
    names = draw(st.lists(st.sampled_from(sorted(CONDITIONS)), max_size=2, unique=True))
    tenant = draw(st.sampled_from([*_tenants, "nobody"]))
    return NoteFilter(tenant=tenant, **{name: draw(CONDITIONS[name]) for name in names})


filters: st.SearchStrategy[NoteFilter] = _filters()
