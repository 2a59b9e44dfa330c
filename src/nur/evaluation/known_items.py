"""Draw questions from the user's own store: each is made of one note, which is the answer."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

from nur.domain.access import LOCAL
from nur.domain.errors import BadRequest
from nur.domain.filters import NoteFilter
from nur.evaluation.dataset import DataSet, LabelledQuestion
from nur.ports.chunks import UNKNOWN
from nur.retrieval.ranking.queries import query_terms
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.function_words import FUNCTION_WORDS
from nur.retrieval.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from nur.bootstrap import Services
    from nur.domain.notes import Note
    from nur.ports.stores import Stores

SENTENCE, WORDS = "sentence", "words"
#: Number of words in a question made of words: as many as people type.
WORDS_ASKED = 4
MIN_CHARACTERS, MAX_CHARACTERS = 20, 300  #: length of a sentence that can be a question, in characters
PAGE = 1_000


async def draw(services: Services, limit: int) -> DataSet:
    """Draw questions about at most `limit` random notes; the same store gives the same questions.

    One half are whole sentences, the other half a few of a sentence's rarer words. Raises BadRequest if the store has
    no suitable text.
    """
    notes = [note async for note in _notes(services.stores, services.clock.now())]
    same_text: dict[str, list[str]] = defaultdict(list)
    for note in notes:
        same_text[note.content_hash].append(note.public_id)
    draw = random.Random(0)  # noqa: S311 - a sample, not a secret
    draw.shuffle(notes)
    questions: list[LabelledQuestion] = []
    while notes and len(questions) < limit:
        note = notes.pop()
        texts = await services.stores.notes.texts([note.note_id])
        category = (SENTENCE, WORDS)[len(questions) % 2]
        question = await _question(services.stores, texts.get(note.note_id, ""), category, draw)
        if question:
            gold = dict.fromkeys(same_text[note.content_hash], 1.0)
            questions.append(LabelledQuestion(note.public_id, question, None, category, gold, ()))
    if not questions:
        raise BadRequest("The store holds no text to ask about. Store something first: nur remember, or memory_store.")
    return DataSet("your store", "stored", "", (), tuple(questions))


async def _notes(stores: Stores, now: datetime) -> AsyncIterator[Note]:
    after: str | None = None
    while page := await stores.notes.page(NoteFilter(tenant=LOCAL.tenant), now, limit=PAGE, after=after):
        for note in page:
            yield note
        after = page[-1].public_id


async def _question(stores: Stores, text: str, category: str, draw: random.Random) -> str | None:
    """A question about a text; None if it has no suitable sentence."""
    sentences = [text[start:end].strip() for start, end in split(text)]
    sentences = [sentence for sentence in sentences if MIN_CHARACTERS <= len(sentence) <= MAX_CHARACTERS]
    if not sentences:
        return None
    sentence = draw.choice(sentences)
    return sentence if category == SENTENCE else await _rarer_words(stores, sentence, draw)


async def _rarer_words(stores: Stores, sentence: str, draw: random.Random) -> str | None:
    """A few of a sentence's rarer words, in their order; None if it has too few."""
    terms = [term for term in query_terms(sentence, ANALYZER) if not term.id & 1 and term.word not in FUNCTION_WORDS]
    corpus = await stores.chunks.statistics([row_word(term.id) for term in terms])
    frequency = {term.word: corpus.frequencies.get(row_word(term.id), UNKNOWN).pieces for term in terms}
    rarer = sorted(frequency, key=lambda word: frequency[word])[: max(WORDS_ASKED, len(frequency) // 2)]
    if len(rarer) < WORDS_ASKED:
        return None
    chosen = set(draw.sample(rarer, WORDS_ASKED))
    return " ".join(word for word in frequency if word in chosen)
