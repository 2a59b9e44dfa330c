"""What has changed since the last look. Looking costs a `stat` per file: no system's own notices are needed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nur.entrypoints.cli.ingesting.discover import Found

LOOK_SECONDS = 2.0


def changes(
    look: Callable[[], list[Found]], known: Sequence[Found], pause: Callable[[float], None] = time.sleep
) -> Iterator[list[Found]]:
    """Files that are new or changed, look by look, for ever; a file that is still being written waits for the next."""
    done = {found.path: found for found in known}
    before = dict(done)
    while True:
        pause(LOOK_SECONDS)
        now = {found.path: found for found in look()}
        settled = [found for path, found in now.items() if done.get(path) != found and before.get(path) == found]
        before = dict(now)
        if settled:
            done.update((found.path, found) for found in settled)
            yield settled
