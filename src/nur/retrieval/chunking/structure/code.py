"""Find the definitions in code: one section per function or class, with the comments and decorators above it.

Lines are matched, not parsed: a fragment, an unknown language or a syntax error loses a section, but raises nothing.
Indentation shows nesting.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nur.retrieval.chunking.structure.sections import Heading, Line, Section, clip, lines, outline, sample

if TYPE_CHECKING:
    from collections.abc import Iterable

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|async|override|virtual|inline"
    r"|extern|unsafe|open|data|partial|readonly|const|pub(?:\([a-z]{1,8}\))?)[ \t]{1,4}){0,6}"
)
_DEFINITION = re.compile(
    rf"([ \t]{{0,40}}){_MODIFIERS}"
    r"(?:(?:def|class|interface|trait|struct|enum|union|record|object|module|namespace|protocol|extension|impl|fn|func"
    r"|fun|function\*?|sub|type)(?:<[^>\n]{1,80}>)?[ \t]{1,4}(?:\([^)\n]{1,80}\)[ \t]?)?([\w.$:]{1,80})"
    # what follows a name in code, but not in "a type of error"
    r"(?=[ \t]{0,4}(?:[(\[{<:=;,]|$|extends\b|implements\b|for\b|where\b|struct\b|interface\b))"
    r"|(?:const|let|var)[ \t]{1,4}([\w$]{1,80})[ \t]?=[ \t]?(?:async[ \t]{1,4})?"
    r"(?:function\b|\([^)\n]{0,200}\)[ \t]?=>)"
    # a C-like signature: a type, a name, arguments, an opening brace
    r"|(?!return\b|else\b|new\b|throw\b|if\b|for\b|while\b|switch\b|catch\b)"
    r"[\w:<>,*&\[\]]{1,80}[ \t*&]{1,4}([\w:~]{1,80})\([^;{}]{0,200}\)[^;(){}]{0,80}\{)"
)
_LEADING = re.compile(r"[ \t]*(?:@|#|//|/\*|\*|\[[A-Z])")
_CODE_LINE = re.compile(
    r"\s*(?:(?:import|from|return|if|elif|else|for|while|try|except|catch|using|use|package|var|let|const|self|this|end)"
    r"\b.*[\w)\];:,{}=\"']\s*$|[})\];]+[;,)]*\s*$|[@#]|//|/?\*)|.*[;{}]\s*$|.*\):\s*$|\s*[\w.\[\]]+\s[-+]?=\s"
)
_MAX_LINE_CHARACTERS = 400
_CODE_SHARE = 0.5


def _indentation(space: str) -> int:
    return len(space.expandtabs(4))


def _headings(code: Iterable[Line]) -> list[Heading]:
    """The functions, classes and other definitions."""
    headings: list[Heading] = []
    leading: int | None = None  # where the comments and decorators just above begin
    for line in code:
        match = _DEFINITION.match(line.text[:_MAX_LINE_CHARACTERS])
        if match is not None:
            name = clip(next(filter(None, match.groups()[1:]), "")).rstrip(":")
            start = line.start if leading is None else leading
            headings.append(Heading(start, line.end, _indentation(match.group(1)), name))
            leading = None
        elif _LEADING.match(line.text):
            leading = line.start if leading is None else leading
        else:
            leading = None
    return headings


def sections(text: str) -> list[Section]:
    """One section per definition; its path is the names it is nested in."""
    return outline(text, _headings(lines(text)))


def line_ranges(text: str) -> list[tuple[int, int]]:
    """Ranges of the lines; a function that is too long for one chunk is cut between them."""
    return [(line.start, line.end) for line in lines(text)]


def _is_code(line: Line) -> bool:
    head = line.text[:_MAX_LINE_CHARACTERS]
    return _DEFINITION.match(head) is not None or _CODE_LINE.match(head) is not None


def looks_like(text: str) -> bool:
    """Whether there are definitions, and at least half of the lines look like code."""
    sampled = sample(text)
    return len(_headings(sampled)) >= 2 and sum(map(_is_code, sampled)) >= _CODE_SHARE * len(sampled)
