"""A Hugging Face tokenizer cuts as well as our own: the same promises hold."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from nur.domain.errors import BadConfiguration
from nur.retrieval.chunking import ChunkingPolicy, chunk
from nur.retrieval.text.hf_tokens import _looks_like_a_path, _pieces, load_tokeniser

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nur.retrieval.text.tokens import Tokens

WORDS = ["hello ", "world. ", "Über ", "我们", "。", "👩‍👩‍👧‍👦", "नमस्ते ", "a" * 30, "  ", "\n", "tea "]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=60
)


def byte_level(folder: Path) -> Path:
    """A small byte-level BPE, as GPT-2 and Llama 3 have: several tokens may make one character."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(["hello world tea hello world tea"], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def whitespace(folder: Path) -> Path:
    """Words alone, as BERT has: blanks are in no token, unknown words are one."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "hello": 1, "tea": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


@pytest.fixture(params=[byte_level, whitespace])
def tokeniser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Tokens]:
    return load_tokeniser(str(request.param(tmp_path_factory.mktemp("tokenizer"))))


@given(
    text=TEXTS, target=st.integers(4, 20), share=st.floats(0, 0.8), strategy=st.sampled_from(["window", "sentences"])
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_are_slices_that_cover_the_text(
    tokeniser: Callable[[str], Tokens], text: str, target: int, share: float, strategy: str
) -> None:
    policy = ChunkingPolicy.parse(f"{strategy}:{target}:{target}:{int(target * share)}")
    tokens = tokeniser(text)
    chunks = chunk(text, policy, tokeniser=tokeniser)
    assert chunks[0].start_char == 0
    assert chunks[-1].end_char == len(text)
    for piece in chunks:
        assert piece.content == text[piece.start_char : piece.end_char]
        assert piece.token_count <= target or len(piece.content) == 1  # a character is never cut
    for one, other in pairwise(chunks):
        assert other.start_char <= one.end_char < other.end_char
    assert tokens.touching(0, len(text)) == (len(tokens) if text else 0)


def test_a_long_text_is_encoded_in_pieces(tmp_path: Path) -> None:
    tokeniser = load_tokeniser(str(byte_level(tmp_path)))
    text = "hello world tea " * 40_000
    assert len(tokeniser(text)) == pytest.approx(len(tokeniser("hello world tea " * 400)) * 100, rel=0.001)


@pytest.mark.parametrize("name", ["nobody/no-such-tokenizer-7319", "{folder}/broken.json"])
def test_a_tokenizer_that_cannot_be_had_is_a_clear_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(BadConfiguration, match="tokenizer_repo"):
        load_tokeniser(name.format(folder=tmp_path))


@pytest.mark.parametrize("name", ["/nonexistent/tokenizer.json", "tokenizer.json", "./model", "~/model"])
def test_a_file_that_is_not_there_is_named_and_not_looked_for_on_the_network(name: str) -> None:
    with pytest.raises(BadConfiguration, match="there is no file"):
        load_tokeniser(name)


def test_a_folder_is_read_as_its_tokenizer_file(tmp_path: Path) -> None:
    of_file, of_folder = load_tokeniser(str(byte_level(tmp_path))), load_tokeniser(str(tmp_path))
    assert len(of_file("hello world tea")) == len(of_folder("hello world tea")) > 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("owner/name", False),
        ("name", False),
        ("/a/b", True),
        ("./b", True),
        ("~/b", True),
        ("tokenizer.json", True),
        ("C:\\models", True),
    ],
)
def test_a_path_is_told_from_a_repository(name: str, expected: bool) -> None:
    assert _looks_like_a_path(name) is expected


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("", [(0, 0)]),
        ("x" * 200_000, [(0, 200_000)]),
        ("x" * 200_001, [(0, 200_000), (200_000, 200_001)]),  # nowhere to cut
        ("x" * 199_000 + " " + "y" * 2_000, [(0, 199_000), (199_000, 201_001)]),
        ("x" * 197_999 + " " + "y" * 4_000, [(0, 200_000), (200_000, 202_000)]),  # the blank is too far back
    ],
)
def test_long_texts_are_cut_at_blanks(text: str, cuts: list[tuple[int, int]]) -> None:
    assert _pieces(text) == cuts
