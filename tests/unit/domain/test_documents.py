"""Where in a file a passage stands."""

from __future__ import annotations

import pytest

from nur.domain.documents import location

PAGES = {"places": [[0, "page 1"], [100, "page 2"], [100, "page 3"], [250, "page 4"]]}


@pytest.mark.parametrize(
    ("metadata", "start", "end", "place"),
    [
        (PAGES, 0, 50, "page 1"),
        (PAGES, 99, 100, "page 1"),  # the end is not included
        (PAGES, 100, 120, "page 3"),  # page 2 is empty
        (PAGES, 240, 260, "page 3 to page 4"),
        (PAGES, 900, 901, "page 4"),
        ({}, 0, 5, None),
        ({"places": "home"}, 0, 5, None),  # a client's own word
        ({"places": [["x", "y"]]}, 0, 5, None),
        ({"places": [[10, "page 1"]]}, 0, 5, None),  # before the first
    ],
)
def test_a_location_names_the_pages(metadata: dict[str, object], start: int, end: int, place: str | None) -> None:
    assert location(metadata, start, end) == place
