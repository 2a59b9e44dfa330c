"""Ask a data set's questions of a system and score each answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nur.evaluation import measures
from nur.evaluation.changes import CONTRADICTION, LISTED, TIMELINE, change_scores
from nur.evaluation.dates import TIMED, date_scores
from nur.evaluation.injection import injected_share, injection_scores
from nur.evaluation.off_topic import asked_elsewhere

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
#: Categories of questions whose evidence should be known before anybody asks.
BRIEFED = ("instruction_following", "preference_following")
BRIEF_RECALL = "brief_recall"
UNIT_METRICS = ("hit@1", "recall@5", "recall@10", "ndcg@10", "mrr", "all@10")
#: Besides, of sets that mix kinds: the passages shown, and whether what is right now comes before what was right once.
MIXED_METRICS = ("hit@1", "recall@5", "mrr", "span_recall@2000c", "iou@5", "span_precision@5", "current_first")


class System(Protocol):
    """Something that answers questions about one data set."""

    @property
    def name(self) -> str:
        """What the tables call it."""
        ...

    async def answer(self, question: LabelledQuestion, *, scope: str | None = None) -> Answer:
        """The answer that is scored; `scope` asks another conversation instead of the question's own."""
        ...

    async def within(self, question: LabelledQuestion, budget: int) -> Answer | None:
        """The answer in this many characters; None when it is the one that `answer` returns."""
        ...


@dataclass(frozen=True, slots=True)
class Searching:
    """Nur's own search."""

    asked: LoadedDataset
    mode: Mode
    max_chars: int
    name: str = "nur"

    async def answer(self, question: LabelledQuestion, *, scope: str | None = None) -> Answer:
        """Ask with the usual budget."""
        return await self.asked.ask(question, self.mode, self.max_chars, scope=scope)

    async def timeline(self, question: LabelledQuestion) -> float | None:
        """The share of the question's rows on a short timeline, where conversations are asked about."""
        return await self.asked.timeline(question) if self.asked.data.load_as == "turns" else None

    async def within(self, question: LabelledQuestion, budget: int) -> Answer | None:
        """Ask again: another budget is another choice of passages, joined where they touch, not a shorter tail."""
        return await self.asked.ask(question, self.mode, budget) if budget != self.max_chars else None


@dataclass(slots=True)
class Measured:
    """One system's answers to one data set's questions, by question."""

    system: str
    scores: dict[str, Scores] = field(default_factory=dict)  #: of the questions with gold
    confidence: dict[str, float] = field(default_factory=dict)  #: how sure it was of its best hit
    relevance: dict[str, float] = field(default_factory=dict)  #: of the best hit of each question
    shown: dict[str, int] = field(default_factory=dict)  #: hits of each question
    elsewhere: dict[str, float] = field(default_factory=dict)  #: the same when another scope is asked
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    def mean(self, questions: Iterable[LabelledQuestion]) -> Scores:
        """The mean of each metric; nothing when none of the questions has gold."""
        rows = [self.scores[question.id] for question in questions if question.id in self.scores]
        return measures.mean(rows) if rows else {}

    def abstention(self, data: DataSet) -> float | None:
        """AUROC of the questions that the corpus cannot answer; None when there are none."""
        unanswerable = [self.confidence[one.id] for one in data.questions if one.is_unanswerable]
        return self._auroc(unanswerable)

    def false_answers(self, data: DataSet) -> float | None:
        """Share of the unanswerable questions that a threshold lets through which 95 % of the others pass."""
        unanswerable = [self.confidence[one.id] for one in data.questions if one.is_unanswerable]
        answerable = [self.confidence[question] for question in self.scores]
        return measures.false_answers(answerable, unanswerable) if answerable and unanswerable else None

    def off_topic(self) -> float | None:
        """AUROC of the questions asked elsewhere; None when none was."""
        return self._auroc(list(self.elsewhere.values()))

    def injected_off_topic(self, data: DataSet) -> float | None:
        """Share of questions asked elsewhere that passages would be put into; without any, of the unanswerable ones."""
        unanswerable = [self.confidence[one.id] for one in data.questions if one.is_unanswerable]
        return injected_share(list(self.elsewhere.values()) or unanswerable)

    def _auroc(self, unanswerable: list[float]) -> float | None:
        answerable = [self.confidence[question] for question in self.scores]
        return measures.auroc(answerable, unanswerable) if answerable and unanswerable else None


def joined(parts: Sequence[Measured]) -> Measured:
    """The answers of a system to the parts of one data set."""
    whole = Measured(parts[0].system)
    for part in parts:
        whole.scores |= part.scores
        whole.confidence |= part.confidence
        whole.shown |= part.shown
        whole.elsewhere |= part.elsewhere
        whole.seconds += part.seconds
        whole.cpu_seconds += part.cpu_seconds
    return whole


async def measure(system: System, data: DataSet, *, off_topic: bool, progress: Callable[[], None]) -> Measured:
    """Ask every question that has gold or cannot be answered; `progress` is called after each."""
    measured = Measured(system.name)
    await system.answer(data.questions[0])  # what is loaded on first use does not count as latency
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
                if isinstance(system, Searching):
                    measured.scores[question.id] |= injection_scores(question, answer) if question.units else {}
                    measured.scores[question.id] |= await _of_changes(system, question, answer, rows, has_conflicts)
        progress()
    for question, scope in asked_elsewhere(data) if off_topic else ():
        measured.elsewhere[question.id] = (await system.answer(question, scope=scope)).score
        progress()
    return measured


def brief_scores(question: LabelledQuestion, answer: Answer) -> Scores:
    """Whether a brief, made before the question, quotes what it asks for; of standing instructions and preferences."""
    if question.category not in BRIEFED or answer.briefed is None:
        return {}
    return {BRIEF_RECALL: float(any(row in answer.briefed for row in question.units))}


async def _of_changes(
    system: Searching, question: LabelledQuestion, answer: Answer, rows: Mapping[str, Row], has_conflicts: bool
) -> Scores:
    """What is measured of changes; only Nur's own search knows of them."""
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
        other = await system.within(question, budget)
        if other is not None:
            name = f"span_recall@{budget}c"
            scores[name] = measures.span_metrics(other.spans, question.spans)[name]
    return scores
