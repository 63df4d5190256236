"""SCONE from its public address: every file's checksum is verified, and files appear whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import re
import struct
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from sestra.errors import InputError
from sestra.io import make_folder, replacing
from sestra.version import __version__

URL = "https://nlp.stanford.edu/projects/scone/scone.zip"
"""The release of Long, Pasupat and Liang (2016)."""
FOLDER = "rlong"
"""The folder inside the archive that holds the files."""
SHA256 = {
    "alchemy-dev.tsv": "c87e33835eb6a3bbc9243adaf372045a7528bc0762083c1da0b7a5579b9cedbf",
    "alchemy-test.tsv": "671f2fd2452848a484db98842347e941ad1fca345e4ca03689c5ae3fd90337a1",
    "alchemy-train-orig.tsv": "8d5ccb1f7cb4e9cd99e7191da8ae2d16a618be8e2e4f6ee49452e12ffd9e20b4",
    "alchemy-train.tsv": "b1776726eda49d9e315ed99bafef651b5e4d575645687ca16c8c2acc6f5b9723",
    "scene-dev.tsv": "22cd56727fa57d0344c637fe6f884e204af2c7b32377b736d64b46fbd34cd9ee",
    "scene-test.tsv": "794ced23f5e3b94a5171c8dd331c5b10faf1d07c1510a30686348b443011f5b0",
    "scene-train-orig.tsv": "67e9bb3692fdda2632ccfeee95285e3838544eec71650e9e02de13d83c74d3fc",
    "scene-train.tsv": "56e57d3a5df58b0380123cec079dc5506afd521e40d569e34aa84a06696ac879",
    "tangrams-dev.tsv": "6fad2b56d534930bc596d8999582e49a54058303a7fed2e38f8ac38ca5d376a9",
    "tangrams-test.tsv": "fcc16d7ee22d1f1323f9a193e1be6d242ae6b462e106b6a215331071d562f469",
    "tangrams-train-orig.tsv": "f8f47980db70bf37211183acd223ddf3180a4e65daf1ccaee4d010ec15c6ed22",
    "tangrams-train.tsv": "6aeaae20891d15e1685e35ab318727f9968fa171237b898670aaa113891e27c3",
}
"""What each of the release's twelve files must be."""
TIMEOUT = 30.0
MAX_BYTES = 100_000_000
"""Of the archive, and of each file in it; SCONE has megabytes."""

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and the bytes to come in all, where the server says."""


def download(
    to: Path,
    *,
    url: str = URL,
    checksums: Mapping[str, str] = SHA256,
    replace: bool = False,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> list[str]:
    """Put the files into the folder; the names of those that were not there already.

    A file that is there but is not the release's stops everything unless ``replace`` is set. Nothing is written before all files have
    been fetched and verified. ``timeout`` is how many seconds the server may be silent.
    """
    there = {name: _sha256(to / name) for name in checksums if os.path.lexists(to / name)}
    different = sorted(name for name, digest in there.items() if digest != checksums[name])
    if different and not (replace and all(os.path.isfile(to / name) for name in different)):
        raise InputError(f"{to}: these differ from the release: {', '.join(different)}; move them away, or overwrite them with --replace")
    missing = {name: digest for name, digest in checksums.items() if there.get(name) != digest}
    if missing:
        files = _unpack(_fetch(url, timeout, progress), url, missing)
        make_folder(to, "choose another folder with --to")
        for name, content in files.items():
            with replacing(to / name) as temporary:
                temporary.write_bytes(content)
    return sorted(missing)


def _fetch(url: str, timeout: float, progress: Progress | None) -> bytes:
    if not re.match(r"https?://[^/\s]", url, re.IGNORECASE):
        raise InputError(f"{url}: is not a web address; expected one that begins with https:// or http://")
    body = bytearray()
    try:
        request = urllib.request.Request(url, headers={"User-Agent": f"sestra/{__version__}"})  # noqa: S310  # the scheme was checked
        with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
            total = answer.length
            while len(body) <= MAX_BYTES and (chunk := answer.read1(1 << 16)):
                body += chunk
                if progress:
                    progress(len(body), total)
    except urllib.error.HTTPError as error:
        error.close()
        raise InputError(f"{url}: the server answered {error.code} ({error.reason}); check the address (--url)") from error
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: an address that cannot be taken apart
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            reason = f"nothing came for {timeout:g} seconds"
        raise InputError(f"{url}: the connection failed ({reason}); try again, or give another address (--url)") from error
    if len(body) > MAX_BYTES:
        raise InputError(f"{url}: the answer is larger than the {MAX_BYTES:,} bytes that SCONE could have; check the address (--url)")
    return bytes(body)


def _unpack(archive: bytes, url: str, wanted: Mapping[str, str]) -> dict[str, bytes]:
    """The wanted files, verified; the names in the archive decide nothing about where anything is written."""
    unpacked = {}
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            paths = {PurePosixPath(name).parts[-2:]: name for name in opened.namelist()}
            for name in wanted.keys() & {path[-1] for path in paths if path[:-1] == (FOLDER,)}:
                with opened.open(paths[FOLDER, name]) as file:
                    unpacked[name] = file.read(MAX_BYTES)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:  # RuntimeError: encrypted
        raise InputError(f"{url}: the answer is not a sound ZIP archive ({error}); try again, or check the address (--url)") from error
    for name, digest in wanted.items():
        if name not in unpacked:
            raise InputError(f"{url}: the archive has no {FOLDER}/{name}; expected SCONE's scone.zip; check the address (--url)")
        found = hashlib.sha256(unpacked[name]).hexdigest()
        if found != digest:
            raise InputError(f"{url}: {FOLDER}/{name} has the SHA-256 {found}, expected {digest}; check the address (--url), or try again")
    return unpacked


def _sha256(path: Path) -> str | None:
    """The file's checksum; None for what is not a file that can be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
