"""Artifact texts for tests: with an exact number of tokens, long searchable ones, and unusual ones."""

from __future__ import annotations

import random

from nur.retrieval.text.tokens import count

#: Each word is one cl100k token, including the space before it.
WORDS = " river stone winter garden paper engine school music letter doctor window bridge market summer forest metal"


def tokens(number: int, salt: str = "") -> str:
    """Text with exactly this many tokens; a different salt gives a different text."""
    words = WORDS.split()
    text = "".join(f" {word}" for word in random.Random(f"{salt}:{number}").choices(words, k=number))
    assert count(text) == number
    return text


def chapters(number: int, meta: str = "lighthouse keeper") -> str:
    """Numbered sentences: each can be found by its number, and all chunks differ."""
    return " ".join(f"Chapter {i} tells of the {meta} number {i} and what became of him." for i in range(number))


#: Each is long enough to be chunked; the comment says what a careless chunker would do.
ODD = {
    "crlf": "one line\r\nanother line\r\n\r\n" * 400,  # normalises line ends
    "cjk": "山路を登りながら、こう考えた。智に働けば角が立つ。" * 120,  # cuts inside a character
    "devanagari": "उपयोगकर्ता को अंधेरा मोड पसंद है। " * 120,
    "arabic": "المستخدم يفضل الوضع الداكن دائما. " * 200,
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽 " * 150,  # cuts inside a four-byte character
    "one word": "abcdefghij" * 1500,  # looks for a space
    "spaces": "a" + " " * 20_000 + "b" * 8000,  # strips
    "special tokens": "before <|endoftext|> after <|fim_prefix|> " * 300,  # raises, or swallows them
    "boundary marks": "real text [CHUNK BOUNDARY] more text\n[CHUNK BOUNDARY]\n" * 250,
    "byte order mark": "\ufeff" + "a text that begins with a mark. " * 300,
    "separators": "next\u2028line\u2029paragraph\x0bvertical\x0cform\x85nel " * 250,  # splits lines at them
    "combining": "Z̷̢a̶l̴g̵o̸ ńn̈ é e\u0301 " * 300,  # normalises to another form
    "edges": "\n\n  " + "text between blanks " * 400 + "  \n\n",  # strips
    "json": '{"key": [1, 2, {"deep": "\\u0041 \\n"}]} ' * 250,  # parses it on its way in
    "rtl marks": "\u202eevil\u202c \u200b\u200dzero width\u2060 " * 250,
    "astral": "𝕬𝖓𝖈𝖎𝖊𝖓𝖙 𐍈 𒀀 " * 200,  # counts code units for characters
}
