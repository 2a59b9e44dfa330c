from __future__ import annotations

import textwrap
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from nur.retrieval.chunking import STRUCTURE, ChunkingPolicy, chunk
from nur.retrieval.chunking.structure import chat, code, email, markdown
from nur.retrieval.text.tokens import tokenise
from tests.stitching import rebuild

if TYPE_CHECKING:
    from nur.domain.chunks import Chunk

SMALL = ChunkingPolicy("structure", 40, 40, 10)
MEDIUM = ChunkingPolicy("structure", 70, 70, 10)
FILLER = "The harbour was quiet and the boats lay still in the morning light. " * 2  # 28 tokens


def _chunks(text: str, artifact_type: str | None = None, policy: ChunkingPolicy = SMALL) -> list[Chunk]:
    chunks = chunk(text, policy, artifact_type)
    assert rebuild(chunks) == text
    return chunks


def _contexts(text: str, artifact_type: str | None = None) -> list[str]:
    return [each.context for each in _chunks(text, artifact_type)]


# ---- Markdown ----

GUIDE = f"""# Guide
{FILLER}
## Install
### Linux
{FILLER}
### Windows
{FILLER}
## Use
{FILLER}
"""


def test_a_heading_path_is_kept_as_context() -> None:
    assert _contexts(GUIDE) == ["Guide", "Guide > Install > Linux", "Guide > Install > Windows", "Guide > Use"]


def test_a_bare_heading_opens_its_first_childs_chunk() -> None:
    assert _chunks(GUIDE)[1].content.startswith("## Install\n### Linux\n")


def test_sections_share_no_tokens() -> None:
    chunks = _chunks(GUIDE)
    assert all(one.end_char == other.start_char for one, other in pairwise(chunks))


def test_small_sections_are_merged_under_their_common_path() -> None:
    text = "# Guide\n" + "".join(f"## Part {part}\nA few words.\n" for part in range(12))
    chunks = _chunks(text)
    assert 1 < len(chunks) < 12
    assert {each.context for each in chunks} == {"Guide"}
    assert all(each.content.startswith("#") for each in chunks)


def test_a_section_that_is_too_long_is_cut_between_sentences_with_overlap() -> None:
    text = "# A\n" + "One short sentence here. " * 30 + "\n# B\nEnd.\n"
    chunks = _chunks(text)
    tokens = tokenise(text)
    assert [each.context for each in chunks] == ["A"] * (len(chunks) - 1) + ["B"]
    for one, other in pairwise(chunks[:-1]):
        assert one.content.endswith(". ")
        assert 0 < tokens.touching(other.start_char, one.end_char) <= 10


def test_a_hash_in_fenced_code_is_no_heading() -> None:
    text = "# One\n```sh\n# not this\n```\n~~~~\n```\n# nor this\n~~~\n~~~~\n# Two\n"
    assert [section.path for section in markdown.sections(text)] == [("One",), ("Two",)]


def test_underlined_titles_are_headings() -> None:
    text = "Title\n=====\ntext\n\nPart\n----\ntext\n\n---\n\n- item\n---\n| a |\n---\n"
    assert [section.path for section in markdown.sections(text)] == [("Title",), ("Title", "Part")]


@pytest.mark.parametrize("line", ["#hashtag", "####### seven", "    # code"])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    assert len(markdown.sections(f"text\n{line}\ntext")) == 1


def test_a_long_title_is_clipped() -> None:
    (section,) = markdown.sections("# " + "word " * 1000)
    assert len(section.path[0]) == 80


# ---- email ----

MAIL = f"""From: Ann <ann@example.com>
To: Bob <bob@example.com>
Subject: Q4 plan

I agree with all of it. {FILLER}

On Mon, 3 Nov 2025 at 10:12, Bob Brown <bob@example.com>
wrote:
> Shall we ship in December? {FILLER}
>
>> Perhaps in January, said the board. {FILLER}

One more thought between. {FILLER}

-----Original Message-----
From: Carol
Sent: Sunday
The first draft is attached. {FILLER}
"""


def test_replies_and_quotations_are_sections_of_an_email() -> None:
    chunks = _chunks(MAIL, "email", MEDIUM)
    starts = [each.content.split()[0] for each in chunks]
    assert starts == ["From:", "On", ">>", "One", "-----Original"]


