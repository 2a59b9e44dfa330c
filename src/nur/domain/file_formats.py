"""The file formats that can be read, as a table. To add one, add a row and a parser of the same name."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import PurePath

_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
#: First bytes that identify a format whatever the file's name.
_SIGNATURES = (b"%PDF-",)
#: Not readable, but tried, because the error then says how to convert them.
_LEGACY_SUFFIXES = frozenset({".doc", ".ppt"})
#: How many bytes are read to tell text from binary data.
HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class FileFormat:
    """One format and its file suffixes."""

    name: str  #: also the name of its parser
    label: str  #: shown to users
    suffixes: tuple[str, ...]
    is_text: bool = True
    extra: str | None = None  #: the package extra it needs


_CODE = """
.asm .bash .bat .c .cc .cfg .clj .cmake .cpp .cs .css .cxx .dart .diff .dockerfile .elm .erl .ex .exs .f90 .fish .fs .go
.gradle .graphql .groovy .h .hcl .hpp .hs .ini .java .jl .js .jsx .kt .kts .less .lisp .lua .m .makefile .ml .mjs .nim
.nix .patch .php .pl .pm .properties .proto .ps1 .py .pyi .r .rb .rs .sass .scala .scm .scss .sh .sol .sql .swift .tcl
.tf .toml .ts .tsx .v .vb .vhdl .vim .vue .xml .xsd .yaml .yml .zig .zsh
""".split()

FORMATS: dict[str, FileFormat] = {
    known.name: known
    for known in (
        FileFormat("text", "plain text", (".txt", ".text", ".log", ".rst", ".adoc", ".org", ".tex")),
        FileFormat("markdown", "Markdown", (".md", ".markdown", ".mdx", ".mdown")),
        FileFormat("html", "HTML", (".html", ".htm", ".xhtml")),
        FileFormat("pdf", "PDF", (".pdf",), is_text=False, extra="files"),
        FileFormat("docx", "Word", (".docx", ".docm"), is_text=False, extra="files"),
        FileFormat("pptx", "PowerPoint", (".pptx", ".pptm"), is_text=False, extra="files"),
        FileFormat("xlsx", "spreadsheets", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), is_text=False, extra="files"),
        FileFormat("csv", "CSV", (".csv", ".tsv", ".tab", ".psv")),
        FileFormat("json", "JSON", (".json", ".jsonl", ".ndjson")),
        FileFormat("email", "e-mail", (".eml",)),
        FileFormat("mbox", "mailbox", (".mbox", ".mbx")),
        FileFormat("subtitles", "subtitles", (".srt", ".vtt")),
        FileFormat("whatsapp", "WhatsApp chat", ()),
        FileFormat("export", "chat export", (".zip",), is_text=False),
        FileFormat("code", "source code and configuration", tuple(_CODE)),
    )
}
_BY_SUFFIX = {suffix: known for known in FORMATS.values() for suffix in known.suffixes}


def suffix_format(name: str) -> FileFormat | None:
    """Return the format of a file by its suffix; None if unknown."""
    return _BY_SUFFIX.get(PurePath(name).suffix.lower())


def is_text(head: bytes) -> bool:
    """Whether a file with these first bytes is text, in any encoding."""
    if head.startswith(_BOMS) or b"\0" not in head:
        return True
    return utf16_without_mark(head) is not None


def utf16_without_mark(head: bytes) -> str | None:
    """Return the byte order of UTF-16 without a BOM; None if it is not UTF-16.

    In Latin text every second byte is zero.
    """
    even, odd = head[::2].count(0), head[1::2].count(0)
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    text = head[: len(head) // 2 * 2].decode(encoding, "replace")
    complete = text[:-1] if len(head) == HEAD_BYTES else text  # a cut file may end in half a character
    readable = all(character.isprintable() or character in "\t\r\n\ufeff" for character in complete)
    return encoding if complete and readable and "\ufffd" not in complete else None


def can_be_read(name: str, head: bytes) -> bool:
    """Whether to try a file: it is text, or its suffix or first bytes belong to a known format."""
    known = suffix_format(name) is not None or PurePath(name).suffix.lower() in _LEGACY_SUFFIXES
    return known or is_text(head) or head.startswith(_SIGNATURES)
