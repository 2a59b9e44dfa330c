"""Questions that ask when: whether the date that is shown is the right one."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from nur.domain.times import Grain, TimeWindow
from nur.evaluation.gold_dates import gold_window, is_right
from nur.retrieval.times.find import find_times

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nur.evaluation.dataset import LabelledQuestion, Row
    from nur.evaluation.measures import Scores

TIMED = "timed_recall@10"  #: recall@10 of questions that name a time
DATE_METRICS = ("date_given_gold", "date@1", "date@3", TIMED)
_ASKS_WHEN = re.compile(r"(?:when|(?:which|what) (?:date|day|week|month|year))\b", re.IGNORECASE)
#: Rows that date themselves in words name a full date: the day they are counted from does not matter.
_ANY_DAY = date(2040, 1, 1)


def row_moment(value: Any) -> datetime | None:
    """When a row was said, in UTC: as its data set gives it, in ISO 8601 or in words ("1:56 pm on 8 May, 2023")."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        named = find_times(str(value or ""), _ANY_DAY)
        return datetime.combine(named[0].window.first, time(12), UTC) if named else None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def last_said(rows: Iterable[Row], scope: str | None) -> datetime | None:
    """When the last row of a scope was said; None where none is dated."""
    dates = (row_moment(row.meta.get("date")) for row in rows if scope in (None, row.scope))
    return max((date for date in dates if date is not None), default=None)


def shown_window(text: str, said: date) -> TimeWindow:
    """The date that a text is shown with: the first time that it names, else the day it was said."""
    named = find_times(text, said)
    return named[0].window if named else TimeWindow(said, said + timedelta(days=1), Grain.DAY)


def date_scores(question: LabelledQuestion, shown: Sequence[TimeWindow], rows: Mapping[str, Row]) -> Scores:
    """Whether the dates shown with the best hits, and with the gold, are right; nothing for other questions."""
    gold = gold_window(question.answer) if _ASKS_WHEN.match(question.text) else None
    row = rows.get(next(iter(question.units), ""))
    said = row_moment(row.meta.get("date")) if row is not None else None
    if gold is None or row is None or said is None:
        return {}
    given = shown_window(row.text, said.date())
    return {
        "date_given_gold": float(is_right(given, gold)),
        "date@1": float(any(is_right(window, gold) for window in shown[:1])),
        "date@3": float(any(is_right(window, gold) for window in shown[:3])),
    }