def test_an_emails_context_names_the_subject_and_who_is_quoted() -> None:
    contexts = [each.context for each in _chunks(MAIL, "email", MEDIUM)]
    assert contexts[0] == contexts[3] == "Q4 plan"
    assert contexts[1] == contexts[2] == "Q4 plan > On Mon, 3 Nov 2025 at 10:12, Bob Brown <bob@example.com>"
    assert contexts[4] == "Q4 plan > Original Message"


def test_an_email_is_known_by_its_looks() -> None:
    assert _contexts(MAIL) == _contexts(MAIL, "email")


def test_an_email_without_replies_falls_back_to_sentences() -> None:
    text = "Dear Bob, all is well. " * 12
    chunks = _chunks(text, "email")
    assert len(chunks) > 1
    assert all(each.content.endswith("well. ") for each in chunks)


def test_quoted_headers_begin_a_message() -> None:
    text = "Thanks!\n\nFrom: Dan\nSent: Monday\nTo: Eve\n\nOld text.\n"
    assert [section.path for section in email.sections(text)] == [(), ("From: Dan",)]


# ---- chat ----


@pytest.mark.parametrize(
    "form",
    [
        "{name}: {said}",
        "[10:32] {name}: {said}",
        "[12/05/2024, 10:32:11] {name}: {said}",
        "12/05/24, 10:32 PM - {name}: {said}",
        "<{name}> {said}",
        "**{name}:** {said}",
        "**{name}**: {said}",
        "{name} (10:32): {said}",
        "{name}  00:12:31\n{said}",
        "{name}：{said}",
    ],
)
def test_a_turn_is_a_section_in_many_notations(form: str) -> None:
    names = ["Ann", "Bob", "Ann", "Bob"]
    text = "\n".join(form.format(name=name, said="we shall see about that.") for name in names)
    assert [section.path for section in chat.sections(text)] == [(name,) for name in names]
    assert chat.looks_like(text)


def test_turns_are_merged_and_never_split_while_they_fit() -> None:
    text = "".join(
        f"{name}: I think we should go there on day {day}.\n" for day in range(10) for name in ("Ann", "Bob")
    )
    chunks = _chunks(text, "chat")
    assert len(chunks) > 2
    assert all(each.content.startswith(("Ann:", "Bob:")) and each.content.endswith("\n") for each in chunks)
    assert {each.context for each in chunks} == {""}  # several speakers share each


def test_a_long_turn_keeps_its_speaker_as_context() -> None:
    text = "Ann: Hello.\nBob: " + "I have much to say about this. " * 20 + "\nAnn: I see.\nBob: Good.\n"
    contexts = _contexts(text, "transcript")
    assert contexts.count("Bob") >= 3


def test_a_word_with_a_colon_is_no_speaker_among_those_who_return() -> None:
    text = "Ann: a list\nIngredients: flour\nBob: thanks\nAnn: sure\nBob: bye\n"
    assert [section.path[0] for section in chat.sections(text)] == ["Ann", "Bob", "Ann", "Bob"]


@pytest.mark.parametrize(
    "text",
    [
        "Note: this is prose.\nIt goes on.\nWarning: it goes on.\nAnd on.\nAnd on.\n",
        "see https://example.com\nat 10:30 we met\n",
        "key: 1\nother: 2\nthird: 3\nfourth: 4\n",  # nobody returns
    ],
)
def test_prose_with_colons_is_no_chat(text: str) -> None:
    assert not chat.looks_like(text)


# ---- code ----

PYTHON = textwrap.dedent('''
    """A module."""
    import os
    from dataclasses import dataclass

    # Adds.
    def add(left, right):
        total = left + right
        return total

    @dataclass
    class Stack:
        items: list

        def push(self, item):
            """Put one on top."""
            self.items.append(item)

        async def pop(self):
            return self.items.pop()

    def last():
        return None
''').lstrip()

TYPESCRIPT = textwrap.dedent("""
    import { x } from "y";

    /** Adds. */
    export function add(left: number, right: number): number {
      return left + right;
    }

    export class Stack<T> {
      private items: T[] = [];
      public async push(item: T): Promise<void> {
        if (item) {
          this.items.push(item);
        }
      }
    }

    const last = async (a, b) => {
      return b;
    };
""").lstrip()


