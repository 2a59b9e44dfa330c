from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nur.retrieval.text.sentences import pieces, split


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It rained. ", "We stayed in! ", "Why not? ", "Ok."],
        ["i went home. ", "then i slept."],  # chats have no capitals
        ["Dr. Smith met Mr. and Mrs. Jones. ", "They spoke."],
        ["Use it, e.g. on Mondays, i.e. today. ", "Done."],
        ["The U.S. Army left. ", "It was late."],
        ["She lives in the U.S. ", "The weather is fine."],
        ["J. R. R. Tolkien wrote it. ", "We read it."],
        ["Pi is 3.14 here. ", "Version 1.2.3 is out. ", "See example.com. ", "Ping 10.0.0.1. ", "Bye."],
        ["Acme Inc. announced it at 5 p.m. on Oct. 15. ", "See Fig. 3 and No. 5. ", "No. ", "Never."],
        ["It was 2024. ", "Then came 2025."],
        ["Well... maybe. ", "Hm… yes. ", "Wait... ", "What?"],
        ['"Really?" he asked. ', '"Go!" ', "She went."],
        ["(It was closed.) ", "We left [in haste.] ", "“So be it.” ", "«Oui.» ", "**Bold.** ", "End."],
        ["What?! ", "No way!!! ", "Fine."],
        ["Она пришла. ", "Потом ушла. ", "Т.е. всё."],
    ],
)
def test_latin_sentences_end_where_a_reader_ends_them(sentences: list[str]) -> None:
    assert _sentences("".join(sentences)) == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["我们去了北京。", "天气很好！", "你呢？", "「好的。」", "再见"],
        ["好吗?", "好的!", "走吧"],  # Latin marks between Chinese words
        ["今日は。", "元気ですか？", "はい。"],
        ["मैं घर जाता हूँ। ", "तुम कहाँ हो? ", "ठीक है॥"],
        ["كيف حالك؟ ", "أنا بخير. ", "شكرا"],
        ["یہ ٹھیک ہے۔ ", "جی ہاں۔"],
        ["ฉันไปตลาด ", "ซื้อผลไม้\n", "กลับบ้าน"],
        ["Բարեւ։ ", "Լավ։"],
        ["ሰላም። ", "ደህና።"],
    ],
)
def test_other_scripts_end_with_their_own_stops(sentences: list[str]) -> None:
    assert _sentences("".join(sentences)) == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["A title\n\n", "A paragraph without a stop\n\n", "Another"],
        ["Shopping:\n", "- milk\n", "- bread, etc.\n", "* eggs\n", "1. First. ", "Then more.\n", "2) Second"],
        ["Alice\n", "12 High Street\n", "London"],
        ["This line was wrapped by an editor at some column or\nanother. ", "Next."],
        ["This line was wrapped by an editor just before a name:\n", "Bob."],
        ["This line is long and was wrapped by an editor before\nBob. ", "Next."],
        ["One.\r\n", "Two\r\n\r\n", "Three"],
        ["\n\n  Leading space stays with what follows. ", "End"],
        ["# Heading\n", "Text of it.\n", "> quoted\n", "| a | b |\n", "| c | d |"],
        ["Page one\x0c", "Page two\u2029", "Paragraph"],
    ],
)
def test_lines_end_a_sentence_unless_they_are_wrapped(sentences: list[str]) -> None:
    assert _sentences("".join(sentences)) == sentences


def test_an_empty_text_has_no_sentences() -> None:
    assert split("") == []


def test_blank_text_is_one_piece() -> None:
    assert split(" \n\n \t") == [(0, 5)]


_SNIPPETS = [
    "a",
    "B",
    "Mr",
    "e.g",
    ".",
    "...",
    "!",
    "?",
    "…",
    " ",
    "  ",
    "\n",
    "\r\n",
    '"',
    ")",
    "*",
    "1",
    "-",
    "。",
    "」",
]
_SNIPPETS += ["中", "।", "क", "؟", "ع", "ก", "😀", "\u2029", "\x85", "\x1c"]


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(_SNIPPETS), max_size=60).map("".join)))
@example(". . .\n\n. ")
def test_joined_pieces_are_the_text(text: str) -> None:
    ranges = split(text)
    assert "".join(text[start:end] for start, end in ranges) == text
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges)][: len(ranges)]
    assert all(start < end for start, end in ranges)


@pytest.mark.parametrize("unit", [".", ". ", " ", "\n", "a.", "\n- ", '."', "Mr. ", "ก ", ".\n", "(", "1. "])
def test_time_is_linear(unit: str) -> None:
    text = (unit * 300_000)[:300_000] + "x"
    started = time.process_time()
    split(text)
    assert time.process_time() - started < 5  # 0.6 s at most here; a quadratic scan takes minutes


@pytest.mark.parametrize(
    "sentences",
    [
        ["1. Boil water. ", "2. Pour it."],  # the number of a list item
        ["999. Pour it."],
        ["1234. ", "It is a year."],  # too long for an item's number
        ["In 123. ", "It ends."],  # not where the sentence begins
        ["See no. 5 there. ", "Done."],
        ["He said no. ", "Then he left."],  # no number follows
        ["It is in the U.S. ", "The law says so."],
        ["It is in the U.S. Army post."],
        ["Hm… well. ", "Yes"],
        ["Hm… ", "Well. ", "Yes"],
        ["Wait!) then go. ", "Good."],
        ["Wait!) ", "Then go."],
        ['He said "Go." ', "Then he left."],
        ['He said "Go." then he left.'],
        ["3 . ", "It ends."],  # a stop that stands alone belongs to no word
        [" \n Hello. ", "You there."],  # blank lines before the first sentence belong to it
    ],
)
def test_stops_that_end_a_sentence_and_stops_that_do_not(sentences: list[str]) -> None:
    text = "".join(sentences)
    assert [text[start:end] for start, end in split(text)] == sentences


@pytest.mark.parametrize(("letters", "ends"), [(49, True), (50, False), (51, False)])
def test_a_line_of_fifty_characters_may_be_wrapped_and_a_shorter_one_is_not(letters: int, ends: bool) -> None:
    line = "x" * letters + "\n"
    for before in ("", "Earlier.\n"):
        text = f"{before}{line}Yes it goes on"
        assert (split(text)[-1] == (len(before + line), len(text))) is ends


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aaaa bbbb, cccc dddd eeee", ["aaaa bbbb,", " cccc ", "dddd eeee"]),  # at clauses and spaces
        ("a" * 25, ["a" * 10, "a" * 10, "a" * 5]),  # where there are none
        ("abcdefghji\u0301jkl", ["abcdefghj", "i\u0301jkl"]),  # an accent stays with its letter
        ("a" * 10, ["a" * 10]),
    ],
)
def test_what_is_long_is_cut(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in pieces(text, 10)] == expected


def test_a_long_run_of_marks_is_cut_into_long_pieces() -> None:
    text = "a" + "\u0301" * 6000
    assert [end - start for start, end in pieces(text, 600)] == [600] * 10 + [1]
