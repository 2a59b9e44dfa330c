"""The tokens are those of the package `tokenizers`, which reads the same definition."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from nur.adapters.local.embedder import LlamaTokens
from nur.adapters.local.model_files import read

FILE = ("wordllama", "l2_supercat_tokenizer_config.json")


@cache
def tokens() -> LlamaTokens:
    return LlamaTokens.from_json(read(*FILE))


@cache
def reference() -> Tokenizer:
    tokenizer = Tokenizer.from_str(read(*FILE).decode())
    tokenizer.encode_special_tokens = True
    return tokenizer


def same(text: str) -> bool:
    expected: list[int] = reference().encode(text, add_special_tokens=False).ids
    return list(map(int, tokens().encode(text))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tea with milk",
        " two  spaces   and a tab\tand\n\nlines ",
        "<s>hello</s> <0x41>",  # special tokens are ordinary text
        "Füße, naïveté, Łódź, ñandú",
        "記憶するツール 기억 память ذاكرة स्मृति",  # some of these characters are spelled in bytes
        "👩‍👩‍👧 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \u2581\u2581x",  # four bytes each, and the mark for a space itself
        *(f"a{' ' * spaces}b" for spaces in range(1, 65)),
    ],
)
def test_tokens_are_those_of_the_reference(text: str) -> None:
    assert same(text)


@settings(deadline=None)  # the first example reads the files
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_tokens_of_any_text_are_those_of_the_reference(text: str) -> None:
    assert same(text)


@settings(deadline=None)
@given(st.text(alphabet="ainst▁ eé的ด"))
def test_tokens_of_texts_with_many_ways_to_merge_are_those_of_the_reference(text: str) -> None:
    assert same(text)


def test_tokens_of_real_texts_are_those_of_the_reference() -> None:
    pages = [
        path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[4].joinpath("docs").rglob("*.md"))
    ]
    assert len(pages) > 10
    assert [page[:60] for page in pages if not same(page)] == []
