"""What a hook remembers of a session between two events: a small file per session."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

#: Files of sessions that nobody continued are removed.
KEPT_SECONDS = 30 * 86_400.0


@dataclass(slots=True)
class Session:
    """Where the transcript was read to, and what was shown. Losing it costs work, not truth: turns are numbered."""

    path: Path
    offset: int = 0
    turns: int = 0  #: stored so far
    shown: list[str] = field(default_factory=list)  #: ids of chunks whose passages were put into a prompt
    seen: list[str] = field(default_factory=list)  #: turns that events carried

    @classmethod
    def load(cls, folder: Path, client: str, session: str) -> Session:
        """The session's, or a new one."""
        name = hashlib.sha256(f"{client}:{session}".encode()).hexdigest()[:24]
        path = folder / "hooks" / f"{name}.json"
        try:
            kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, int(kept["offset"]), int(kept["turns"]), list(kept["shown"]), list(kept["seen"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)

    def save(self) -> None:
        """Write it, and remove old ones."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.path.exists():
            self._remove_old()
        kept = {"offset": self.offset, "turns": self.turns, "shown": self.shown[-500:], "seen": self.seen[-500:]}
        partial = self.path.with_suffix(".part")
        partial.write_text(json.dumps(kept), encoding="utf-8")
        partial.replace(self.path)

    def _remove_old(self) -> None:
        oldest = time.time() - KEPT_SECONDS
        for other in self.path.parent.glob("*.json"):
            if other.stat().st_mtime < oldest:
                other.unlink(missing_ok=True)
