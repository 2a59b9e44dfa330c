from __future__ import annotations

from itertools import pairwise

from nur.retrieval.chunking import SENTENCES, ChunkingPolicy, chunk
from nur.retrieval.text.sentences import split
from nur.retrieval.text.tokens import count, tokenise

TEXT = "".join(f"Day {day}: we walked {day} miles along the coast and saw nobody at all. " for day in range(200))
SMALL = ChunkingPolicy("sentences", 60, 60, 20)


def test_chunks_begin_and_end_with_sentences() -> None:
    ends = {0, *(end for _, end in split(TEXT))}
    chunks = chunk(TEXT, SENTENCES)
    assert len(chunks) > 3
    assert all({each.start_char, each.end_char} <= ends for each in chunks)


def test_a_chunk_is_as_full_as_whole_sentences_allow() -> None:
    tokens = tokenise(TEXT)
    ends = [end for _, end in split(TEXT)]
    for each in chunk(TEXT, SENTENCES)[:-1]:
        one_more = ends[ends.index(each.end_char) + 1]
        assert each.token_count <= 512 < tokens.touching(each.start_char, one_more)


def test_a_chunk_repeats_the_last_sentences_of_the_one_before() -> None:
    tokens = tokenise(TEXT)
    chunks = chunk(TEXT, SENTENCES)
    longest = max(tokens.touching(start, end) for start, end in split(TEXT))
    for one, other in pairwise(chunks):
        assert 128 - longest < tokens.touching(other.start_char, one.end_char) <= 128


def test_the_overlap_leaves_room_for_the_next_sentence() -> None:
    # The tail alone (20) and the long sentence (50) fit, together they do not.
    short = "We ran on. "
    text = short * 14 + "then " * 50 + "end. " + short * 14
    chunks = chunk(text, SMALL)
    assert max(each.token_count for each in chunks) <= 60
    long = [each for each in chunks if "then then" in each.content]
    assert len(long) == 1  # it was not split


def test_a_sentence_longer_than_the_last_of_the_overlap_is_not_repeated() -> None:
    sentence = "one two three four five six seven eight nine ten eleven twelve and so on for some more words yet. "
    assert count(sentence) > SMALL.overlap
    chunks = chunk(sentence * 9, SMALL)
    assert all(one.end_char == other.start_char for one, other in pairwise(chunks))


def test_a_sentence_that_is_too_long_is_cut_into_windows() -> None:
    text = "Before it. " + "word " * 200 + "end. After it. And after that."
    chunks = chunk(text, SMALL)
    tokens = tokenise(text)
    assert [each.token_count for each in chunks[:-1]] == [60] * (len(chunks) - 1)
    for one, other in pairwise(chunks):
        assert tokens.touching(other.start_char, one.end_char) == 20
    assert chunks[0].content.startswith("Before it. word")  # no chunk of three words
    assert chunks[-1].content.endswith("end. After it. And after that.")


def test_a_short_note_is_one_chunk() -> None:
    assert len(chunk("One fact. Another.", SENTENCES)) == 1
