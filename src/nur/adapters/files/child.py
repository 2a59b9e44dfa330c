"""The parent's side of the parser process, which is reused for later files and replaced after a failure."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio import subprocess
from typing import TYPE_CHECKING

from nur.adapters.files import frames
from nur.adapters.files.reading import READER_VERSION
from nur.domain.errors import FileRefused
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from nur.domain.documents import Document

log = EventLog("FileReader")

#: Limit for all documents of one file, as sent over the pipe.
MAX_ANSWER_BYTES = 256 * 1024 * 1024
#: A process is replaced after this many files, because parsers leak memory.
FILES_PER_PROCESS = 500
#: Environment variables passed to the parser process: no keys, no settings.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")


class ChildFileReader:
    """Reads files in a child process. A file that needs too much time or memory ends only that process."""

    version = READER_VERSION

    def __init__(self, timeout_seconds: float, memory_megabytes: int) -> None:
        self._timeout_seconds = timeout_seconds
        self._memory_megabytes = memory_megabytes
        self._process: subprocess.Process | None = None
        self._files = 0
        self._lock = asyncio.Lock()

    async def read(self, name: str, data: bytes) -> list[Document]:
        """The file's documents. Raises FileRefused."""
        async with self._lock:
            reusable = False
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    process = await self._running_process()
                    documents, refused, spent = await self._exchange(process, name, data)
                reusable = not spent and self._files < FILES_PER_PROCESS
            except TimeoutError:
                raise FileRefused(f"It takes more than {self._timeout_seconds:g} seconds to read.") from None
            except (OSError, EOFError) as error:
                raise FileRefused(await self._exit_reason()) from error
            finally:
                if not reusable:
                    await self._kill()
        if refused is not None:
            raise FileRefused(refused)
        return documents

    async def close(self) -> None:
        """Kill the process."""
        await self._kill()

    async def _running_process(self) -> subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
            self._process = await asyncio.create_subprocess_exec(
                # -P: import nothing from the current folder; -B: no bytecode, since it may not write files.
                *(sys.executable, "-P", "-B", "-m", "nur.adapters.files.worker"),
                *(str(self._timeout_seconds), str(self._memory_megabytes)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
            self._files = 0
        self._files += 1
        return self._process

    async def _exchange(
        self, process: subprocess.Process, name: str, data: bytes
    ) -> tuple[list[Document], str | None, bool]:
        """The documents, the reason for a refusal, and whether to discard the process. Raises OSError, EOFError."""
        if process.stdin is None or process.stdout is None:
            raise EOFError
        request = json.dumps({"name": name}).encode()
        process.stdin.write(frames.frame(request) + len(data).to_bytes(frames.LENGTH_BYTES))
        process.stdin.write(data)
        await process.stdin.drain()
        documents: list[Document] = []
        received = 0
        while True:
            length = int.from_bytes(await process.stdout.readexactly(frames.LENGTH_BYTES))
            received += length
            if received > MAX_ANSWER_BYTES:
                return [], f"It contains more than {MAX_ANSWER_BYTES // 2**20} MB of text: split it.", True
            fields = json.loads(await process.stdout.readexactly(length))
            if "end" in fields:
                return documents, fields["refused"], fields["spent"]
            documents.append(frames.decode(fields))

    async def _exit_reason(self) -> str:
        """Why the process ended."""
        code = None if self._process is None else await self._process.wait()
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"It takes more than {self._timeout_seconds:g} seconds to read."
        return f"Its parser crashed ({code}): it is damaged, or needs more than {self._memory_megabytes} MB of memory."

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        log.info("file_reader_ended", files=self._files)
