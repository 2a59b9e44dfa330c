"""Utterances that disagree, where a question asks whether something is so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nur.retrieval.currency.order import asks_whether, disagreement
from nur.retrieval.currency.utterances import Utterance, term_shares
from nur.retrieval.ranking.queries import query_terms, weigh
from nur.retrieval.text.analysis import ANALYZER

QUESTION = "Have I used Flask routes?"
SHARES = term_shares(weigh(query_terms(QUESTION, ANALYZER), {}, 1000))
AT = 50  #: where the utterances start in their notes


def found(*texts: str) -> tuple[str, str] | None:
    """What denies and what claims."""
    utterances = [
        Utterance(f"t{n}", text, AT, (datetime(2026, 1, 1, tzinfo=UTC), n), 0.8, False) for n, text in enumerate(texts)
    ]
    both = disagreement(SHARES, utterances)
    if both is None:
        return None
    for clause in both:
        text = texts[clause.utterance]
        assert text[clause.start_char - AT : clause.end_char - AT] == clause.text
    return both.denies.text, both.claims.text


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            ("I have never used Flask routes, by the way.", "Yesterday; the Flask routes I used worked."),
            ("I have never used Flask routes", "the Flask routes I used worked."),
        ),
        (("I have never used Flask routes.",), None),  # nobody claims
        (("I used Flask routes today.",), None),  # nobody denies
        (("They have never used Flask routes.", "I used Flask routes today."), None),  # somebody else denies
        (("I have never used Flask routes.", "I want to use Flask routes."), None),  # a wish
        (("I have never used Flask routes.", "Are Flask routes used?"), None),  # a question
        (("I have never used Flask routes.", "The harbour office opens at nine."), None),  # another matter
        (("I have never used Flask routes.", "See:\n```\nI used Flask routes\n```"), None),  # code claims nothing
        (  # the clearest of each
            ("I never used Flask.", "I have never used Flask routes.", "Flask is used.", "I used Flask routes today."),
            ("I have never used Flask routes.", "I used Flask routes today."),
        ),
    ],
)
def test_the_clearest_denial_and_the_clearest_claim_disagree(
    texts: tuple[str, ...], expected: tuple[str, str] | None
) -> None:
    assert found(*texts) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Have I used it?", True), ("So did we go?", True), ("What did I use?", False), ("Havel wrote it?", False)],
)
def test_a_question_asks_whether_by_its_first_word(question: str, expected: bool) -> None:
    assert asks_whether(question) is expected
