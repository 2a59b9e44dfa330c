"""Both sentence models, with random weights: a text's vector does not depend on the texts beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.adapters.sentences.minilm import MiniLm
from nur.adapters.sentences.universal import UniversalEncoder
from tests.sentence_models import UNIGRAMS, VOCABULARY, minilm_weights, unigram_model, universal_weights

if TYPE_CHECKING:
    from typing import Protocol

    from nur.ports.embedder import Floats

    class Model(Protocol):
        def vectors(self, texts: list[str]) -> Floats: ...


TEXTS = ["tea", "the cat in the morning", "tea in the morning", "", "cat tea " * 400]


@pytest.fixture(scope="module", params=["minilm", "universal"])
def model(request: pytest.FixtureRequest) -> Model:
    if request.param == "minilm":
        return MiniLm(minilm_weights(), "\n".join(VOCABULARY).encode())
    return UniversalEncoder(universal_weights(), unigram_model(UNIGRAMS))


def test_a_text_has_the_same_vector_alone_and_among_others(model: Model) -> None:
    together = model.vectors(TEXTS)
    alone = np.concatenate([model.vectors([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_vectors_have_unit_length(model: Model) -> None:
    np.testing.assert_allclose(np.linalg.norm(model.vectors(TEXTS), axis=1), 1, atol=1e-5)
