"""Check the documentation's built site: `python -m release.site dist/site`.

Every link leads to a file and an anchor of the site, every picture exists, and no page loads anything from elsewhere.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches by itself; links to other sites are fine, these are not.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}


@dataclass
class Page(HTMLParser):
    """What one page names and where it leads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, links and what is loaded."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(LOADED.get(tag, ""), "") and given.get("rel") not in NOT_LOADED:
            self.loads.append(given[LOADED[tag]])


def read(path: Path) -> Page:
    """A page of the site."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def problems(site: Path) -> list[str]:
    """What is broken, one line each; empty when nothing is."""
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
    aim = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    aim = aim / "index.html" if aim.is_dir() else aim
    if not aim.is_file():
        return ["no such file"]
    anchor = unquote(parts.fragment)
    if anchor and aim in pages and anchor not in pages[aim].anchors:
        return ["no such heading"]
    return []


if __name__ == "__main__":
    broken = problems(Path(sys.argv[1]))
    print(*broken, sep="\n")  # noqa: T201
    sys.exit(1 if broken else 0)
