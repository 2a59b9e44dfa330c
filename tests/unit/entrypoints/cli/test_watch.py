"""Which changes a watch reports."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from nur.entrypoints.cli.commands.ingest import watch_changes
from nur.entrypoints.cli.ingesting.discover import FoundFile


def found(name: str, size: int) -> FoundFile:
    return FoundFile(Path(name), size, size)


def test_a_file_is_reported_once_and_only_when_it_has_settled() -> None:
    looks = iter(
        [
            [found("a", 1), found("b", 1)],  # b is new
            [found("a", 1), found("b", 2)],  # and still being written
            [found("a", 1), found("b", 2)],  # now it is whole
            [found("a", 1), found("b", 2)],  # nothing new
            [found("a", 5)],  # a has changed, b is gone
            [found("a", 5), found("b", 2)],
            [found("a", 5), found("b", 2)],  # b came back as it was
            [found("a", 5), found("b", 2), found("c", 1)],
            [found("a", 5), found("b", 2), found("c", 1)],
        ]
    )
    reported = list(islice(watch_changes(lambda: next(looks), [found("a", 1)], lambda _: None), 3))
    assert reported == [[found("b", 2)], [found("a", 5)], [found("c", 1)]]
