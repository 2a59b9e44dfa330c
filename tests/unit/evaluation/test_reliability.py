"""Whether confidence can be believed."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from nur.evaluation.dataset import LabelledQuestion
from nur.evaluation.measuring import Measured
from nur.evaluation.reliability import Bin, reliability, reliability_svg


def _question(name: str, *, answered: bool = True) -> LabelledQuestion:
    return LabelledQuestion(name, "?", None, "", {"row": 1.0} if answered else {}, ())


def _measured(*answers: tuple[str, float, float | None, int]) -> Measured:
    """Answers as id, confidence, whether the first hit was right (None: there is no answer), and hits."""
    found = Measured("nur")
    for name, sure, right, hits in answers:
        found.confidence[name], found.shown[name] = sure, hits
        if right is not None:
            found.scores[name] = {"hit@1": right}
    return found


def test_answers_are_compared_with_others_that_are_as_sure() -> None:
    system = _measured(("a", 0.32, 1.0, 5), ("b", 0.38, 0.0, 5), ("c", 0.9, 1.0, 1), ("d", 1.0, 1.0, 9))
    found = reliability("set", system, [_question(name) for name in "abcd"])
    assert found is not None
    assert [(one.answers, round(one.confidence, 3), one.right) for one in found.bins] == [
        (2, 0.35, 0.5),
        (2, 0.95, 1.0),
    ]
    assert found.ece == pytest.approx((2 * 0.15 + 2 * 0.05) / 4)
    assert (found.shown, found.shown_unanswerable) == (4.0, None)  # nine hits are five at the usual limit


def test_a_question_without_an_answer_is_never_right() -> None:
    system = _measured(("a", 0.5, 1.0, 5), ("b", 0.5, None, 2))
    found = reliability("set", system, [_question("a"), _question("b", answered=False)])
    assert found is not None
    assert found.bins == (Bin(2, 0.5, 0.5),)
    assert (found.ece, found.shown_unanswerable) == (0.0, 2.0)


def test_questions_that_were_not_asked_do_not_count() -> None:
    assert reliability("set", _measured(), [_question("a")]) is None


def test_the_diagram_has_a_dot_per_bin_and_escapes_names() -> None:
    system = _measured(("a", 0.32, 1.0, 5), ("c", 0.9, 1.0, 1))
    found = reliability("<set>", system, [_question("a"), _question("c")])
    assert found is not None
    drawn = ET.fromstring(reliability_svg([found]))
    assert len([one for one in drawn.iter() if one.tag.endswith("circle")]) == 2
    assert any("<set> · ECE" in (one.text or "") for one in drawn.iter())
