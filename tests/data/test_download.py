"""The download, against a server on this machine that behaves well and badly."""

from __future__ import annotations

import hashlib
import http.server
import io
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sestra.data import download as downloads
from sestra.data.download import SHA256, URL, download
from sestra.errors import InputError

FILES = {"alchemy-dev.tsv": b"one\tstand-in\n" * 500, "scene-dev.tsv": b"two\tstand-in\n"}
CHECKSUMS = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
QUICK = 0.2

Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


def archive(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return packed.getvalue()


RIGHT = {f"scone/rlong/{name}": content for name, content in FILES.items()}
GOOD = archive({"scone/README": b"words", "scone/other/scene-dev.tsv": b"another file of that name", **RIGHT})


class Server:
    """Answers every request with what the test at hand wants."""

    def __init__(self) -> None:
        self.requests = 0
        self.over = threading.Event()
        self.answer: Answer = body(GOOD)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests += 1
                with suppress(ConnectionError):  # where the client gives up, as it should
                    outer.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/scone.zip"

    def download(self, to: Path, **options: object) -> list[str]:
        return download(to, url=self.url, checksums=CHECKSUMS, timeout=QUICK, **options)

    def failure(self, to: Path, answer: Answer) -> str:
        """The error that the answer leads to, after which nothing is there."""
        self.answer = answer
        with pytest.raises(InputError) as caught:
            self.download(to)
        assert not to.exists()
        assert str(caught.value).startswith(f"{self.url}: ")
        return str(caught.value).removeprefix(f"{self.url}: ")


def body(content: bytes, length: int | None = None) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) if length is None else length))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.02,))
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "127.0.0.1")
        yield server
    server.over.set()
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def server(running: Server) -> Server:
    running.answer, running.requests = body(GOOD), 0
    return running


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_are_fetched_and_verified(server: Server, tmp_path: Path):
    seen: list[tuple[int, int | None]] = []
    assert server.download(tmp_path / "a" / "b", progress=lambda done, total: seen.append((done, total))) == sorted(FILES)
    assert contents(tmp_path / "a" / "b") == FILES
    assert seen[-1] == (len(GOOD), len(GOOD))


def test_files_that_are_there_are_not_fetched_again(server: Server, tmp_path: Path):
    server.download(tmp_path)
    assert server.download(tmp_path) == []
    assert server.requests == 1
    (tmp_path / "scene-dev.tsv").unlink()
    (tmp_path / "notes.txt").write_text("mine")
    assert server.download(tmp_path) == ["scene-dev.tsv"]
    assert contents(tmp_path) == {**FILES, "notes.txt": b"mine"}


def test_a_file_that_differs_is_replaced_only_when_asked(server: Server, tmp_path: Path):
    (tmp_path / "scene-dev.tsv").write_text("my own work")
    with pytest.raises(
        InputError, match=r"these differ from the release: scene-dev\.tsv; move them away, or overwrite them with --replace"
    ):
        server.download(tmp_path)
    assert server.requests == 0
    assert contents(tmp_path) == {"scene-dev.tsv": b"my own work"}
    assert server.download(tmp_path, replace=True) == sorted(FILES)
    assert contents(tmp_path) == FILES


