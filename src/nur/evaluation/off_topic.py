"""Off-topic questions: a data set's own questions asked in another scope, and general ones for a user's store."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.evaluation.dataset import DataSet, LabelledQuestion

_LABEL = re.compile(r"^([^\W\d_][\w .'-]{0,30}): ", re.MULTILINE)  # "Caroline: Hey!"
#: A label on fewer lines than this is not a speaker's name.
LINES_OF_A_SPEAKER = 3


def off_topic_questions(data: DataSet) -> Iterator[tuple[LabelledQuestion, str]]:
    """Each answerable question with the next scope, which cannot answer it; empty with fewer than two scopes.

    Speakers' names are replaced by those of the other scope, in order, since they would give the question away.
    """
    scopes = data.scopes
    if len(scopes) < 2:
        return
    following = dict(zip(scopes, (*scopes[1:], scopes[0]), strict=True))
    names = _speakers(data)
    for question in data.questions:
        if question.has_gold and question.scope is not None:
            other = following[question.scope]
            swapped = dict(zip(names[question.scope], names[other], strict=False))
            yield replace(question, text=_renamed(question.text, swapped)), other


def _speakers(data: DataSet) -> dict[str, list[str]]:
    """Speakers of each scope, in order of their first line."""
    lines: dict[str, Counter[str]] = {scope: Counter() for scope in data.scopes}
    for row in data.rows:
        if row.scope in lines:
            speaker = row.meta.get("speaker")
            lines[row.scope].update([str(speaker)] if speaker else _LABEL.findall(row.text))
    return {
        scope: [name for name, count in names.items() if count >= LINES_OF_A_SPEAKER] for scope, names in lines.items()
    }


def _renamed(text: str, names: dict[str, str]) -> str:
    if not names:
        return text
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"\b(?:{pattern})\b", lambda match: names[match.group()], text)


#: For a user's own store, which has no other scope: questions that hardly any store can answer.
GENERAL_QUESTIONS = (
    "How many moons does the planet Neptune have?",
    "Which composer wrote the opera about a barber in Seville?",
    "How do bees tell each other where flowers are?",
    "What is the melting point of tungsten?",
    "Who was the first woman to swim across the English Channel?",
    "Why do volcanoes along a subduction zone erupt so violently?",
    "Which spices belong in a classic Moroccan tagine?",
    "How did medieval masons lift stones to the top of a cathedral?",
    "When was the Suez Canal opened to ships?",
    "What do giant pandas eat besides bamboo?",
    "How is parchment made from the skin of a goat?",
    "Which glacier is the longest one in the Alps?",
    "What made the Hanseatic League lose its power?",
    "How does a sextant measure the height of the sun?",
    "Who painted the ceiling of the Sistine Chapel, and how long did it take?",
    "Why is the sea around the Maldives turquoise?",
    "What are the rules of a penalty shoot-out in field hockey?",
    "How many strings does a concert harp have?",
    "Which enzyme breaks down lactose in the human gut?",
    "What did the Treaty of Tordesillas divide?",
    "How do you prune an old apple tree in winter?",
    "Which desert receives the least rain in a year?",
    "What is the plot of the third act of Hamlet?",
    "How far can an albatross fly without landing?",
    "When did the last mammoths die out, and where did they live?",
    "What kind of wood is used for the back of a violin?",
    "How do tides differ between spring and neap?",
    "Who discovered that blood circulates through the body?",
    "Which metal is liquid at room temperature?",
    "Why did the zeppelin Hindenburg catch fire?",
    "How is the indigo dye taken out of the plant?",
    "What language do the people of Greenland speak?",
    "How does a beaver build a dam that holds?",
    "Which dynasty ruled China when the fleet of Zheng He sailed?",
    "What is the offside rule in ice hockey?",
    "How long does light from the sun need to reach Saturn?",
    "Which mushrooms grow under birch trees in autumn?",
    "What caused the Irish potato famine?",
    "How do you knot a bow tie?",
    "Why do cats always land on their feet?",
)
