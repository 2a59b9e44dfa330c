"""Which URLs a note's source may have. They are shown as links, so no scheme that runs code on a click."""

from __future__ import annotations

from urllib.parse import urlsplit

_WITH_HOST = ("http", "https", "ftp", "sftp")
_WITH_PATH = ("file", "mailto", "message", "mid")
RULE = f"must be a URL such as https://example.com/page, starting with {', '.join(_WITH_HOST)}, {', '.join(_WITH_PATH)}"


def is_source_url(text: str) -> bool:
    """Whether the text is a URL with an allowed scheme, without spaces or control characters."""
    if not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if parts.scheme in _WITH_HOST:
        return bool(parts.hostname)
    return parts.scheme in _WITH_PATH and bool(parts.path.strip("/"))
