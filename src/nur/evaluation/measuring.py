"""Ask a system the questions of a data set and score each answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nur.evaluation import measures
from nur.evaluation.changes import CONTRADICTION, LISTED, TIMELINE, change_scores
from nur.evaluation.dates import TIMED, date_scores
from nur.evaluation.injection import injected_share, injection_scores
from nur.evaluation.off_topic import off_topic_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nur.domain.search import Mode
    from nur.evaluation.asking import Answer, LoadedDataset
    from nur.evaluation.dataset import DataSet, LabelledQuestion, Row
    from nur.evaluation.measures import Scores

SPAN_METRICS = (
    "span_recall@1000c",
    "span_recall@2000c",
    "span_recall@4000c",
    "passage_hit@1",
    "mrr",
    "all_spans@5",
    "iou@5",
    "doc_hit@1",
)
#: Categories of questions whose evidence a brief should already contain.
BRIEFED = ("instruction_following", "preference_following")
BRIEF_RECALL = "brief_recall"
UNIT_METRICS = ("hit@1", "recall@5", "recall@10", "ndcg@10", "mrr", "all@10")
#: Metrics of mixed data sets; they add the passages shown, and whether current rows rank before outdated ones.
MIXED_METRICS = ("hit@1", "recall@5", "mrr", "span_recall@2000c", "iou@5", "span_precision@5", "current_first")


class System(Protocol):
    """A search system that answers the questions of one data set."""

    @property
    def name(self) -> str:
        """Name in the tables."""
        ...

    async def answer(self, question: LabelledQuestion, *, scope: str | None = None) -> Answer:
        """The answer to score; `scope` replaces the question's own conversation."""
        ...

    async def answer_within(self, question: LabelledQuestion, budget: int) -> Answer | None:
        """The answer limited to this many characters; None if `answer` returns the same."""
        ...


@dataclass(frozen=True, slots=True)
class NurSearch:
    """Nur's own search."""

    dataset: LoadedDataset
    mode: Mode
    max_chars: int
    name: str = "nur"

    async def answer(self, question: LabelledQuestion, *, scope: str | None = None) -> Answer:
        """Search with the configured budget."""
        return await self.dataset.ask(question, self.mode, self.max_chars, scope=scope)

    async def timeline(self, question: LabelledQuestion) -> float | None:
        """Share of the question's rows on a short timeline; None for data sets that are not conversations."""
        return await self.dataset.timeline(question) if self.dataset.data.load_as == "turns" else None

    async def answer_within(self, question: LabelledQuestion, budget: int) -> Answer | None:
        """Search again, since another budget selects other passages instead of cutting the same ones."""
        return await self.dataset.ask(question, self.mode, budget) if budget != self.max_chars else None


@dataclass(slots=True)
class Measured:
    """One system's figures for a data set, by question id."""

    system: str
    scores: dict[str, Scores] = field(default_factory=dict)  #: questions with gold only
    confidence: dict[str, float] = field(default_factory=dict)  #: that the best hit answers
    relevance: dict[str, float] = field(default_factory=dict)  #: of the best hit
    shown: dict[str, int] = field(default_factory=dict)  #: number of hits
    off_topic_confidence: dict[str, float] = field(default_factory=dict)  #: when asked in another scope
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    def mean(self, questions: Iterable[LabelledQuestion]) -> Scores:
        """Mean of each metric; empty if none of the questions has gold."""
        rows = [self.scores[question.id] for question in questions if question.id in self.scores]
        return measures.mean(rows) if rows else {}

    def abstention(self, data: DataSet) -> float | None:
        """AUROC against the unanswerable questions; None if there are none."""
        unanswerable = [self.confidence[one.id] for one in data.questions if one.is_unanswerable]
        return self._auroc(unanswerable)

    def false_answers(self, data: DataSet) -> float | None:
        """Share of the unanswerable questions above the threshold that 95 % of the answerable ones pass."""
        unanswerable = [self.confidence[one.id] for one in data.questions if one.is_unanswerable]
        answerable = [self.confidence[question] for question in self.scores]
        return measures.false_answers(answerable, unanswerable) if answerable and unanswerable else None

    def off_topic(self) -> float | None:
        """AUROC against the questions asked in another scope; None if there were none."""
        return self._auroc(list(self.off_topic_confidence.values()))

    def injected_off_topic(self, data: DataSet) -> float | None:
        """Share of the off-topic questions, or else of the unanswerable ones, that passages would be added to."""
        unanswerable = [self.confidence[one.id] for one in data.questions if one.is_unanswerable]
        return injected_share(list(self.off_topic_confidence.values()) or unanswerable)

    def _auroc(self, unanswerable: list[float]) -> float | None:
        answerable = [self.confidence[question] for question in self.scores]
        return measures.auroc(answerable, unanswerable) if answerable and unanswerable else None


