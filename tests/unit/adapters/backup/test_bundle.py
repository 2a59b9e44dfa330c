"""A bundle is read whole, or it is refused."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from nur.adapters.backup import bundle
from nur.adapters.backup.bundle import BundledFile, Manifest
from nur.domain.chunks import sha256
from nur.domain.errors import BadRequest, StoreDamaged, StoreNewer

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "Tea is drunk at four. " * 1000
GOOD: dict[str, Any] = {
    "format": "nur-backup",
    "format_version": 1,
    "created_at": "2026-01-05T09:30:00+00:00",
    "program": "2.0.0",
    "schema": "0004",
    "store_id": "s",
    "notes": 3,
    "files": {"a.db": {"bytes": len(TEXT), "sha256": sha256(TEXT)}},
}


def nothing(_: int) -> None:
    return


@pytest.mark.parametrize("passphrase", [None, "open sesame"])
def test_what_is_written_is_read_again(tmp_path: Path, passphrase: str | None) -> None:
    (tmp_path / "a.db").write_text(TEXT)
    manifest = Manifest(
        created_at="now",
        program="2",
        schema="1",
        store_id="s",
        notes=3,
        files={"a.db": bundle.describe_file(tmp_path / "a.db")},
    )
    assert manifest.files == {"a.db": BundledFile(len(TEXT), sha256(TEXT))}
    bundle.write(tmp_path / "b", manifest, tmp_path, passphrase, nothing)
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    (tmp_path / "out").mkdir()
    assert bundle.read(tmp_path / "b", passphrase, tmp_path / "out", nothing) == manifest
    assert (tmp_path / "out/a.db").read_text() == TEXT
    if passphrase is not None:
        with pytest.raises(BadRequest, match="is encrypted"):
            bundle.read(tmp_path / "b", None, None, nothing)


def a_bundle(path: Path, manifest: Any, files: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> Path:
    """A bundle with these contents, whatever its manifest says."""
    with gzip.open(path, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        for name, content in {"manifest.json": json.dumps(manifest).encode(), **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.type = tarfile.REGTYPE if name == "manifest.json" else kind
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("manifest", "files", "error"),
    [
        (GOOD, {"a.db": TEXT.replace("T", "t", 1).encode()}, StoreDamaged),  # another content
        (GOOD, {"a.db": TEXT[:-1].encode()}, StoreDamaged),  # cut
        (GOOD, {}, StoreDamaged),  # missing
        (GOOD, {"a.db": TEXT.encode(), "b.db": b"x"}, StoreDamaged),  # one that is not in the manifest
        ({**GOOD, "format": "other"}, {"a.db": TEXT.encode()}, StoreDamaged),
        ({**GOOD, "files": {"../a.db": GOOD["files"]["a.db"]}}, {"../a.db": TEXT.encode()}, StoreDamaged),
        ({**GOOD, "format_version": 2}, {"a.db": TEXT.encode()}, StoreNewer),
        ([], {}, StoreDamaged),
    ],
)
def test_what_is_not_as_its_manifest_says_is_refused(
    tmp_path: Path, manifest: Any, files: dict[str, bytes], error: type[Exception]
) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(error):
        bundle.read(a_bundle(tmp_path / "b", manifest, files), None, tmp_path / "out", nothing)
    assert not (tmp_path / "a.db").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(StoreDamaged):
        bundle.read(a_bundle(tmp_path / "b", GOOD, {"a.db": b""}, tarfile.SYMTYPE), None, tmp_path / "out", nothing)


@pytest.mark.parametrize(
    "content",
    [b"", b"not a backup", gzip.compress(b"not a tar archive")],
    ids=["empty", "not compressed", "not an archive"],  # gzip's own bytes hold the time
)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(StoreDamaged, match="is not a Nur backup"):
        bundle.read(tmp_path / "b", None, None, nothing)


def test_every_flipped_byte_is_noticed_or_harmless(tmp_path: Path) -> None:
    """Whatever is read without an error is what was written."""
    whole = a_bundle(tmp_path / "b", GOOD, {"a.db": TEXT.encode()}).read_bytes()
    for place in range(0, len(whole), 3):
        (tmp_path / "b").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        target = tmp_path / f"out{place}"
        target.mkdir()
        try:
            bundle.read(tmp_path / "b", None, target, nothing)
        except (StoreDamaged, StoreNewer):
            continue
        assert (target / "a.db").read_text() == TEXT