def test_a_folder_in_a_files_place_is_never_replaced(server: Server, tmp_path: Path):
    (tmp_path / "scene-dev.tsv").mkdir()
    with pytest.raises(InputError, match=r"differ from the release: scene-dev\.tsv"):
        server.download(tmp_path, replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["scene-dev.tsv"]


def test_redirections_are_followed_to_the_web_only(server: Server, tmp_path: Path):
    def redirect(to: str) -> Answer:
        def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
            if handler.path == "/there.zip":
                body(GOOD)(handler)
            else:
                handler.send_response(302)
                handler.send_header("Location", to)
                handler.end_headers()

        return answer

    secret = tmp_path / "secret.zip"
    secret.write_bytes(GOOD)
    assert "302" in server.failure(tmp_path / "to", redirect(secret.as_uri()))
    assert "connection failed" in server.failure(tmp_path / "to", redirect("ftp://127.0.0.1/scone.zip"))
    server.answer = redirect("/there.zip")
    assert server.download(tmp_path / "to") == sorted(FILES)


def test_truncated_answers(server: Server, tmp_path: Path):
    assert "is not a sound ZIP archive" in server.failure(tmp_path / "to", body(GOOD[: len(GOOD) // 2], len(GOOD)))


def test_slow_answers(server: Server, tmp_path: Path):
    def silent(handler: http.server.BaseHTTPRequestHandler) -> None:
        server.over.wait(5)

    def stalled(handler: http.server.BaseHTTPRequestHandler) -> None:
        body(GOOD[:100], len(GOOD))(handler)
        server.over.wait(5)

    assert "the connection failed (nothing came for 0.2 seconds); try again" in server.failure(tmp_path / "to", silent)
    assert "the connection failed (nothing came for 0.2 seconds); try again" in server.failure(tmp_path / "to", stalled)


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_refusals(server: Server, tmp_path: Path, status: int):
    expected = f"the server answered {status} ({http.HTTPStatus(status).phrase.title()}); check the address (--url)"
    assert server.failure(tmp_path / "to", lambda handler: handler.send_error(status)).lower() == expected.lower()


def test_wrong_answers(server: Server, tmp_path: Path):
    to = tmp_path / "to"
    assert "is not a sound ZIP archive" in server.failure(to, body(b"<html>the page has moved</html>"))
    assert "is not a sound ZIP archive" in server.failure(to, body(b""))
    assert "the connection failed" in server.failure(to, lambda handler: handler.wfile.write(b"not HTTP at all\r\n\r\n"))
    changed = archive({**RIGHT, "scone/rlong/scene-dev.tsv": b"something else\n"})
    wrong = hashlib.sha256(b"something else\n").hexdigest()
    assert server.failure(to, body(changed)).startswith(
        f"rlong/scene-dev.tsv has the SHA-256 {wrong}, expected {CHECKSUMS['scene-dev.tsv']}; check the address"
    )
    assert "the archive has no rlong/alchemy-dev.tsv" in server.failure(to, body(archive({"rlong/other.tsv": b""})))


def test_hostile_archives(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(downloads, "MAX_BYTES", 100_000)
    to = tmp_path / "to"
    bomb = archive({**RIGHT, "scone/rlong/scene-dev.tsv": b"0" * 5_000_000})
    assert len(bomb) < downloads.MAX_BYTES
    unpacked = hashlib.sha256(b"0" * downloads.MAX_BYTES).hexdigest()  # no more than that
    assert f"rlong/scene-dev.tsv has the SHA-256 {unpacked}" in server.failure(to, body(bomb))

    def endless(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not server.over.is_set():
            handler.wfile.write(bytes(50_000))

    assert "larger than the 100,000 bytes" in server.failure(to, endless)
    evil = dict.fromkeys(("../evil.tsv", "rlong/../../evil.tsv", "/evil.tsv", "..\\evil.tsv"), b"evil")
    server.answer = body(archive(RIGHT | evil))
    assert server.download(to) == sorted(FILES)
    assert not any(path.name.startswith("evil") for path in tmp_path.rglob("*"))


def test_a_failure_leaves_the_folder_as_it_was(server: Server, tmp_path: Path):
    (tmp_path / "alchemy-dev.tsv").write_bytes(FILES["alchemy-dev.tsv"])
    server.answer = body(b"nothing")
    with pytest.raises(InputError):
        server.download(tmp_path)
    assert contents(tmp_path) == {"alchemy-dev.tsv": FILES["alchemy-dev.tsv"]}


def test_interruption_leaves_nothing(server: Server, tmp_path: Path):
    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        server.download(tmp_path / "to", progress=interrupt)
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/scone.zip", "scone.zip", "", "http://", "data:,x"])
def test_only_web_addresses(tmp_path: Path, url: str):
    with pytest.raises(InputError, match="is not a web address; expected one that begins with https:// or http://"):
        download(tmp_path / "to", url=url)
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x.zip", "http://127.0.0.1:port/x.zip", "http://[::1/x.zip", "http://127.0.0.1/a b"])
def test_addresses_that_lead_nowhere(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(InputError, match="the connection failed"):
        download(tmp_path / "to", url=url, timeout=QUICK)
    assert not (tmp_path / "to").exists()


def test_a_folder_that_cannot_be_written(server: Server, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    for to in (tmp_path / "file", tmp_path / "file" / "to", tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match=r"cannot be made \(.*\); choose another folder with --to"):
            server.download(to)


@given(place=st.integers(0, len(GOOD) - 1), value=st.binary(max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_damaged_archive_is_refused_or_right(running: Server, place: int, value: bytes):
    running.answer = body(GOOD[:place] + value + GOOD[place + len(value) + 1 :])
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "to"
        try:
            running.download(to)
            fetched = True
        except InputError:
            fetched = False
        assert (contents(to) == FILES) if fetched else not to.exists()


def test_the_list_of_the_release():
    assert URL.startswith("https://")
    assert sorted(SHA256) == [
        f"{world}-{split}.tsv" for world in ("alchemy", "scene", "tangrams") for split in ("dev", "test", "train-orig", "train")
    ]
    assert all(len(digest) == 64 and set(digest) <= set("0123456789abcdef") for digest in SHA256.values())
    assert len(set(SHA256.values())) == 12


@pytest.mark.scone
def test_the_checksums_are_those_of_scone(scone: Path):
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in scone.glob("*.tsv")}
    assert {"alchemy-train.tsv", "scene-train.tsv", "tangrams-train.tsv"} <= set(found)
    assert found == {name: downloads.SHA256[name] for name in found}
