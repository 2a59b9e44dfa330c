"""The parser process: reads files from standard input and writes their documents to standard output.

It has no store, no settings and no keys. Its parent may kill it at any time.
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
    """Serve requests until the input ends: reads a request frame and a data frame, writes one frame per document."""
    seconds, megabytes = float(sys.argv[1]), int(sys.argv[2])
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # keep what parsers print out of the responses
    limit_memory(megabytes)
    while (request := frames.read_frame(sys.stdin.buffer)) is not None:
        data = frames.read_frame(sys.stdin.buffer) or b""
        limit_cpu(seconds)
        for answer in _answers(SourceFile(json.loads(request)["name"], data), megabytes):
            _write(out.fileno(), frames.frame(answer))


def _answers(file: SourceFile, megabytes: int) -> list[bytes]:
    """The documents and a final frame; on failure only the final frame, with the reason in `refused`."""
    try:
        encoded = [frames.encode(document) for document in documents(file)]
    except Unreadable as error:
        return [_end(str(error))]
    except MemoryError:
        return [_end(f"It needs more than {megabytes} MB of memory to be read.", spent=True)]
    except RecursionError:
        return [_end("It is nested too deeply.")]
    except Exception as error:  # noqa: BLE001  # a parser may raise anything: only this file fails
        return [_end(f"It is damaged, or its extension is wrong ({type(error).__name__}).")]
    return [*encoded, _end(None)]


def _end(refused: str | None, *, spent: bool = False) -> bytes:
    """The final frame. `spent`: the process must not be used again."""
    return json.dumps({"end": True, "refused": refused, "spent": spent}).encode()


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
