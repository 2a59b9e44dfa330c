"""The child process: reads files from its standard input, one after the other, and answers with their documents.

It has no store, no settings and no keys; its parent may end it at any time.
"""

from __future__ import annotations

import json
import os
import sys

from nur.adapters.files import frames
from nur.adapters.files.limits import limit_cpu, limit_memory
from nur.adapters.files.reading import documents
from nur.adapters.files.source import SourceFile, Unreadable


def main() -> None:
    """Answer until the input ends: a frame with the request, a frame with the bytes; then frames with documents."""
    seconds, megabytes = float(sys.argv[1]), int(sys.argv[2])
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a parser prints is no answer
    limit_memory(megabytes)
    while (request := frames.read_frame(sys.stdin.buffer)) is not None:
        data = frames.read_frame(sys.stdin.buffer) or b""
        limit_cpu(seconds)
        for answer in _answers(SourceFile(json.loads(request)["name"], data), megabytes):
            _write(out.fileno(), frames.packed(answer))


def _answers(file: SourceFile, megabytes: int) -> list[bytes]:
    """The documents, then how it ended: `refused` is None, or why the file cannot be read."""
    try:
        found = [frames.encode(document) for document in documents(file)]
    except Unreadable as error:
        return [_end(str(error))]
    except MemoryError:
        return [_end(f"It needs more than {megabytes} MB of memory to be read.", spent=True)]
    except RecursionError:
        return [_end("It is nested too deeply.")]
    except Exception as error:  # noqa: BLE001  # a parser met what it was not written for: one file fails, no more
        return [_end(f"It is damaged, or not what its name says ({type(error).__name__}).")]
    return [*found, _end(None)]


def _end(refused: str | None, *, spent: bool = False) -> bytes:
    """The last frame; `spent`: this process should not be used again."""
    return json.dumps({"end": True, "refused": refused, "spent": spent}).encode()


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
