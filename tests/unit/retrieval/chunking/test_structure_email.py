"""Where messages begin in a mail, and what looks like one."""

from __future__ import annotations

import pytest

from nur.retrieval.chunking.structure.email import looks_like, sections

HEAD = "From: Ada <ada@example.com>\nSubject: Tea\n\nShall we?\n"


def paths(text: str) -> list[tuple[str, ...]]:
    return [one.path for one in sections(text)]


@pytest.mark.parametrize(
    ("between", "is_found"),
    [("", True), ("(by hand)\n", True), ("(by hand)\n(at noon)\n", False)],  # another header within two lines
)
def test_a_forwarded_message_begins_with_two_headers(between: str, is_found: bool) -> None:
    text = f"{HEAD}Look:\nFrom: Bob\n{between}To: Ada\n\nNo.\n"
    assert paths(text) == [("Tea",), ("Tea", "From: Bob")][: 1 + is_found]


def test_headers_under_a_separator_belong_to_it() -> None:
    text = f"{HEAD}-----Original Message-----\nFrom: Bob\nTo: Ada\n\nNo.\n"
    assert paths(text) == [("Tea",), ("Tea", "Original Message")]


def test_quotations_are_sections_by_their_depth() -> None:
    text = f"{HEAD}On Monday Bob wrote:\n> One.\n>> Two.\n> Three.\nAn answer.\n"
    label = "On Monday Bob wrote"
    assert paths(text) == [("Tea",), ("Tea", label), ("Tea", label), ("Tea", label), ("Tea", label), ("Tea",)]


def test_a_wrapped_attribution_is_found() -> None:
    text = f"{HEAD}On Monday, a long time ago,\nBob wrote:\n> One.\n"
    assert ("Tea", "On Monday, a long time ago,") in paths(text)


def test_the_subject_is_looked_for_among_the_first_headers() -> None:
    assert paths("Subject: Tea\nHello.") == [("Tea",)]
    assert paths("Hello.\n\nSubject: Tea") == [()]
    assert paths("X: y\n" * 29 + "Subject: Tea\n") == [("Tea",)]
    assert paths("X: y\n" * 30 + "Subject: Tea\n") == [()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("From: Ada\nTo: Bob\n\nHello.", True),
        ("From: Ada\n\nHello.", False),  # one header
        ("Line.\n" * 6 + "From: Ada\nTo: Bob\n", True),  # within eight lines
        ("Line.\n" * 7 + "From: Ada\nTo: Bob\n", False),
        ("On Monday Bob wrote:\n> One.\n> Two.\n", True),
        ("On Monday Bob wrote:\n> One.\n", False),  # one quoted line
        ("Hello.\n> One.\n> Two.\n", False),  # nobody is named
    ],
)
def test_a_mail_is_known_by_its_headers_or_its_quotations(text: str, expected: bool) -> None:
    assert looks_like(text) is expected
