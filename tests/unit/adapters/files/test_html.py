"""HTML becomes Markdown-like text."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.parsed import read_one

PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>Opening hours</title>
<meta name="author" content="Mira"><meta property="article:published_time" content="2026-02-03T10:00:00+01:00">
<link rel="canonical" href="https://example.com/hours"><style>p {color: red}</style></head>
<body><nav>Home | About</nav><h1>Hours</h1><p>We open at <b>nine</b>
 and close at five.</p><h2>Holidays</h2><ul><li>Closed on Monday<li>Open on Sunday</ul>
<table><tr><th>Day</th><th>From</th></tr><tr><td>Tuesday</td><td>09:00</td></tr><tr><td>Friday</td><td>10:30</td></tr>
</table><pre>nur serve
  --port 0</pre><script>alert(1)</script><footer>Imprint</footer></body></html>"""


def test_structure_is_kept_and_what_is_no_content_is_left_out() -> None:
    assert read_one("hours.html", PAGE).text.split("\n\n") == [
        "# Hours",
        "We open at nine and close at five.",
        "## Holidays",
        "- Closed on Monday",
        "- Open on Sunday",
        "Columns: Day, From\n- row 2: Day: Tuesday; From: 09:00\n- row 3: Day: Friday; From: 10:30",
        "```\nnur serve\n  --port 0\n```",
    ]


def test_the_head_says_what_it_is() -> None:
    page = read_one("hours.html", PAGE)
    assert (page.title, page.author, page.url) == ("Opening hours", "Mira", "https://example.com/hours")
    assert page.occurred_at == datetime(2026, 2, 3, 9, tzinfo=UTC)


def test_the_encoding_that_the_page_names_is_used() -> None:
    page = '<html><head><meta charset="windows-1251"></head><p>Привет</p></html>'
    assert read_one("a.html", page.encode("cp1251")).text == "Привет"


def test_a_page_is_known_by_its_beginning() -> None:
    assert read_one("download", "<!DOCTYPE html><p>Hello").text == "Hello"


def test_deep_nesting_costs_nothing() -> None:
    assert read_one("a.html", "<html>" + "<div>" * 100_000 + "deep" + "</div>" * 100_000).text == "deep"


def test_tables_that_lay_out_a_page_lose_no_text() -> None:
    page = "<html><table><tr><td>Left<table><tr><td>Inner</td></tr></table></td><td>Right</td></tr></table>"
    text = read_one("a.html", page).text
    assert [word for word in ("Left", "Inner", "Right") if word not in text] == []
