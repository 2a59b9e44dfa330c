"""Chunking policies: how a text is cut, stored with each note as a version string."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from nur.domain.errors import BadConfiguration

Strategy: TypeAlias = Literal["window", "sentences", "structure", "whole"]


@dataclass(frozen=True, slots=True)
class ChunkingPolicy:
    """A strategy and its sizes in tokens; `whole` ignores the sizes.

    Characters are never cut and have up to four tokens, so a chunk of one character may exceed a target below four.
    """

    strategy: Strategy = "window"
    whole_max: int = 1200  #: a text of at most this many tokens is one chunk
    target: int = 900  #: most tokens of a chunk of a longer text
    overlap: int = 100  #: tokens that a chunk repeats of the one before
    tokenizer: str = ""  #: name of the tokenizer; empty: cl100k_base

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            raise BadConfiguration(
                f"Invalid chunking strategy: {self.strategy}. Must be one of: {', '.join(get_args(Strategy))}"
            )
        if self.target <= 0:
            raise BadConfiguration(f"Invalid chunk target: {self.target} tokens. Must be above 0")
        if not 0 <= self.overlap < self.target:
            raise BadConfiguration(
                f"Invalid chunk overlap: {self.overlap} tokens. Must be at least 0 and below the target, {self.target}"
            )
        if self.whole_max < self.target:
            raise BadConfiguration(
                f"Invalid single-piece maximum: {self.whole_max} tokens. Must be at least the target, {self.target}"
            )

    @property
    def version(self) -> str:
        """The string that a note records, such as `window:1200:900:100` or `sentences:512:512:128@bert-base`."""
        if self.strategy == "whole":
            return "whole"
        suffix = f"@{self.tokenizer}" if self.tokenizer else ""
        return f"{self.strategy}:{self.whole_max}:{self.target}:{self.overlap}{suffix}"

    @classmethod
    def parse(cls, version: str) -> ChunkingPolicy:
        """The policy of a version string. Raises BadConfiguration if it is malformed."""
        name_and_sizes, _, tokenizer = version.partition("@")
        strategy, *sizes = name_and_sizes.split(":")
        if strategy == "whole" and not sizes:
            return cls("whole")
        if len(sizes) != 3 or not all(size.isascii() and size.isdigit() for size in sizes):
            raise BadConfiguration(f"Invalid chunking version: {version}. Expected strategy:whole:target:overlap")
        whole_max, target, overlap = map(int, sizes)
        return cls(cast("Strategy", strategy), whole_max, target, overlap, tokenizer)


WINDOW = ChunkingPolicy()
SENTENCES = ChunkingPolicy("sentences", whole_max=512, target=512, overlap=128)
STRUCTURE = ChunkingPolicy("structure")
WHOLE = ChunkingPolicy("whole")
