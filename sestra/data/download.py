"""SCONE from its public address: every file's checksum is verified, and files appear whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import re
import struct
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sestra.errors import InputError
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

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and the bytes to come in all, where the server says."""


class DownloadError(InputError):
    """The data could not be fetched; nothing was written."""


@dataclass(frozen=True)
class Limits:
    """How much and how long to take at most; the defaults are generous for the release (megabytes)."""

    silence: float = 30.0
    """Seconds without a single byte before giving up."""
    patience: float = 900.0
    """Seconds for the whole archive before giving up."""
    archive: int = 100_000_000
    """Bytes of the archive."""
    member: int = 50_000_000
    """Bytes of each unpacked file."""


def download(
    to: Path,
    *,
    url: str = URL,
    checksums: Mapping[str, str] = SHA256,
    replace: bool = False,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """Put the files into the folder; the names of those that were not there already.

    A file that is there but is not the release's stops everything unless ``replace`` is set. Whatever goes wrong, the folder stays as it
    was: all files are fetched and verified beside their places first, then moved into them.
    """
    limits = limits or Limits()
    there = {name: _sha256(to / name) for name in checksums if os.path.lexists(to / name)}
    different = sorted(name for name, digest in there.items() if digest != checksums[name])
    if different and not (replace and all(os.path.isfile(to / name) for name in different)):
        raise DownloadError(
            f"{to}: these differ from the release: {', '.join(different)}; move them away, or overwrite them with --replace"
        )
    missing = {name: digest for name, digest in checksums.items() if there.get(name) != digest}
    if missing:
        with _folder_beside(to) as temporary:
            for name, content in _unpack(_fetch(url, limits, progress), url, missing, limits).items():
                (temporary / name).write_bytes(content)
            for name in missing:
                (temporary / name).replace(to / name)
    return sorted(missing)


@contextmanager
def _folder_beside(to: Path) -> Iterator[Path]:
    """A temporary folder in the same file system as ``to``; it goes away, and so does ``to`` if it was made here and stays empty."""
    made = [folder for folder in (to, *to.parents) if not os.path.exists(folder)]
    try:
        to.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=to) as temporary:
            yield Path(temporary)
    except OSError as error:
        raise DownloadError(f"{to}: cannot be written ({error.strerror or error}); choose another folder with --to") from error
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def _fetch(url: str, limits: Limits, progress: Progress | None) -> bytes:
    """The answer's body; everything that a network can do wrong becomes a DownloadError."""
    if not re.match(r"https?://[^/\s]", url, re.IGNORECASE):
        raise DownloadError(f"{url}: is not a web address; expected one that begins with https:// or http://")
    try:
        with _opener().open(url, timeout=limits.silence) as answer:
            return _read(answer, url, limits, progress)
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{url}: the server answered {error.code} ({error.reason}); check the address (--url)") from error
    except DownloadError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: an address that cannot be taken apart
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            reason = f"nothing came for {limits.silence:g} seconds"
        raise DownloadError(f"{url}: the connection failed ({reason}); try again, or give another address (--url)") from error


def _read(answer: http.client.HTTPResponse, url: str, limits: Limits, progress: Progress | None) -> bytes:
    length = answer.headers.get("Content-Length", "")
    total = int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None
    started, body = time.monotonic(), bytearray()
    while chunk := answer.read1(1 << 16):
        body += chunk
        done = len(body)
        if max(done, total or 0) > limits.archive:
            raise DownloadError(
                f"{url}: the answer is larger than the {limits.archive:,} bytes that SCONE could have; check the address (--url)"
            )
        if time.monotonic() - started > limits.patience:
            raise DownloadError(
                f"{url}: only {done:,} bytes came in {limits.patience:g} seconds; try again, or give another address (--url)"
            )
        if progress:
            progress(done, total)
    if total is not None and len(body) < total:
        raise DownloadError(f"{url}: the answer ended after {len(body):,} of {total:,} bytes; run the command again")
    return bytes(body)


def _opener() -> urllib.request.OpenerDirector:
    """Speaks HTTP and HTTPS (through the environment's proxies) and nothing else, not even after a redirection."""
    opener = urllib.request.OpenerDirector()
    for name in ("Proxy", "HTTP", "HTTPS", "HTTPDefaultError", "HTTPRedirect", "Unknown"):
        opener.add_handler(getattr(urllib.request, f"{name}Handler")())
    opener.add_handler(urllib.request.HTTPErrorProcessor())
    opener.addheaders = [("User-Agent", f"sestra/{__version__}")]
    return opener


def _unpack(archive: bytes, url: str, wanted: Mapping[str, str], limits: Limits) -> dict[str, bytes]:
    """The wanted files, verified; the names in the archive decide nothing about where anything is written."""
    unpacked, problems = {}, []
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = {}
            for member in opened.infolist():
                path = PurePosixPath(member.filename.replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts:
                    raise DownloadError(
                        f"{url}: a file in the archive points outside of it ({member.filename!r}); do not trust this address"
                    )
                if path.parts[-2:-1] == (FOLDER,):
                    members[path.name] = member
            for name, digest in wanted.items():
                problem = _problem(name, members.get(name), limits)
                if not problem:
                    unpacked[name] = opened.read(members[name])  # no more than the size that was checked
                    found = hashlib.sha256(unpacked[name]).hexdigest()
                    if found != digest:
                        problem = (
                            f"{members[name].filename} has the SHA-256 {found}, expected {digest}; check the address (--url), or try again"
                        )
                if problem:
                    problems.append(f"{url}: {problem}")
    except DownloadError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:  # RuntimeError: encrypted
        raise DownloadError(f"{url}: the answer is not a sound ZIP archive ({error}); try again, or check the address (--url)") from error
    if problems:
        raise DownloadError("\n".join(problems))
    return unpacked


def _problem(name: str, member: zipfile.ZipInfo | None, limits: Limits) -> str | None:
    """Why a file is not unpacked."""
    if member is None:
        return f"the archive has no {FOLDER}/{name}; expected SCONE's scone.zip; check the address (--url)"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"{member.filename} is packed by method {member.compress_type}, not SCONE's; check the address (--url)"
    if member.file_size > limits.member:
        return f"{member.filename} unpacks to {member.file_size:,} bytes, more than {limits.member:,}; check the address (--url)"
    return None


def _sha256(path: Path) -> str | None:
    """The file's checksum; None for what is not a file that can be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
