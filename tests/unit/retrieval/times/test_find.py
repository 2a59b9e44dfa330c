"""Times in texts, as days: said on Thursday, 17 August 2023, unless a row says otherwise."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.retrieval.times.find import find_times
from nur.retrieval.times.phrases import words

SAID = date(2023, 8, 17)
SUNDAY = date(2023, 8, 20)


def found(text: str, said: date = SAID) -> list[tuple[str, str, str]]:
    return [
        (text[one.start_char : one.end_char], str(one.window.first), str(one.window.end - timedelta(days=1)))
        for one in find_times(text, said)
    ]


@pytest.mark.parametrize(
    ("text", "expression", "first", "last"),
    [
        ("I saw her yesterday.", "yesterday", "2023-08-16", "2023-08-16"),
        ("The day before yesterday it rained.", "The day before yesterday", "2023-08-15", "2023-08-15"),
        ("See you the day after tomorrow!", "the day after tomorrow", "2023-08-19", "2023-08-19"),
        ("We ate out last night.", "last night", "2023-08-16", "2023-08-16"),
        ("This morning the bus was late.", "This morning", "2023-08-17", "2023-08-17"),
        ("It broke 3 days ago.", "3 days ago", "2023-08-14", "2023-08-14"),
        ("It broke three days\nago.", "three days\nago", "2023-08-14", "2023-08-14"),
        ("I joined last week", "last week", "2023-08-10", "2023-08-16"),  # the seven days before
        ("I'm off this week", "this week", "2023-08-14", "2023-08-20"),  # from Monday
        ("I'm off next week", "next week", "2023-08-21", "2023-08-27"),
        ("two weeks ago", "two weeks ago", "2023-07-31", "2023-08-06"),  # around that day
        ("a couple of weeks ago", "a couple of weeks ago", "2023-07-31", "2023-08-06"),
        ("a few years ago", "a few years ago", "2018-01-01", "2020-12-31"),  # no exact number: some more
        ("last month", "last month", "2023-07-01", "2023-07-31"),
        ("two months ago", "two months ago", "2023-06-01", "2023-06-30"),
        ("last year", "last year", "2022-01-01", "2022-12-31"),
        ("about 10 years ago", "about 10 years ago", "2013-01-01", "2013-12-31"),
        ("last Friday", "last Friday", "2023-08-11", "2023-08-11"),
        ("last Tues we met", "last Tues", "2023-08-15", "2023-08-15"),
        ("last Thursday", "last Thursday", "2023-08-10", "2023-08-10"),  # said on a Thursday: a week before
        ("next Thursday", "next Thursday", "2023-08-24", "2023-08-24"),
        ("I won on Friday!", "on Friday", "2023-08-11", "2023-08-11"),  # looks back
        ("I will call on Friday.", "on Friday", "2023-08-18", "2023-08-18"),  # looks ahead
        ("Anna's train leaves on Friday at 07:40.", "on Friday", "2023-08-18", "2023-08-18"),  # as a timetable says it
        ("We talked. I'll call you Monday.", "Monday", "2023-08-21", "2023-08-21"),
        ("Let's meet this Saturday", "this Saturday", "2023-08-19", "2023-08-19"),
        ("three Fridays ago", "three Fridays ago", "2023-07-28", "2023-07-28"),
        ("last weekend", "last weekend", "2023-08-12", "2023-08-13"),
        ("this weekend", "this weekend", "2023-08-19", "2023-08-20"),
        ("two weekends ago", "two weekends ago", "2023-08-05", "2023-08-06"),
        ("the weekend before last", "the weekend before last", "2023-08-05", "2023-08-06"),
        ("What did you do over the weekend?", "over the weekend", "2023-08-12", "2023-08-13"),
        ("for 3 years now", "for 3 years now", "2020-01-01", "2020-12-31"),  # when it began
        ("over the last two weeks", "the last two weeks", "2023-07-31", "2023-08-17"),
        ("in two weeks", "in two weeks", "2023-08-28", "2023-09-03"),
        ("5 days from now", "5 days from now", "2023-08-22", "2023-08-22"),
        ("last summer", "last summer", "2022-06-01", "2022-08-31"),  # this one is not over
        ("last spring", "last spring", "2023-03-01", "2023-05-31"),
        ("summer of 2021", "summer of 2021", "2021-06-01", "2021-08-31"),
        ("I moved in May.", "in May", "2023-05-01", "2023-05-31"),
        (
            "It was in December.",
            "in December",
            "2023-12-01",
            "2023-12-31",
        ),  # nearer than eight months back
        ("Since November I run.", "Since November", "2023-11-01", "2023-11-30"),
        ("last May", "last May", "2023-05-01", "2023-05-31"),
        ("early March 2023", "early March 2023", "2023-03-01", "2023-03-10"),
        ("Back in March 2021 it snowed.", "March 2021", "2021-03-01", "2021-03-31"),
        ("since June 5, 2022", "June 5, 2022", "2022-06-05", "2022-06-05"),
        ("in the summer of 2021", "summer of 2021", "2021-06-01", "2021-08-31"),
        ("on Friday, 7 July 2023", "7 July 2023", "2023-07-07", "2023-07-07"),
        ("May 7th, 2023", "May 7th, 2023", "2023-05-07", "2023-05-07"),
        ("7 May, 2023", "7 May, 2023", "2023-05-07", "2023-05-07"),
        ("the 7th of May", "7th of May", "2023-05-07", "2023-05-07"),
        ("on Jan. 3", "Jan. 3", "2023-01-03", "2023-01-03"),
        ("We met on the 15th.", "on the 15th", "2023-08-15", "2023-08-15"),
        ("We met on the 25th.", "on the 25th", "2023-07-25", "2023-07-25"),  # looks back: the month before
        ("It is due on the 5th.", "on the 5th", "2023-09-05", "2023-09-05"),
        ("in 2019", "in 2019", "2019-01-01", "2019-12-31"),
        ("Q3 2025", "Q3 2025", "2025-07-01", "2025-09-30"),
        ("last quarter", "last quarter", "2023-04-01", "2023-06-30"),
        ("the late 1990s", "the late 1990s", "1996-08-31", "1999-12-31"),
        ("2023-05-08", "2023-05-08", "2023-05-08", "2023-05-08"),
        ("at 2023-05-08T10:30:00Z", "2023-05-08", "2023-05-08", "2023-05-08"),
        ("8.5.2023", "8.5.2023", "2023-05-08", "2023-05-08"),
        ("25/12/2022", "25/12/2022", "2022-12-25", "2022-12-25"),
        ("12/25/2022", "12/25/2022", "2022-12-25", "2022-12-25"),
    ],
)
def test_english_and_digits(text: str, expression: str, first: str, last: str) -> None:
    assert found(text) == [(expression, first, last)]


@pytest.mark.parametrize(
    ("text", "expression", "first", "last"),
    [
        ("Gestern war ich dort.", "Gestern", "2023-08-16", "2023-08-16"),
        ("Das war vor zwei Wochen.", "vor zwei Wochen", "2023-07-31", "2023-08-06"),
        ("am 8. Mai 2022", "8. Mai 2022", "2022-05-08", "2022-05-08"),
        ("nächste Woche", "nächste Woche", "2023-08-21", "2023-08-27"),
        ("Hier nous avons mangé.", "Hier", "2023-08-16", "2023-08-16"),
        ("il y a 3 jours", "il y a 3 jours", "2023-08-14", "2023-08-14"),
        ("le mois dernier", "le mois dernier", "2023-07-01", "2023-07-31"),
        ("Ayer llovió.", "Ayer", "2023-08-16", "2023-08-16"),
        ("hace 2 años", "hace 2 años", "2021-01-01", "2021-12-31"),
        ("el 8 de mayo de 2022", "8 de mayo de 2022", "2022-05-08", "2022-05-08"),
        ("la semana pasada", "la semana pasada", "2023-08-10", "2023-08-16"),
        ("Ieri pioveva.", "Ieri", "2023-08-16", "2023-08-16"),
        ("3 giorni fa", "3 giorni fa", "2023-08-14", "2023-08-14"),
        ("Ontem choveu.", "Ontem", "2023-08-16", "2023-08-16"),
        ("gisteren", "gisteren", "2023-08-16", "2023-08-16"),
        ("вчера", "вчера", "2023-08-16", "2023-08-16"),
        ("3 дня назад", "3 дня назад", "2023-08-14", "2023-08-14"),
        ("5 мая 2022 г.", "5 мая 2022", "2022-05-05", "2022-05-05"),
        ("χθες", "χθες", "2023-08-16", "2023-08-16"),
        ("dün", "dün", "2023-08-16", "2023-08-16"),
        ("geçen hafta", "geçen hafta", "2023-08-10", "2023-08-16"),
        ("wczoraj", "wczoraj", "2023-08-16", "2023-08-16"),
        ("أمس", "أمس", "2023-08-16", "2023-08-16"),
        ("hôm qua", "hôm qua", "2023-08-16", "2023-08-16"),
        ("ฉันไปเมื่อวานกับเพื่อน", "เมื่อวาน", "2023-08-16", "2023-08-16"),
        ("我昨天去了", "昨天", "2023-08-16", "2023-08-16"),
        ("我们3天前见面", "3天前", "2023-08-14", "2023-08-14"),
        ("2022年5月8日", "2022年5月8日", "2022-05-08", "2022-05-08"),
        ("昨日行きました", "昨日", "2023-08-16", "2023-08-16"),
        ("先週", "先週", "2023-08-10", "2023-08-16"),
        ("어제는 비가 왔다", "어제", "2023-08-16", "2023-08-16"),
        ("3일 전에", "3일 전", "2023-08-14", "2023-08-14"),
    ],
)
def test_other_languages(text: str, expression: str, first: str, last: str) -> None:
    assert found(text) == [(expression, first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "May I ask April about the march?",  # months that are words and names
        "The sun fell; he sat down and wed in a second.",
        "They fall and spring up, day by day, on weekdays and Fridays.",
        "It costs 2019 dollars, port 2020, model 1950 and 2000 more.",  # years need their word
        "in 1850, by 2900, of 2000.5 and in 2020-1234",
        "It scored 5 out of 10; section 3 set 4; version 1.2.2023.1",
        "On the 15th floor, the 3rd time.",
        "3/4/2022 and 30.02.2022",  # two orders; no such day
        "Ich bin hier. Guten Morgen!",
        "See https://example.com/2023-05-08/yesterday and `git log --since=yesterday`.",
        "```\nlast week\n```",
        "`curl http://a.example/x --since yesterday` and www.example.com/2023-05-08",  # an address inside of code
    ],
)
def test_what_is_no_time_or_could_be_two_is_left_out(text: str) -> None:
    assert found(text) == []


def test_a_time_beside_an_address_is_read() -> None:
    text = "www.example.com since yesterday, awww.yesterday and xhttp://tomorrow"
    assert [one[0] for one in found(text)] == ["yesterday", "yesterday", "tomorrow"]


@pytest.mark.parametrize(
    "expression",
    ["late in September of 2017", "the 31st of December, 2017", "mid-December 2017", "the late 1990's", "Q3 of 2017"],
)
def test_the_longest_expressions_are_read_whole(expression: str) -> None:
    padding = "figures and more figures " * 5
    [(words_, _, _)] = found(f"{padding}{expression}; {padding}")
    assert words_ in expression
    assert words_ == found(expression)[0][0]


def test_several_times_stand_in_the_order_of_the_text() -> None:
    text = "Yesterday I booked; we fly on 3 September 2023 and return two weeks later, as in 2019."
    assert [one[0] for one in found(text)] == ["Yesterday", "3 September 2023", "in 2019"]


def test_weekends_said_on_a_sunday() -> None:
    assert found("last weekend", SUNDAY) == [("last weekend", "2023-08-12", "2023-08-13")]
    assert found("this weekend", SUNDAY) == [("this weekend", "2023-08-19", "2023-08-20")]


def test_what_is_counted_from_the_saying_says_so() -> None:
    relative, absolute = find_times("yesterday, 8 May 2022", SAID)
    assert (relative.is_relative, absolute.is_relative) == (True, False)


BITS = "last |next |3 |two | ago|weeks| of |2023|-05-|31 |Friday|may |the |for | now|İ|ß|年|月|#|`|Q4 |1990s|, |\n"
PARTS = st.sampled_from([*words().phrases, *words().months, *BITS.split("|"), "\ud800"])


@given(st.lists(PARTS | st.text(max_size=8), max_size=30), st.dates(date(2, 1, 1), date(9998, 12, 31)))
def test_any_text_is_read_without_failing(parts: list[str], said: date) -> None:
    text = "".join(parts)
    end = 0
    for one in find_times(text, said):
        assert end <= one.start_char < one.end_char <= len(text)
        assert one.window.first < one.window.end
        end = one.end_char


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_time_does_not_depend_on_what_stands_far_away(before: str, after: str) -> None:
    text = f"{before}\n{'x ' * 80}yesterday {'x ' * 80}\n{after}"
    assert ("yesterday", "2023-08-16", "2023-08-16") in found(text)


@pytest.mark.parametrize(
    "part",
    [
        "a ",
        "1 ",
        "last ",
        "in the ",
        "in about a couple of the ",
        "`",
        "```",
        "3 de ",
        "mai ",
        "1.1.",
        "2023-",
        "2019 ",
        "1919",
        "://",
        "http://",
        "www.",
        "年",
        "3天",
    ],
)
def test_a_long_text_of_one_thing_is_read_in_linear_time(part: str) -> None:
    find_times(part * 60_000, SAID)  # what is quadratic does not end within the limit of a test


def test_every_phrase_of_the_table_is_read() -> None:
    for phrase in words().phrases:
        text = phrase.replace("#", "3")
        assert find_times(f"{text}." if phrase != "hier" else "hier, le lundi", SAID), phrase