def merged(parts: Sequence[Measured]) -> Measured:
    """Merge a system's figures for the parts of one data set."""
    whole = Measured(parts[0].system)
    for part in parts:
        whole.scores |= part.scores
        whole.confidence |= part.confidence
        whole.shown |= part.shown
        whole.off_topic_confidence |= part.off_topic_confidence
        whole.seconds += part.seconds
        whole.cpu_seconds += part.cpu_seconds
    return whole


async def measure(system: System, data: DataSet, *, off_topic: bool, progress: Callable[[], None]) -> Measured:
    """Ask every question that has gold or is unanswerable; `progress` is called after each."""
    measured = Measured(system.name)
    await system.answer(data.questions[0])  # warm up: what is loaded on first use is not latency
    rows = {row.id: row for row in data.rows}
    has_conflicts = any(question.category == CONTRADICTION for question in data.questions)
    for question in data.questions:
        if question.has_gold or question.is_unanswerable:
            answer = await system.answer(question)
            measured.confidence[question.id] = answer.score
            measured.relevance[question.id] = answer.relevance
            measured.shown[question.id] = answer.hits
            measured.seconds.append(answer.seconds)
            measured.cpu_seconds.append(answer.cpu_seconds)
            if question.has_gold:
                scores = await _scores(system, question, answer)
                scores |= brief_scores(question, answer)
                timed = {TIMED: scores["recall@10"]} if answer.names_time and "recall@10" in scores else {}
                measured.scores[question.id] = scores | timed | date_scores(question, answer.dates, rows)
                if isinstance(system, NurSearch):
                    measured.scores[question.id] |= injection_scores(question, answer) if question.units else {}
                    measured.scores[question.id] |= await _change_scores(system, question, answer, rows, has_conflicts)
        progress()
    for question, scope in off_topic_questions(data) if off_topic else ():
        measured.off_topic_confidence[question.id] = (await system.answer(question, scope=scope)).score
        progress()
    return measured


def brief_scores(question: LabelledQuestion, answer: Answer) -> Scores:
    """Whether the brief quotes the question's gold; only for instructions and preferences."""
    if question.category not in BRIEFED or answer.briefed is None:
        return {}
    return {BRIEF_RECALL: float(any(row in answer.briefed for row in question.units))}


async def _change_scores(
    system: NurSearch, question: LabelledQuestion, answer: Answer, rows: Mapping[str, Row], has_conflicts: bool
) -> Scores:
    """Metrics about changes, which only Nur's own search supports."""
    flagged = answer.flags_conflict
    scores = change_scores(question, answer.ids, rows, flagged=flagged, has_conflicts=has_conflicts)
    listed = await system.timeline(question) if question.category in LISTED else None
    return scores if listed is None else scores | {TIMELINE: listed}


def _unit_scores(question: LabelledQuestion, answer: Answer) -> Scores:
    scores = measures.unit_metrics(answer.ids, question.units)
    if question.evidence:
        shown = measures.span_metrics(answer.spans, question.evidence)
        scores |= {name: shown[name] for name in MIXED_METRICS if name in shown and name not in scores}
    if question.stale:
        scores["current_first"] = measures.comes_first(answer.ids, question.units, question.stale)
    return scores


async def _scores(system: System, question: LabelledQuestion, answer: Answer) -> Scores:
    if not question.spans:
        return _unit_scores(question, answer)
    scores = measures.span_metrics(answer.spans, question.spans)
    for budget in measures.BUDGETS:
        other = await system.answer_within(question, budget)
        if other is not None:
            name = f"span_recall@{budget}c"
            scores[name] = measures.span_metrics(other.spans, question.spans)[name]
    return scores
