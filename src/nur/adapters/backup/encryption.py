"""Encryption of a stream with a passphrase: scrypt derives the key, ChaCha20-Poly1305 seals pieces of 1 MiB.

Each piece's nonce contains its number and whether it is the last piece, so pieces cannot be swapped or cut off. The
header (magic, cost, salt, nonce prefix) is authenticated with each piece.
"""

from __future__ import annotations

import io
import os
from typing import IO, TYPE_CHECKING, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from nur.domain.errors import BadRequest, StoreDamaged

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MAGIC = b"nur-encrypted-1\n"
PIECE_BYTES = 1024 * 1024
#: Each guess of a passphrase takes 64 MiB of memory and about 0.2 s.
LOG_COST = 16
#: Limits the memory that a crafted file can demand to 1 GiB.
MAX_LOG_COST = 20
_SALT_BYTES, _PREFIX_BYTES, _TAG_BYTES = 16, 7, 16
_HEADER_BYTES = len(MAGIC) + 1 + _SALT_BYTES + _PREFIX_BYTES


class _Seal:
    """Seals and opens the pieces of one file, in order."""

    def __init__(self, passphrase: str, header: bytes) -> None:
        cost, salt = header[len(MAGIC)], header[len(MAGIC) + 1 : len(MAGIC) + 1 + _SALT_BYTES]
        key = Scrypt(salt=salt, length=32, n=1 << cost, r=8, p=1).derive(passphrase.encode())
        self._cipher = ChaCha20Poly1305(key)
        self._header = header
        self._number = 0

    def _nonce(self, *, last: bool) -> bytes:
        nonce = self._header[-_PREFIX_BYTES:] + self._number.to_bytes(4, "big") + bytes([last])
        self._number += 1
        return nonce

    def close(self, piece: bytes, *, last: bool) -> bytes:
        return self._cipher.encrypt(self._nonce(last=last), piece, self._header)

    def open(self, sealed: bytes, *, last: bool) -> bytes:
        return self._cipher.decrypt(self._nonce(last=last), sealed, self._header)


class EncryptingWriter(io.RawIOBase):
    """Encrypts what is written to it. The file is complete only after `close`."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        header = MAGIC + bytes([LOG_COST]) + os.urandom(_SALT_BYTES + _PREFIX_BYTES)
        self._file, self._seal, self._buffer = file, _Seal(passphrase, header), bytearray()
        file.write(header)

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Encrypt whole pieces and buffer the rest."""
        view = memoryview(data).cast("B")
        self._buffer += view
        while len(self._buffer) > PIECE_BYTES:  # `close` seals the last piece, even a full one
            self._file.write(self._seal.close(bytes(self._buffer[:PIECE_BYTES]), last=False))
            del self._buffer[:PIECE_BYTES]
        return len(view)

    def close(self) -> None:
        """Seal the last piece. The underlying file stays open."""
        if not self.closed:
            self._file.write(self._seal.close(bytes(self._buffer), last=True))
        super().close()


class DecryptingReader(io.RawIOBase):
    """Decrypts what is read from it. Raises BadRequest for a wrong passphrase, StoreDamaged for a damaged file."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        header = file.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES or header[len(MAGIC)] > MAX_LOG_COST:
            raise StoreDamaged("The backup is damaged: its header cannot be read.")
        self._file, self._seal, self._first = file, _Seal(passphrase, header), True
        self._sealed = file.read(PIECE_BYTES + _TAG_BYTES)
        self._plain = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Decrypt the next piece when the current one is used up."""
        view = memoryview(buffer).cast("B")
        if not self._plain and self._sealed:
            self._plain = self._next_piece()
        size = min(len(view), len(self._plain))
        view[:size], self._plain = self._plain[:size], self._plain[size:]
        return size

    def _next_piece(self) -> bytes:
        following = self._file.read(PIECE_BYTES + _TAG_BYTES)
        try:
            piece = self._seal.open(self._sealed, last=not following)
        except InvalidTag:
            if self._first:
                raise BadRequest("The passphrase is wrong, or the backup is damaged.") from None
            raise StoreDamaged("The backup is damaged: a part of it has changed since it was written.") from None
        self._sealed, self._first = following, False
        return piece


def is_encrypted(file: IO[bytes]) -> bool:
    """Whether the file starts with the magic bytes. The file position is restored."""
    start = file.read(len(MAGIC))
    file.seek(-len(start), os.SEEK_CUR)
    return start == MAGIC
