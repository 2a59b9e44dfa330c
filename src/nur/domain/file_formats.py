"""The file formats that can be read, as data: a new one is a row here and a parser of the same name."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import PurePath

_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
#: Of formats that are known by their first bytes, whatever the name.
_BEGINNINGS = (b"%PDF-",)
#: Tried, so that the answer says what to do instead.
_OLDER = frozenset({".doc", ".ppt"})
#: How much of a file tells text from other data.
HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class FileFormat:
    """One format, and the endings that its files have."""

    name: str  #: of its parser
    label: str  #: for people
    suffixes: tuple[str, ...]
    is_text: bool = True
    extra: str | None = None  #: to be installed for it


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
    """The format that a file's ending stands for, if it stands for one."""
    return _BY_SUFFIX.get(PurePath(name).suffix.lower())


def is_text(head: bytes) -> bool:
    """Whether a file that begins so is text, in whatever encoding."""
    if head.startswith(_BOMS) or b"\0" not in head:
        return True
    return utf16_without_mark(head) is not None


def utf16_without_mark(head: bytes) -> str | None:
    """Which UTF-16 it is, if it reads as such; of Latin letters every second byte is zero."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    text = head[: len(head) // 2 * 2].decode(encoding, "replace")
    seen = text[:-1] if len(head) == HEAD_BYTES else text  # the last character of a beginning may be half of one
    readable = all(character.isprintable() or character in "\t\r\n\ufeff" for character in seen)
    return encoding if seen and readable and "\ufffd" not in seen else None


def can_be_read(name: str, head: bytes) -> bool:
    """Whether a file of this name that begins so is worth trying: text, or a known format by its name or beginning."""
    known = suffix_format(name) is not None or PurePath(name).suffix.lower() in _OLDER
    return known or is_text(head) or head.startswith(_BEGINNINGS)
