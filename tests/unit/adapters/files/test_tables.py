"""CSV and JSON: rows and records that can be understood one by one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nur.adapters.files.source import Unreadable
from tests.parsed import read, read_one

if TYPE_CHECKING:
    from nur.domain.documents import Document


def lines(document: Document) -> list[str]:
    return document.text.splitlines()


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_each_cell_stands_after_its_columns_name(mark: str) -> None:
    table = 'name,city,note\nAda,Paris,\n,,\n"Grace, H.","New\nYork",rear admiral\n'.replace(",", mark)
    table = table.replace(f"Grace{mark}", "Grace,")
    document = read_one("people.csv", table)
    assert lines(document) == [
        "Columns: name, city, note",
        "- row 2: name: Ada; city: Paris",
        "- row 4: name: Grace, H.; city: New York; note: rear admiral",
    ]
    assert document.metadata["rows"] == 4


def test_a_table_without_a_header_has_rows_alone() -> None:
    assert lines(read_one("a.csv", "1,2\n3,4\n")) == ["- row 1: 1; 2", "- row 2: 3; 4"]


def test_a_cell_as_long_as_a_book_is_read() -> None:
    assert len(read_one("a.csv", 'id,text\n1,"' + "word " * 100_000 + '"\n').text) > 499_000


def test_a_json_document_keeps_names_beside_values() -> None:
    value = {
        "name": "Nur",
        "port": 3000,
        "owner": {"name": "Mira", "tags": ["a", "b"]},
        "servers": [{"host": "x1", "disks": [{"size": 5}]}, {"host": "x2"}],
        "empty": [],
    }
    assert [line for line in lines(read_one("a.json", json.dumps(value))) if line] == [
        "name: Nur",
        "port: 3000",
        "## owner",
        "- name: Mira",
        "- tags: a, b",
        "## servers",
        "- item 1: host: x1; disks[1].size: 5",
        "- item 2: host: x2",
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json"])
def test_json_lines_are_records_with_their_line(name: str) -> None:
    text = '{"user": "Ada", "said": "one\\ntwo"}\n\n{"user": "Bob"}\n'
    assert lines(read_one(name, text)) == ["- line 1: user: Ada; said: one two", "- line 3: user: Bob"]


def test_what_is_not_quite_json_is_text() -> None:
    text = '// settings\n{"a": 1,}\n'
    assert read_one("tsconfig.json", text).text == text


def test_lone_surrogates_do_not_reach_the_store() -> None:
    read_one("a.json", r'{"a": "\ud800 half"}').text.encode()


def test_json_nested_beyond_reason_stops_one_file() -> None:
    with pytest.raises((RecursionError, Unreadable)):
        read("a.json", "[" * 200_000 + "]" * 200_000)
