from __future__ import annotations

import threading
from importlib import resources

import numpy as np
import pytest

from nur.domain.errors import StoreDamaged
from nur.retrieval.text.tokens import RANK_FILE, count, load, tokenise, vocabulary

LONG = 2_000_000


def _packaged() -> bytes:
    return resources.files("nur.data").joinpath(RANK_FILE).read_bytes()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),  # the figure of OpenAI's cookbook
        ("<|endoftext|>", 7),  # ordinary text: as one special token it would be 1
        ("नमस्ते", 6),
        ("😀", 2),
    ],
)
def test_tokens_are_those_of_cl100k_base(text: str, tokens: int) -> None:
    assert count(text) == tokens == len(tokenise(text))


def test_a_damaged_rank_file_is_refused() -> None:
    with pytest.raises(StoreDamaged, match="damaged"):
        load(_packaged().replace(b" 1000\n", b" 1001\n"))


def test_every_token_knows_its_characters() -> None:
    encoding, begun, begins_inside = vocabulary()
    for token in (0, 220, 1000, 50_000, 100_255):
        assert begun[token] == len(encoding.decode_single_token_bytes(token).decode())
    assert len(begun) == len(begins_inside) == 100_256
    first, last = encoding.encode_ordinary("😀")  # its first three bytes, and its fourth
    assert (begun[first], begins_inside[first]) == (1, 0)
    assert (begun[last], begins_inside[last]) == (0, 1)


def test_threads_share_one_vocabulary() -> None:
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(vocabulary())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for each in seen}) == 1


@pytest.mark.parametrize(
    "unit",
    [
        " ",  # tiktoken alone panics
        "a",
        "\n",
        "😀",
        "中",
        " a\n中😀 \t.",
    ],
)
def test_two_megabytes_of_one_thing_are_counted(unit: str) -> None:
    text = (unit * LONG)[:LONG]
    tokens = tokenise(text)
    assert len(tokens) > 0
    assert tokens.complete[-1] == tokens.started[-1] == LONG


def test_spaces_that_end_in_a_word_do_not_panic() -> None:
    assert count(" " * LONG + "word") > 0


@pytest.mark.parametrize(
    "unit",
    [
        "The quick brown fox doesn't jump over 12345 lazy dogs, naïve or not.\n\n",
        "我们昨天去了北京，天气很好。",
        "मैं घर जाता हूँ। तुम कहाँ हो?  ",
        "ذهبت إلى السوق، ثم عدت إلى البيت.\r\n",
        "x = f(a, b)\n        return x_1  # note\n",
    ],
)
def test_cutting_a_long_text_in_pieces_does_not_change_its_tokens(unit: str) -> None:
    text = unit * (700_000 // len(unit))
    assert count(text) == len(vocabulary().encoding.encode_ordinary(text))


def test_offsets_of_ascii_are_those_of_the_bytes() -> None:
    tokens = tokenise("hello world")
    assert tokens.started.tolist() == tokens.complete.tolist() == [0, 5, 11]


def test_a_token_may_begin_inside_a_character() -> None:
    tokens = tokenise("a😀b")  # the emoji has two tokens
    assert tokens.started.tolist() == [0, 1, 2, 2, 3]
    assert tokens.complete.tolist() == [0, 1, 1, 2, 3]


def test_a_character_of_several_tokens_counts_them_all() -> None:
    tokens = tokenise("a😀b")
    assert [tokens.touching(i, i + 1) for i in range(3)] == [1, 2, 1]
    assert tokens.touching(0, 3) == 4
    assert tokens.touching(1, 1) == 0


def test_reach_stops_before_a_character_that_does_not_fit() -> None:
    tokens = tokenise("a😀b")
    assert [tokens.reach(0, budget) for budget in range(5)] == [0, 1, 1, 2, 3]
    assert [tokens.reach_back(3, budget) for budget in range(5)] == [3, 2, 2, 1, 0]


def test_extents_agree_with_the_single_lookups() -> None:
    text = "naïve 😀 中文。 plain"
    tokens = tokenise(text)
    marks = [0, 3, 7, 8, 12, len(text)]
    firsts, afters = tokens.extents(marks)
    assert firsts == [tokens.first(mark) for mark in marks[:-1]]
    assert afters == [tokens.after(mark) for mark in marks[1:]]


def test_a_lone_surrogate_counts_as_one_character() -> None:
    tokens = tokenise("a\ud83d\ude00b")  # a pair of surrogates, not an emoji
    assert tokens.complete[-1] == 4
    assert count("\ud800") == 1


def test_offsets_never_fall() -> None:
    tokens = tokenise("नमस्ते 👩‍👩‍👧 中文 " * 50)
    assert (np.diff(tokens.started) >= 0).all()
    assert (np.diff(tokens.complete) >= 0).all()
    assert (tokens.started - tokens.complete <= 1).all()
