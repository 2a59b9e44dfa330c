"""Layer normalisation, which both sentence models use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nur.ports.embedder import Floats


def layer_norm(states: Floats, scale: Floats, shift: Floats, epsilon: float) -> Floats:
    """Each row with mean 0 and variance 1, then scaled and shifted."""
    states = states - states.mean(axis=1, keepdims=True)
    variance = np.einsum("td,td->t", states, states) / states.shape[1]
    states *= (1 / np.sqrt(variance + epsilon))[:, None].astype(np.float32)
    states *= scale
    states += shift
    return states
