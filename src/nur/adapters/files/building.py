"""A text put together block by block, with the places where pages, slides and sheets begin."""

from __future__ import annotations

from nur.adapters.files.decoding import clean
from nur.domain.documents import Place


class TextBuilder:
    """Blocks with an empty line between them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._places: list[Place] = []

    def add(self, block: str) -> None:
        """Add a block; one of blanks alone is left out."""
        block = clean(block).strip("\n").rstrip()
        if not block.strip():
            return
        if self._parts:
            block = f"\n\n{block}"
        self._parts.append(block)
        self._length += len(block)

    def place(self, label: str) -> None:
        """Say that the next block is the first of a page, slide or sheet."""
        self._places.append(Place(self._length, label))

    @property
    def text(self) -> str:
        """All blocks."""
        return "".join(self._parts)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places, in order."""
        return tuple(self._places)
