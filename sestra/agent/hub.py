"""Agents on the Hugging Face hub: a repository there holds an agent's folder, and nothing of it is executed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from sestra.agent.folder import ABOUT
from sestra.errors import InputError, shortened
from sestra.io import read_json
from sestra.version import __version__

PATTERNS = ("*.json", "*.onnx", "*.md")
"""The files of an agent; whatever else a repository holds is neither downloaded nor changed."""
MAX_NAME_LENGTH = 96
MAX_REVISION_LENGTH = 250
SIGN_IN = "sign in with 'hf auth login', or set HF_TOKEN to a token that has the rights"

_PART = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"


def is_repository(name: str | Path) -> bool:
    """Whether an agent's name is that of a repository: ``owner/name``, and there is no such file or folder here.

    >>> is_repository("owner/name"), is_repository("./name"), is_repository("alchemy"), is_repository("owner/name/more")
    (True, False, False, False)
    """
    return isinstance(name, str) and bool(re.fullmatch(r"[^/.~][^/]*/[^/]+", name)) and not os.path.lexists(name)


def download(repository: str, revision: str | None = None, cache: str | Path | None = None) -> Path:
    """The folder of the agent, in the hub's cache; ``revision`` is a branch, a tag or a commit.

    What was downloaded before is used if the hub cannot be reached, or must not be (HF_HUB_OFFLINE).
    """
    _check_names(repository, revision)
    _import(repository)
    from huggingface_hub import snapshot_download

    with _explained(repository, revision):
        options = {"cache_dir": cache, "library_name": "sestra", "library_version": __version__, "tqdm_class": _hidden_progress()}
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=[ABOUT], **options))
        _check_agent(folder, repository)  # before files that may be large, and of something else
        return Path(snapshot_download(repository, revision=folder.name, allow_patterns=list(PATTERNS), **options))


def push(
    folder: Path,
    repository: str,
    *,
    private: bool = False,
    branch: str | None = None,
    commit_message: str = "An agent of sestra",
    token: str | None = None,
) -> str:
    """Make the agent's folder the content of the repository, which is created if there is none; the address of the commit.

    Files of an agent that the folder does not have are deleted from the repository, so that it never holds parts of two agents.
    """
    _check_names(repository, branch)
    _import(repository)
    _check_agent(folder, str(folder))
    if not commit_message.strip():
        raise InputError(f"commit_message={commit_message!r}; expected some words")
    from huggingface_hub import HfApi

    with _explained(repository, branch):
        api = HfApi(token=token, library_name="sestra", library_version=__version__)
        api.create_repo(repository, private=private, exist_ok=True)
        if private and api.model_info(repository).private is False:
            raise InputError(f"{repository}: is public, but private=True; make it private on the hub, or push to another repository")
        if branch is not None and branch != "main":
            api.create_branch(repository, branch=branch, exist_ok=True)
        patterns = list(PATTERNS)
        commit = api.upload_folder(
            repo_id=repository,
            folder_path=folder,
            revision=branch,
            commit_message=commit_message,
            allow_patterns=patterns,
            delete_patterns=patterns,
        )
        return str(commit.commit_url)


def _check_names(repository: str, revision: str | None) -> None:
    """Raise InputError unless they can be a repository's and a revision's; they become parts of addresses and of paths."""
    right = re.fullmatch(f"{_PART}/{_PART}", repository) and len(repository) <= MAX_NAME_LENGTH
    if not right or re.search(r"\.\.|--|\.git$", repository):
        raise InputError(
            f"{shortened(repr(repository))}: is neither a folder nor a repository of the hub; expected owner/name, at most "
            f"{MAX_NAME_LENGTH} letters, digits, '-', '_' and '.'"
        )
    if revision is None:
        return
    if not re.fullmatch(f"{_PART}(?:/{_PART})*", revision) or ".." in revision or len(revision) > MAX_REVISION_LENGTH:
        raise InputError(
            f"{repository}: revision {shortened(revision)!r}; expected a branch, a tag or a commit, at most {MAX_REVISION_LENGTH} "
            "letters, digits, '-', '_', '.' and '/'"
        )


def _import(repository: str) -> None:
    try:
        import_module("huggingface_hub")
    except ImportError as error:
        raise InputError(
            f"{repository}: there is no such folder, and the hub needs the package huggingface_hub; "
            "install it with: pip install 'sestra[hub]'"
        ) from error


def _hidden_progress() -> Any:
    """A progress bar that is never shown; agents are small, and often found in the cache."""
    bar: Any = import_module("huggingface_hub.utils").tqdm
    return type("Hidden", (bar,), {"__init__": lambda self, *given, **options: bar.__init__(self, *given, **{**options, "disable": True})})


def _check_agent(folder: Path, place: str) -> None:
    """Raise InputError unless the folder is an agent's, and one that needs no code from elsewhere."""
    described = read_json(folder / ABOUT) if (folder / ABOUT).is_file() else None
    if not isinstance(described, dict) or not isinstance(described.get("world"), str):
        raise InputError(f"{place}: is not an agent (there is no {ABOUT} that names a world); expected a folder that 'sestra export' wrote")
    reference = described["world"]
    if ":" in reference:
        raise InputError(
            f"{place}: refers to the code {shortened(reference, 200)!r}; an agent on the hub can only use worlds that are built in or "
            "installed as a plug-in, by name: code must not come with data"
        )


@contextmanager
def _explained(repository: str, revision: str | None) -> Iterator[None]:
    """Whatever the hub, the network and the disk do wrong, as one line that says what to do."""
    from httpx2 import HTTPError
    from huggingface_hub import constants, errors

    at = f"revision {revision!r}" if revision else "it"
    try:
        yield
    except InputError:
        raise
    except errors.LocalEntryNotFoundError as error:
        why = "HF_HUB_OFFLINE is set" if constants.is_offline_mode() else _reason(error.__cause__ or error)
        raise InputError(
            f"{repository}: there is no such folder, the hub at {constants.ENDPOINT} cannot be asked ({why}), and {at} is not in the "
            "cache; download it once with a connection"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise InputError(f"{repository}: has no {at}; expected a branch, a tag or a commit of the repository") from error
    except errors.GatedRepoError as error:
        raise InputError(f"{repository}: not authorised (it is gated); ask its owner for access, then {SIGN_IN}") from error
    except errors.RepositoryNotFoundError as error:
        raise InputError(
            f"{repository}: neither a folder nor a repository at {constants.ENDPOINT} that you may read; check the name, or, if it is "
            f"private, {SIGN_IN}"
        ) from error
    except (HTTPError, OSError, LookupError, RuntimeError, TypeError, ValueError, AssertionError, errors.EntryNotFoundError) as error:
        if isinstance(error, errors.HfHubHTTPError) and error.response.status_code in (401, 403):
            raise InputError(f"{repository}: not authorised ({_reason(error)}); {SIGN_IN}") from error
        raise InputError(f"{repository}: the hub at {constants.ENDPOINT} failed ({_reason(error)}); try again later") from error


def _reason(error: BaseException) -> str:
    """What went wrong, in a few words."""
    from httpx2 import TransportError
    from huggingface_hub.errors import HfHubHTTPError

    if isinstance(error, HfHubHTTPError):
        return f"the hub answered {error.response.status_code}"
    said = shortened(" ".join(str(error).split()) or repr(error), 200)
    return f"no connection: {said}" if isinstance(error, TransportError) else said