def _paths(text: str) -> list[tuple[str, ...]]:
    return [section.path for section in code.sections(text)]


def test_python_is_cut_by_function_and_class() -> None:
    assert _paths(PYTHON) == [(), ("add",), ("Stack",), ("Stack", "push"), ("Stack", "pop"), ("last",)]


def test_comments_and_decorators_stay_with_what_they_are_above() -> None:
    starts = [PYTHON[section.start : section.end].splitlines()[0] for section in code.sections(PYTHON)]
    assert starts[1:3] == ["# Adds.", "@dataclass"]


def test_brace_languages_are_cut_by_function_and_class() -> None:
    assert _paths(TYPESCRIPT) == [(), ("add",), ("Stack",), ("Stack", "push"), ("last",)]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("func (s *Server) Start(ctx context.Context) error {", "Start"),
        ("pub(crate) async fn run<T>(x: T) -> Result<()> {", "run"),
        ("impl<T> Display for Stack<T> {", "Display"),
        ("public static void main(String[] args) throws IOException {", "main"),
        ("int main(int argc, char **argv) {", "main"),
        ("std::string Parser::next(const Token& t) const {", "Parser::next"),
        ("type Point struct {", "Point"),
        ("class Queue extends List {", "Queue"),
        ("data class Point(val x: Int)", "Point"),
        ("def self.build(x)", "self.build"),
        ("function* walk(tree) {", "walk"),
    ],
)
def test_definitions_of_many_languages_are_known(line: str, name: str) -> None:
    assert _paths(f"{line}\n  body\n") == [(name,)]


@pytest.mark.parametrize(
    "line", ["if (x) {", "return f(x) {", "} else if (y) {", "call(x);", "for (;;) {", "x = y", "type of error"]
)
def test_statements_are_no_definitions(line: str) -> None:
    assert _paths(f"{line}\n") == [()]


@pytest.mark.parametrize("text", [PYTHON, TYPESCRIPT])
def test_code_is_known_by_its_looks(text: str) -> None:
    assert code.looks_like(text)
    assert any(context for context in _contexts(text))


def test_prose_about_code_is_not_code() -> None:
    prose = "We looked at the class of problems that matter.\nA function is a relation.\n" * 10
    assert not code.looks_like(prose + "def f(x):\nclass A:\n")
    assert not code.looks_like(GUIDE)


def test_a_long_function_is_cut_between_lines() -> None:
    body = "".join(f"    value_{number} = compute(value_{number - 1})\n" for number in range(1, 20))
    chunks = _chunks(f"import os\n\ndef first():\n    pass\n\ndef long():\n{body}")
    assert [each.context for each in chunks].count("long") > 3
    assert all(each.content.endswith("\n") for each in chunks)


# ---- choosing ----


def test_plain_prose_falls_back_to_sentences() -> None:
    text = "It rained all day. We stayed inside and read. " * 12
    chunks = _chunks(text, "doc")
    assert len(chunks) > 2
    assert all(each.content.endswith(". ") for each in chunks)


def test_a_chat_that_is_none_is_judged_by_its_looks() -> None:
    assert _contexts(GUIDE, "chat") == _contexts(GUIDE)


def test_a_short_text_is_one_chunk_whatever_its_structure() -> None:
    assert len(chunk(GUIDE, STRUCTURE)) == 1


@pytest.mark.parametrize(
    "unit", ["# \n", "> \n", "def f():\n", "a: b\n", "On x wrote\n", "{\n", "\n", "; " * 150 + "\n"]
)
@pytest.mark.parametrize("artifact_type", [None, "email", "chat"])
def test_time_is_linear(unit: str, artifact_type: str | None) -> None:
    text = (unit * 40_000)[:40_000]
    started = time.process_time()
    assert rebuild(chunk(text, SMALL, artifact_type)) == text
    assert time.process_time() - started < 3  # 0.3 s at most here


def test_nesting_without_end_is_cut_off() -> None:
    text = "".join(" " * depth + f"def f{depth}():\n" + " " * depth + " pass\n" for depth in range(40))
    assert max(len(path) for path in _paths(text)) == 6
