"""Check the built documentation site: `python -m release.site dist/site`.

Every link must lead to an existing file and anchor, every image must exist, and no page may load anything from another
site.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that a browser loads by itself. They must not point to other sites; links may.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}


@dataclass
class Page(HTMLParser):
    """The anchors, links and loaded resources of one page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect anchors, links and loaded resources."""
        attributes = {name: value or "" for name, value in attrs}
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if attributes.get(LOADED.get(tag, ""), "") and attributes.get("rel") not in NOT_LOADED:
            self.loads.append(attributes[LOADED[tag]])


def read(path: Path) -> Page:
    """Parse a page of the site."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def problems(site: Path) -> list[str]:
    """One line per problem; empty if there is none."""
    pages = {path.resolve(): read(path) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else [f"{site}: no pages"]
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    found.append(f"{name}: loads {target}")
                continue
            found += [f"{name}: {target}: {reason}" for reason in _broken(site.resolve(), path, target, pages)]
    return found


def _broken(site: Path, path: Path, target: str, pages: dict[Path, Page]) -> list[str]:
    parts = urlsplit(target)
    base = site if parts.path.startswith("/") else path.parent
    file = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    file = file / "index.html" if file.is_dir() else file
    if not file.is_file():
        return ["no such file"]
    anchor = unquote(parts.fragment)
    if anchor and file in pages and anchor not in pages[file].anchors:
        return ["no such heading"]
    return []


if __name__ == "__main__":
    broken = problems(Path(sys.argv[1]))
    print(*broken, sep="\n")  # noqa: T201
    sys.exit(1 if broken else 0)
