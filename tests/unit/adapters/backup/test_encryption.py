"""What is encrypted comes back with its passphrase, and with nothing else."""

from __future__ import annotations

import io

import pytest

from nur.adapters.backup.encryption import PIECE_BYTES, DecryptingReader, EncryptingWriter, is_encrypted
from nur.domain.errors import BadRequest, StoreDamaged


def encrypted(content: bytes, passphrase: str = "open sesame") -> bytes:
    file = io.BytesIO()
    with EncryptingWriter(file, passphrase) as writer:
        for start in range(0, len(content), 300_000):
            writer.write(content[start : start + 300_000])
    return file.getvalue()


def decrypted(content: bytes, passphrase: str = "open sesame") -> bytes:
    return io.BufferedReader(DecryptingReader(io.BytesIO(content), passphrase)).read()


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_it_comes_back_whole(size: int) -> None:
    content = b"tea " * (size // 4) + b"t" * (size % 4)
    sealed = encrypted(content)
    assert is_encrypted(io.BytesIO(sealed))
    assert b"tea tea" not in sealed
    assert decrypted(sealed) == content


def test_another_passphrase_opens_nothing() -> None:
    with pytest.raises(BadRequest, match="The passphrase is wrong"):
        decrypted(encrypted(b"tea"), "open barley")


def test_the_same_content_is_never_sealed_the_same_way() -> None:
    assert encrypted(b"tea") != encrypted(b"tea")


PIECE = PIECE_BYTES + 16
HEADER = len(encrypted(b"")) - 16


@pytest.mark.parametrize(
    "damage",
    [
        lambda sealed: sealed[: HEADER + PIECE],  # cut off behind a whole piece
        lambda sealed: sealed[: HEADER + PIECE + 100],
        lambda sealed: sealed[:HEADER] + sealed[HEADER : HEADER + PIECE] * 2 + sealed[HEADER + PIECE :],  # one twice
        lambda sealed: sealed[:-1] + bytes([sealed[-1] ^ 1]),
        lambda sealed: sealed[: HEADER + PIECE + 5] + b"X" + sealed[HEADER + PIECE + 6 :],
        lambda sealed: sealed[:10],
    ],
)
def test_what_was_cut_swapped_or_changed_is_refused(damage: object) -> None:
    sealed = encrypted(b"x" * (PIECE_BYTES * 2 + 10))
    with pytest.raises((StoreDamaged, BadRequest)):
        decrypted(damage(sealed))  # type: ignore[operator]


def test_a_file_cannot_ask_for_all_memory() -> None:
    sealed = bytearray(encrypted(b"tea"))
    sealed[16] = 40
    with pytest.raises(StoreDamaged):
        decrypted(bytes(sealed))
