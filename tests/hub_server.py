"""A server on this machine that answers as the Hugging Face hub does, as far as agents need it: repositories with branches and commits.

Small files are sent with the commit; graphs and weights are large files, which are uploaded first and downloaded through a redirection.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_test"
OWNER = "owner"
LARGE = (".onnx", ".safetensors", ".bin")

Files = dict[str, bytes]


@dataclass
class Repository:
    private: bool
    gated: bool = False
    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Files] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def commit(self, branch: str, files: Files, message: str) -> str:
        self.messages.append(message)
        sha = hashlib.sha1(f"{len(self.commits)} {message}".encode()).hexdigest()
        self.commits[sha] = dict(files)
        self.branches[branch] = sha
        return sha

    def find(self, revision: str) -> str | None:
        sha = self.branches.get(revision, revision)
        return sha if sha in self.commits else None


class RefusedError(Exception):
    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        super().__init__(status, code)
        self.status, self.headers = status, {"X-Error-Code": code, "X-Error-Message": message or code}


class Hub:
    """Its repositories, and every request that it got."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.uploaded: Files = {}
        self.requests: list[str] = []
        self.broken: int | None = None
        """A status that every request gets."""
        self._connections: list[socket.socket] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                with suppress(ConnectionError):
                    outer._answer(self)

            do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815

            def setup(self) -> None:
                super().setup()
                outer._connections.append(self.connection)

            def log_message(self, *args: object) -> None:
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def add(self, name: str, files: Files, **options: bool) -> Repository:
        repository = self.repositories[name] = Repository(**{"private": False, **options})
        repository.commit("main", files, "first")
        return repository

    def _answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        url = urlsplit(handler.path)
        path = unquote(url.path)
        self.requests.append(f"{handler.command} {path}")
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        signed_in = handler.headers.get("Authorization") == f"Bearer {TOKEN}"
        headers: dict[str, str] = {}
        try:
            if self.broken:
                raise RefusedError(self.broken)
            status, content, headers = self._route(handler.command, path, body, signed_in, parse_qs(url.query))
        except RefusedError as refused:
            status, content, headers = refused.status, {"error": refused.headers["X-Error-Message"]}, refused.headers
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(sent)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(sent)

    def _route(self, method: str, path: str, body: bytes, signed_in: bool, query: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        routes: list[tuple[str, str, Callable[..., Any]]] = [
            ("POST", r"/api/repos/create", self._create),
            ("POST", r"/api/validate-yaml", lambda _: {"errors": [], "warnings": []}),
            ("POST", r"/api/models/([^/]+/[^/]+)/branch/(.+)", self._branch),
            ("POST", r"/api/models/([^/]+/[^/]+)/preupload/(.+)", self._preupload),
            ("POST", r"/api/models/([^/]+/[^/]+)/commit/(.+)", self._commit),
            ("POST", r"/([^/]+/[^/]+)\.git/info/lfs/objects/batch", self._batch),
            ("PUT", r"/large/(\w+)", self._put),
        ]
        for wanted, pattern, answer in routes:
            if method == wanted and (found := re.fullmatch(pattern, path)):
                if not signed_in and not path.startswith("/large/"):
                    raise RefusedError(401, message="Invalid username or password.")
                content = answer(body, *found.groups())
                return content if isinstance(content, tuple) else (200, content, {})
        if found := re.fullmatch(r"/large/(\w+)", path):
            return 200, self.uploaded[found[1]], {}
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+?)(?:/revision/(.+))?", path):
            name, revision = found[1], found[2] or "main"
            repository, sha = self._readable(name, revision, signed_in)
            return 200, {"id": name, "sha": sha, "private": repository.private, "siblings": []}, {}
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)/?", path):
            repository, sha = self._readable(found[1], found[2], signed_in)
            return 200, [self._entry(name, content) for name, content in repository.commits[sha].items()], {}
        if found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            repository, sha = self._readable(found[1], found[2], signed_in)
            return self._file(repository.commits[sha], found[3], sha)
        raise RefusedError(404)

    def _readable(self, name: str, revision: str, signed_in: bool) -> tuple[Repository, str]:
        repository = self.repositories.get(name)
        if repository is None or (repository.private and not signed_in):
            raise RefusedError(404 if signed_in else 401, "RepoNotFound")
        if repository.gated and not signed_in:
            raise RefusedError(403, "GatedRepo")
        sha = repository.find(revision)
        if sha is None:
            raise RefusedError(404, "RevisionNotFound")
        return repository, sha

    def _entry(self, path: str, content: bytes) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": blob_id(content)}
        if path.endswith(LARGE):
            entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
        return entry

    def _file(self, files: Files, path: str, sha: str) -> tuple[int, Any, dict[str, str]]:
        if path not in files:
            raise RefusedError(404, "EntryNotFound")
        content = files[path]
        if not path.endswith(LARGE):
            return 200, content, {"ETag": f'"{blob_id(content)}"', "X-Repo-Commit": sha, "Content-Type": "text/plain"}
        oid = hashlib.sha256(content).hexdigest()
        self.uploaded[oid] = content
        linked = {"X-Linked-Etag": f'"{oid}"', "X-Linked-Size": str(len(content)), "X-Repo-Commit": sha}
        return 302, b"", {"Location": f"{self.endpoint.replace('127.0.0.1', 'localhost')}/large/{oid}", **linked}  # as to another host

    def _create(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        given = json.loads(body)
        name = f"{given['organization']}/{given['name']}"
        if given["organization"] != OWNER:
            raise RefusedError(403, message="You don't have the rights to create a model under this namespace")
        if name in self.repositories:
            return 409, {"error": "You already created this model repo", "url": f"{self.endpoint}/{name}"}, {}
        self.add(name, {".gitattributes": b"*.onnx filter=lfs\n"}, private=given.get("visibility") == "private")
        return 200, {"url": f"{self.endpoint}/{name}"}, {}

    def _branch(self, _body: bytes, name: str, branch: str) -> tuple[int, Any, dict[str, str]]:
        repository = self.repositories[name]
        if branch in repository.branches:
            return 409, {"error": "exists"}, {}
        repository.branches[branch] = repository.branches["main"]
        return 200, {}, {}

    def _preupload(self, body: bytes, name: str, revision: str) -> Any:
        there = self.repositories[name].commits[self.repositories[name].branches[revision]]
        return {
            "files": [
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if file["path"].endswith(LARGE) else "regular",
                    "shouldIgnore": False,
                    "oid": self._oid(file["path"], there[file["path"]]) if file["path"] in there else None,
                }
                for file in json.loads(body)["files"]
            ]
        }

    def _oid(self, path: str, content: bytes) -> str:
        return hashlib.sha256(content).hexdigest() if path.endswith(LARGE) else blob_id(content)

    def _batch(self, body: bytes, _name: str) -> Any:
        objects = json.loads(body)["objects"]
        upload = [{**each, "actions": {"upload": {"href": f"{self.endpoint}/large/{each['oid']}"}}} for each in objects]
        return {"transfer": "basic", "objects": upload}

    def _put(self, body: bytes, oid: str) -> Any:
        assert hashlib.sha256(body).hexdigest() == oid
        self.uploaded[oid] = body
        return {}

    def _commit(self, body: bytes, name: str, branch: str) -> Any:
        repository = self.repositories[name]
        files, message = dict(repository.commits[repository.branches[branch]]), ""
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "header":
                message = value["summary"]
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.uploaded[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        sha = repository.commit(branch, files, message)
        return {"success": True, "commitOid": sha, "commitUrl": f"{self.endpoint}/{name}/commit/{sha}"}


def blob_id(content: bytes) -> str:
    """Git's."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
