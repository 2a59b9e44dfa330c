"""How a text is cut, as a value that is stored with the note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from nur.domain.errors import BadConfiguration

Strategy: TypeAlias = Literal["window", "sentences", "structure", "whole"]


@dataclass(frozen=True, slots=True)
class ChunkingPolicy:
    """A strategy and its sizes in tokens; `whole` ignores the sizes.

    A character is never cut, so a target below four, the most tokens a character can have, may be exceeded by one.
    """

    strategy: Strategy = "window"
    whole_max: int = 1200  #: a text of at most this many is one chunk
    target: int = 900  #: the most a chunk has when a text is cut
    overlap: int = 100  #: what a chunk repeats of the one before
    tokenizer: str = ""  #: whose tokens are meant; empty: cl100k_base

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
        """What a note records, such as `window:1200:900:100` or `sentences:512:512:128@bert-base`; `parse` reads it."""
        if self.strategy == "whole":
            return "whole"
        named = f"@{self.tokenizer}" if self.tokenizer else ""
        return f"{self.strategy}:{self.whole_max}:{self.target}:{self.overlap}{named}"

    @classmethod
    def parse(cls, version: str) -> ChunkingPolicy:
        """The policy of a version string; BadConfiguration when it is none."""
        sizes_only, _, tokenizer = version.partition("@")
        strategy, *sizes = sizes_only.split(":")
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
