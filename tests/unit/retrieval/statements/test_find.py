"""Statements in texts: what each sentence states, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.domain.statements import StatementKind
from nur.retrieval.statements.find import MAX_QUOTE_CHARACTERS, MIN_QUOTE_CHARACTERS, find_statements, whole

INSTRUCTION, PREFERENCE, DECISION = StatementKind.INSTRUCTION, StatementKind.PREFERENCE, StatementKind.DECISION
QUESTION, VALUE = StatementKind.QUESTION, StatementKind.VALUE


def found(text: str) -> list[tuple[StatementKind, str]]:
    return [(one.kind, text[one.start_char : one.end_char]) for one in find_statements(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Always answer in German.", INSTRUCTION),
        ("Please never commit to main directly.", INSTRUCTION),
        ("From now on, call me Max.", INSTRUCTION),
        ("Include error codes when I ask about the API.", INSTRUCTION),
        ("Whenever I ask for code, add type hints.", INSTRUCTION),
        ("Antworte bitte immer auf Deutsch.", None),  # "immer" counts only at the beginning
        ("Immer auf Deutsch antworten.", INSTRUCTION),
        ("Toujours répondre en français.", INSTRUCTION),
        ("Siempre responde en español.", INSTRUCTION),
        ("I always answer in German.", None),  # a report
        ("Should you always answer in German?", None),  # a question
        ("Never mind.", None),
        ("Always a pleasure!", None),
        ("Never thought of that.", None),
        ("What should I do when I ask for a raise?", None),
        ("I prefer tabs over spaces.", PREFERENCE),
        ("I prefer tabs, can you convert the file?", PREFERENCE),  # the question comes after it
        ("Which one do you think I prefer?", None),
        ("I'd rather take the train.", PREFERENCE),
        ("I'd love to see an example.", None),  # a wish of the moment
        ("Mira hates phone calls.", PREFERENCE),
        ("My favourite editor is Neovim.", PREFERENCE),
        ("Je préfère le thé.", PREFERENCE),
        ("Ich trinke lieber Tee.", PREFERENCE),
        ("I want a cache without using external libraries.", PREFERENCE),
        ("We decided to use PostgreSQL.", DECISION),
        ("We've agreed on Thursday.", DECISION),
        ("I'm going with Netlify.", DECISION),
        ("We switched to pnpm.", DECISION),
        ("Wir haben uns für Qdrant entschieden.", DECISION),
        ("Did they say we decided to move?", None),
        ("TODO: renew the certificate.", QUESTION),
        ("We still need to decide who drives.", QUESTION),
        ("Remind me to call the bank.", QUESTION),
        ("The rent is 900 euros.", VALUE),
        ("The build runs on Go 1.24.", VALUE),
        ("It rained all day.", None),
        ("", None),
    ],
)
def test_what_a_sentence_states(text: str, kind: StatementKind | None) -> None:
    assert found(text) == ([] if kind is None else [(kind, text)])


def test_only_the_sentence_is_quoted() -> None:
    text = "Hello there! Always use metric units. The weather was fine."
    assert found(text) == [(INSTRUCTION, "Always use metric units.")]


def test_a_list_item_is_quoted_without_its_mark() -> None:
    assert found("Rules:\n- Never use emojis.\n2. Always cite sources.\n") == [
        (INSTRUCTION, "Never use emojis."),
        (INSTRUCTION, "Always cite sources."),
    ]


def test_of_a_long_sentence_the_clauses_around_the_phrase_are_quoted() -> None:
    before, after = "I am building a thing, " * 12, "considering that much else is going on, " * 12
    [(kind, quote)] = found(f"{before}so I prefer plain functions over classes, {after}and that is all.")
    assert kind is PREFERENCE
    assert "I prefer plain functions over classes" in quote
    assert len(quote) <= MAX_QUOTE_CHARACTERS


@pytest.mark.parametrize(
    "text",
    [
        "```\nAlways use tabs.\n```",
        "> Always use tabs.",
        '<nur-memory date="2026-01-01">\n- Always use tabs. [2026-01-01, mem_1]\n</nur-memory>',
        "<nur-memory>Always use tabs.",  # cut off
        "https://example.com/?q=Always use",
    ],
)
def test_nobody_states_what_is_in_code_quotations_or_recalled_text(text: str) -> None:
    assert found(text) == []


def test_only_the_kinds_asked_for_are_found() -> None:
    text = "Always use tabs. We decided to use tabs."
    assert [one.kind for one in find_statements(text, frozenset({DECISION}))] == [DECISION]


def test_a_declared_statement_is_the_text_or_its_beginning() -> None:
    assert [(one.start_char, one.end_char) for one in whole("  Tea at four.\n", PREFERENCE)] == [(2, 14)]
    [long] = whole("Tea at four. " + "And so on. " * 100, PREFERENCE)
    assert (long.start_char, long.end_char) == (0, 12)
    assert whole("  ", PREFERENCE) == []


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            ["always", "I prefer", "we decided", "TODO", "when I ask", "```", ">", ",", ". ", "\n", "7%", "é"]
        )
    ).map(" ".join)
)
def test_quotes_lie_in_the_text_one_after_the_other(text: str) -> None:
    place = 0
    for one in find_statements(text):
        quote = text[one.start_char : one.end_char]
        assert place <= one.start_char
        assert quote == quote.strip()
        assert MIN_QUOTE_CHARACTERS <= len(quote) <= MAX_QUOTE_CHARACTERS + MIN_QUOTE_CHARACTERS
        place = one.end_char
