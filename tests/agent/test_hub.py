"""Agents on the hub, which is a server on this machine that answers as the Hugging Face hub does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agents import STATES, random_agent, write_random_agent
from hub_server import TOKEN

from sestra.agent import Agent, hub
from sestra.errors import InputError

huggingface_hub = pytest.importorskip("huggingface_hub", reason="needs the extra: pip install '.[hub]'")

REPOSITORY = "owner/agent"
FOLDER = {
    "agent.json": b'{"world": "alchemy", "horizon": 8}',
    "vocab.json": b'["beaker"]',
    "step-1.onnx": b"a graph\0" * 50,
    "README.md": b"---\nlicense: mit\n---\n# An agent\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent").mkdir()
    for name, content in FOLDER.items():
        (tmp_path / "agent" / name).write_bytes(content)
    return tmp_path / "agent"


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failure(*arguments: object, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        hub.download(*arguments, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    return str(caught.value)


def push_failure(folder: Path, repository: str = REPOSITORY, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        hub.push(folder, repository, **{"token": TOKEN, **options})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    return str(caught.value)


def test_what_is_pushed_is_downloaded(hub_server, folder, capfd):
    address = hub.push(folder, REPOSITORY, commit_message="Our first agent", token=TOKEN)
    repository = hub_server.repositories[REPOSITORY]
    assert address == f"{hub_server.endpoint}/{REPOSITORY}/commit/{repository.branches['main']}"
    assert repository.messages == ["first", "Our first agent"]
    assert not repository.private
    capfd.readouterr()
    assert content(hub.download(REPOSITORY)) == FOLDER
    assert capfd.readouterr() == ("", "")


def test_an_agent_is_pushed_and_used(hub_server, tmp_path):
    """All that it says, and the name by which it was asked for."""
    agent = Agent.from_pretrained(write_random_agent(tmp_path / "mine"))
    agent.push_to_hub(REPOSITORY, token=TOKEN)
    shared = Agent.from_pretrained(REPOSITORY, cache_dir=tmp_path / "elsewhere")
    assert (shared.name, shared.card, shared.about) == (REPOSITORY, agent.card, agent.about)
    instructions = ["throw out first beaker", "pour sixth beaker into last one"]
    assert shared.follow(STATES["alchemy"], instructions) == agent.follow(STATES["alchemy"], instructions)
    assert (tmp_path / "elsewhere" / "models--owner--agent").is_dir()
    assert not (tmp_path / "cache").exists()


def test_revisions(hub_server, folder):
    hub.push(folder, REPOSITORY, token=TOKEN)
    first = hub_server.repositories[REPOSITORY].branches["main"]
    (folder / "vocab.json").write_bytes(b'["person"]')
    hub.push(folder, REPOSITORY, branch="next", token=TOKEN)
    hub.push(folder, REPOSITORY, branch="next", token=TOKEN)  # nothing has changed
    assert {name: (hub.download(REPOSITORY, name) / "vocab.json").read_bytes() for name in ("main", "next", first)} == {
        "main": b'["beaker"]',
        "next": b'["person"]',
        first: b'["beaker"]',
    }


def test_the_repository_never_holds_parts_of_two_agents(hub_server, folder):
    hub.push(folder, REPOSITORY, token=TOKEN)
    hub_server.repositories[REPOSITORY].commit("main", {**FOLDER, "LICENSE": b"mine", "photo.png": b"mine"}, "by hand")
    (folder / "step-1.onnx").rename(folder / "step-2.onnx")
    (folder / "notes.txt").write_text("not part of an agent")
    hub.push(folder, REPOSITORY, token=TOKEN)
    [*_, now] = hub_server.repositories[REPOSITORY].commits.values()
    assert set(now) == {"agent.json", "vocab.json", "step-2.onnx", "README.md", "LICENSE", "photo.png"}


def test_files_that_an_agent_does_not_have_are_not_downloaded(hub_server):
    hub_server.add(REPOSITORY, {**FOLDER, "model.bin": b"a pickle", "code.py": b"raise SystemExit", "setup.sh": b"exit 1"})
    assert content(hub.download(REPOSITORY)) == FOLDER


def test_nothing_is_fetched_twice(hub_server, folder):
    hub_server.add(REPOSITORY, FOLDER)
    hub.download(REPOSITORY)
    assert sum("/resolve/" in request for request in hub_server.requests) >= len(FOLDER)
    hub_server.requests.clear()
    hub.download(REPOSITORY)
    assert hub_server.requests == [f"GET /api/models/{REPOSITORY}/revision/main"]


def test_the_cache_is_used_while_the_hub_is_away(hub_server):
    sha = hub_server.add(REPOSITORY, FOLDER).branches["main"]
    before = hub.download(REPOSITORY)
    hub_server.broken = 503
    assert hub.download(REPOSITORY) == before
    hub_server.stop()
    assert hub.download(REPOSITORY) == hub.download(REPOSITORY, sha) == before
    assert content(before) == FOLDER


@contextmanager
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        huggingface_hub.close_session()  # a session looks at the setting when it is made
        yield
    huggingface_hub.close_session()


def test_the_hub_is_not_asked_if_it_must_not_be(hub_server, folder, monkeypatch):
    hub_server.add(REPOSITORY, FOLDER)
    before = hub.download(REPOSITORY)
    hub_server.requests.clear()
    with offline(monkeypatch):
        assert hub.download(REPOSITORY) == before
        assert "HF_HUB_OFFLINE is set), and it is not in the cache" in failure("owner/other")
        assert "and revision 'next' is not in the cache" in failure(REPOSITORY, "next")
        assert "offline mode is enabled" in push_failure(folder)
    assert hub_server.requests == []


def test_half_a_download_is_not_used(hub_server, monkeypatch):
    hub_server.add(REPOSITORY, FOLDER)
    link = hub.download(REPOSITORY) / "step-1.onnx"
    link.resolve().unlink()
    link.unlink()
    with offline(monkeypatch):
        assert "HF_HUB_OFFLINE is set), and it is not in the cache" in failure(REPOSITORY)
    assert content(hub.download(REPOSITORY)) == FOLDER


# Errors.


def test_no_connection_and_not_in_the_cache(hub_server):
    hub_server.stop()
    found = failure(REPOSITORY)
    assert found.startswith(f"{REPOSITORY}: there is no such folder, the hub at {hub_server.endpoint} cannot be asked (no connection: ")
    assert found.endswith("), and it is not in the cache; download it once with a connection")


def test_the_hub_is_down(hub_server, folder):
    hub_server.broken = 500
    assert "the hub answered 500" in failure(REPOSITORY)
    assert "the hub answered 500" in push_failure(folder)


def test_no_such_repository(hub_server):
    assert "owner/agent: neither a folder nor a repository at http://127.0.0.1" in failure(REPOSITORY)


def test_no_such_revision(hub_server):
    hub_server.add(REPOSITORY, FOLDER)
    assert failure(REPOSITORY, "v9") == f"{REPOSITORY}: has no revision 'v9'; expected a branch, a tag or a commit of the repository"
    assert f"has no revision '{'0' * 40}'" in failure(REPOSITORY, "0" * 40)


def test_not_authorised(hub_server, folder, monkeypatch):
    hub_server.add("owner/private", FOLDER, private=True)
    assert "if it is private, sign in with 'hf auth login'" in failure("owner/private")
    hub_server.add("owner/gated", FOLDER, gated=True)
    assert "owner/gated: not authorised (it is gated)" in failure("owner/gated")
    assert "owner/agent: not authorised (the hub answered 401)" in push_failure(folder, token="hf_other")
    assert "somebody/agent: not authorised (the hub answered 403)" in push_failure(folder, "somebody/agent")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert content(hub.download("owner/private")) == content(hub.download("owner/gated")) == FOLDER


def test_a_public_repository_is_not_taken_for_a_private_one(hub_server, folder):
    hub.push(folder, REPOSITORY, private=True, token=TOKEN)
    assert hub_server.repositories[REPOSITORY].private
    hub_server.add("owner/public", FOLDER)
    assert "owner/public: is public, but private=True" in push_failure(folder, "owner/public", private=True)
    assert len(hub_server.repositories["owner/public"].commits) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": b"# A dataset\n", "large.onnx": b"0"},
        {"config.json": b'{"model_type": "bert"}', "large.onnx": b"0"},
        {"config.json": b'{"world": "alchemy"}', "model.safetensors": b"0", "large.onnx": b"0"},
        {"agent.json": b"[]", "large.onnx": b"0"},
        {"agent.json": b'{"world": 5}', "large.onnx": b"0"},
        {".gitattributes": b""},
    ],
)
def test_not_an_agent(hub_server, folder, files):
    hub_server.add(REPOSITORY, files)
    assert failure(REPOSITORY).startswith(f"{REPOSITORY}: is not an agent")
    assert not any("large.onnx" in request for request in hub_server.requests), "it may be very large"
    (folder / "agent.json").unlink()
    assert "is not an agent" in push_failure(folder)


@pytest.mark.parametrize("damaged", [b'{"world": ', b"\xff", b"[" * 100_000, b'{"world": ' + b"9" * 5000 + b"}"])
def test_a_damaged_description(hub_server, damaged):
    hub_server.add(REPOSITORY, {**FOLDER, "agent.json": damaged})
    assert "agent.json: is not JSON" in failure(REPOSITORY)


def test_how_it_was_trained_is_not_what_it_needs(hub_server):
    about = {"world": "alchemy", "training": {"config": {"policy": {"name": "code.py:Policy"}}}}
    files = {**FOLDER, "agent.json": json.dumps(about).encode()}
    hub_server.add(REPOSITORY, files)
    assert content(hub.download(REPOSITORY)) == files


@pytest.mark.parametrize("code", ["code.py:World", "/tmp/code.py:World", "antigravity:World", "../code.py:World"])
def test_code_is_not_run(hub_server, folder, code):
    """Neither what a repository holds nor what it points to."""
    about = json.dumps({"world": code})
    hub_server.add(REPOSITORY, {**FOLDER, "agent.json": about.encode(), "code.py": b"raise SystemExit"})
    assert f"refers to the code {code!r}" in failure(REPOSITORY)
    (folder / "agent.json").write_text(about)
    assert f"refers to the code {code!r}" in push_failure(folder)


def test_a_file_outside_of_the_folder_is_not_written(hub_server, tmp_path):
    hub_server.add(REPOSITORY, {**FOLDER, "../../../../../../escaped.json": b"{}"})
    failure(REPOSITORY)
    assert not list(tmp_path.rglob("escaped.json"))


@pytest.mark.parametrize(
    "name",
    [
        *["owner", "owner/name/more", "/name", "owner/", "../name", "./name", "~/name", "owner/..", "owner/a..b", "owner/a--b"],
        *[
            "owner/a b",
            "owner/name.git",
            "owner/-name",
            "owner/name\n",
            "owner/näme",
            "owner/name\0",
            "",
            "o" * 5000,
            "owner/" + "n" * 5000,
        ],
    ],
)
def test_names_that_no_repository_has(hub_server, folder, name):
    assert "expected owner/name" in failure(name)
    assert "expected owner/name" in push_failure(folder, name)
    with pytest.raises(InputError) as caught:
        Agent.from_pretrained(name)
    assert len(str(caught.value)) < 500
    assert hub_server.requests == []


@pytest.mark.parametrize("revision", ["", "..", "../main", "/main", "main/", "a//b", "a/../b", "v" * 5000, "a b", "main\n", "refs/heads/"])
def test_revisions_that_no_repository_has(hub_server, folder, revision):
    assert "expected a branch, a tag or a commit" in failure(REPOSITORY, revision)
    assert "expected a branch, a tag or a commit" in push_failure(folder, branch=revision)
    assert hub_server.requests == []


def test_a_folder_comes_before_a_repository(hub_server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_random_agent(tmp_path / "owner" / "agent")
    assert Agent.from_pretrained(REPOSITORY).name == "agent"
    with pytest.raises(InputError, match="has no revision, since it is not a repository"):
        Agent.from_pretrained(REPOSITORY, revision="main")
    with pytest.raises(InputError, match="has no cache_dir, since it is not a repository"):
        Agent.from_pretrained("alchemy", cache_dir=tmp_path)
    assert hub_server.requests == []


def test_without_the_package(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert failure("runs/scene-1") == (
        "runs/scene-1: there is no such folder, and the hub needs the package huggingface_hub; install it with: pip install 'sestra[hub]'"
    )
    assert "pip install 'sestra[hub]'" in push_failure(folder)


def test_a_cache_that_cannot_be_written(hub_server, tmp_path):
    hub_server.add(REPOSITORY, FOLDER)
    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in failure(REPOSITORY, None, tmp_path / "file")


def test_a_commit_needs_words(folder):
    assert "commit_message=' '" in push_failure(folder, commit_message=" ")


def test_small_files_are_pushed_with_xet_installed(hub_server, folder, monkeypatch):
    """The uploads then take another way through huggingface_hub."""
    pytest.importorskip("hf_xet")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", False)
    (folder / "step-1.onnx").unlink()
    hub.push(folder, REPOSITORY, token=TOKEN)
    assert set(content(hub.download(REPOSITORY))) == set(FOLDER) - {"step-1.onnx"}


def test_settings_come_from_the_environment(hub_server, tmp_path):
    """In processes of their own: HF_ENDPOINT, HF_TOKEN, HF_HOME and HF_HUB_OFFLINE."""
    random_agent().push_to_hub(REPOSITORY, private=True, token=TOKEN)
    environment = {**os.environ, "HF_ENDPOINT": hub_server.endpoint, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "sestra", "run", "--agent", REPOSITORY, "--state", STATES["alchemy"], "throw out first beaker"]

    def run(**settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env={**environment, **settings}, capture_output=True, text=True, check=False)

    first = run()
    assert first.returncode == 0, first.stderr
    requests = len(hub_server.requests)
    again = run(HF_HUB_OFFLINE="1")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert len(hub_server.requests) == requests
    refused = run(HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path / "empty"))
    assert refused.returncode == 2
    assert refused.stderr.strip().splitlines()[-1].endswith("is not in the cache; download it once with a connection")
