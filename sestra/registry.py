"""Plug-ins by name: worlds, policies and learners that are built in, registered in Python, installed, or lie in a file.

A reference is a name (``alchemy``), ``package.module:Class`` or ``path/to/file.py:Class``. Installed packages add names through the entry
points of a registry's group.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from sestra.errors import InputError, shortened

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Classes of one kind by name; nothing is imported before it is asked for."""

    def __init__(self, kind: str, group: str, built_in: Mapping[str, str], fits: Callable[[Any], bool], expected: str) -> None:
        self.kind, self.group, self._fits, self._expected = kind, group, fits, expected
        self._built_in = dict(built_in)
        self._registered: dict[str, Item] = {}
        self._references: dict[Item, str] = {}
        """How each class that was found can be found again."""
        self.listeners: list[Callable[[str], object]] = []
        """Functions of a name, called for each one that is registered from then on."""

    def names(self) -> list[str]:
        """The names that can be given: those built in, then installed ones, then those registered in this process."""
        return list(dict.fromkeys([*self._built_in, *_installed(self.group), *self._registered]))

    def register(self, name: str, item: Item) -> Item:
        """Make a class known by a name in this process, and in the workers that it starts.

        Other processes find it where it is defined, if that is at the top level of a file or a package.
        """
        self._check(item, name)
        self._registered[name] = item
        if ":" not in self._references.get(item, ""):
            self._references[item] = _definition(item) or name
        for listener in self.listeners:
            listener(name)
        return item

    def get(self, reference: str) -> Item:
        """The class that a reference names; InputError where there is none."""
        if not isinstance(reference, str) or not reference:
            raise InputError(f"{shortened(repr(reference))} is not the name of a {self.kind}; expected one of {', '.join(self.names())}")
        found: Any
        if reference in self._registered:
            found = self._registered[reference]
        else:
            found = next((item for item, known in self._references.items() if known == reference), None)
            if found is None:
                found, reference = self._load(reference)
        self._check(found, reference)
        self._references.setdefault(found, reference)
        item: Item = found
        return item

    def reference(self, item: Item) -> str:
        """What ``get`` finds the class by, in this process and in another: its name, or where it is defined.

        A class in a script or a session that is no file is only found once it is registered.
        """
        if item not in self._references:
            for name in self.names():
                self.get(name)
        if item not in self._references:
            place = _definition(item)
            if not place:
                raise InputError(
                    f"{self.kind} {getattr(item, '__qualname__', item)}: is not defined at the top level of a file, so that no other "
                    "process finds it; move it to a file, or register it under a name, which is known in this process alone"
                )
            self._references[item] = place
        return self._references[item]

    def registered(self) -> dict[str, Item]:
        """What this process registered itself; a worker in another process has to be given it."""
        return dict(self._registered)

    def _load(self, reference: str) -> tuple[Any, str]:
        """The class, and the reference by which it is stored: a name if it has one, else a file's path made absolute."""
        places = self._built_in | {name: entry.value for name, entry in _installed(self.group).items()}
        name = next((name for name, place in places.items() if reference in (name, place)), "")
        where, _, attribute = places.get(name, reference).rpartition(":")
        if not where:
            raise InputError(
                f"unknown {self.kind} {shortened(reference)!r}; expected one of {', '.join(self.names())}, path/to/file.py:Class or "
                "package.module:Class"
            )
        if where.endswith(".py"):
            where = str(Path(where).resolve())
        try:
            return _attribute(where, attribute), name or f"{where}:{attribute}"
        except InputError as error:
            raise InputError(f"{self.kind} {shortened(reference, 200)!r}: {error}") from error

    def _check(self, found: Any, reference: str) -> None:
        if not self._fits(found):
            raise InputError(f"{self.kind} {shortened(reference, 200)!r}: is {shortened(repr(found))}; expected {self._expected}")


def _definition(item: Any) -> str:
    """Where another process finds a class: in a package, or in a file with its absolute path; empty where it cannot."""
    module = sys.modules.get(item.__module__)
    found: Any = module
    for part in item.__qualname__.split("."):
        found = getattr(found, part, None)
    if module is None or found is not item:  # within a function, or sent here by another process
        return ""
    if "." in item.__module__:
        return f"{item.__module__}:{item.__qualname__}"
    file = getattr(module, "__file__", None) or ""
    if file.endswith(".py"):
        return f"{Path(file).resolve()}:{item.__qualname__}"
    return "" if item.__module__ == "__main__" else f"{item.__module__}:{item.__qualname__}"


@cache
def _installed(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=group))}


def _attribute(where: str, name: str) -> Any:
    found: Any = _from_file(Path(where)) if where.endswith(".py") else _from_package(where)
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"{where} has no {name!r} in it; check the name after the colon")
        found = getattr(found, part)
    return found


def _from_package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except (ImportError, TypeError, ValueError) as error:  # TypeError: a relative name
        raise InputError(f"{name} cannot be imported ({error}); is it installed?") from error


def _from_file(path: Path) -> ModuleType:
    """The file as a module, the same one for the same path; with an ``__init__.py`` beside it, as a module of that package."""
    path = path.resolve()
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    package = path.with_name("__init__.py")
    try:
        if path == package or not package.is_file():
            return _module(path)
        return import_module(f"{_module(package).__name__}.{path.stem}")
    except (Exception, SystemExit) as error:
        raise InputError(f"{path}: cannot be imported ({type(error).__name__}: {error}); mend the file") from error


def _module(path: Path) -> ModuleType:
    package = path.name == "__init__.py"
    name = f"{path.parent.stem if package else path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)] if package else None)
    assert spec is not None  # a .py file has one, with a loader
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def absolute(reference: str) -> str:
    """A reference to a class in a file with the file's absolute path; any other as it is."""
    path, _, name = reference.rpartition(":")
    return f"{Path(path).resolve()}:{name}" if path.endswith(".py") else reference


def check_reference(reference: str, place: str, folder: Path | None) -> None:
    """Code must not come along with data: not from a relative path, nor from the folder that holds the configuration."""
    where, _, _ = reference.rpartition(":")
    if not where:
        return
    if where.endswith(".py") and not Path(where).is_absolute():
        raise InputError(f"{place} is {shortened(reference, 200)!r}; expected an absolute path: code must not come with data")
    if folder is not None and any(folder.resolve() in (path, *path.parents) for path in _places(where)):
        raise InputError(f"{place} is {shortened(reference, 200)!r}, code in the same folder; move it: code must not come with data")


def _places(where: str) -> list[Path]:
    """Where the code of a file or of a module is, found without importing anything."""
    if where.endswith(".py"):
        return [Path(where).resolve()]
    try:
        spec = find_spec(where.partition(".")[0])
    except (ImportError, ValueError):
        spec = None
    found = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    return [Path(place).resolve() for place in found if place]
