"""``sestra data``: check, download, count, generate and draw interactions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from sestra.cli.options import (
    OptionalFile,
    OptionalFolder,
    OptionalNumber,
    OptionalText,
    OptionalWorldName,
    SplitName,
    Switch,
    WorldName,
    print_json,
)
from sestra.cli.stats import Stats
from sestra.data import locate, scone
from sestra.data.download import SHA256, URL, Limits, download
from sestra.errors import InputError, check_number
from sestra.io import write_text
from sestra.worlds import WORLDS, World, get_world


@dataclass(frozen=True)
class Check:
    """Read files strictly and list everything that is wrong with them; the exit status is 1 if anything is."""

    files: tyro.conf.Positional[Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE...", help_behavior_hint="")]]
    """Tab-separated files, such as alchemy-train.tsv."""
    world: OptionalWorldName = None
    """The files' world; by default what each file's name begins with."""
    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        if not self.files:
            raise InputError("no file to check; expected at least one, such as 'sestra data check alchemy-train.tsv'")
        problems: list[str] = []
        sound: list[dict[str, Any]] = []
        for path in self.files:
            try:
                world = get_world(self.world or scone.world_of(path))
                interactions = scone.read(path, world)
            except InputError as error:
                problems += str(error).splitlines()
                continue
            instructions = sum(len(interaction.instructions) for interaction in interactions)
            unknown = sum(interaction.states.count(None) for interaction in interactions)
            sound.append(
                {
                    "file": str(path),
                    "world": world.name,
                    "interactions": len(interactions),
                    "instructions": instructions,
                    "unknown": unknown,
                }
            )
        if self.json:
            print_json({"files": sound, "problems": problems})
            return bool(problems)
        for file in sound:
            counts = f"{file['interactions']:,} interactions, {file['instructions']:,} instructions, {file['unknown']:,} unknown states"
            sys.stdout.write(f"{file['file']}: {counts} of {file['world']}: all right\n")
        for problem in problems:
            sys.stderr.write(f"{problem}\n")
        if problems:
            sys.stderr.write(f"problems: {len(problems):,}, in {len(self.files) - len(sound)} of {len(self.files)} files\n")
        return bool(problems)


@dataclass(frozen=True)
class Download:
    """Fetch SCONE's release and verify the checksum of each file; files that are there already are not fetched again."""

    to: OptionalFolder = None
    """The folder to put the files in; by default one in your cache, where every command looks."""
    url: str = URL
    """Where the release's archive is."""
    timeout: float = Limits.silence
    """Seconds without a byte from the server before giving up."""
    replace: Switch = False
    """Overwrite files that are in the folder but differ from the release."""

    def run(self) -> int:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        if not 0 < self.timeout <= 86_400:
            raise InputError(f"--timeout {self.timeout}: expected seconds, more than 0 and at most a day (86400)")
        folder = self.to or locate.default_folder()
        columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("scone.zip", total=None)
            fetched = download(
                folder,
                url=self.url,
                replace=self.replace,
                limits=Limits(silence=self.timeout),
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        sys.stdout.write(
            f"{folder}: {len(fetched)} files fetched, {len(SHA256) - len(fetched)} there already; all {len(SHA256)} verified\n"
        )
        if self.to is not None:
            sys.stdout.write(f"Other commands find it with --data {folder} or {locate.VARIABLE}={folder}\n")
        return 0


@dataclass(frozen=True)
class Generate:
    """Write interactions made by a grammar, in SCONE's file format; the same seed writes the same file."""

    world: WorldName
    """The world they happen in."""
    count: int = 100
    """How many interactions."""
    seed: int = 0
    """Decides everything that is random."""
    out: OptionalFile = None
    """The file to write; by default they are printed."""

    def run(self) -> int:
        from rich.console import Console
        from rich.progress import track

        from sestra.data.synthetic import stream

        if self.count < 1:
            raise InputError(f"--count {self.count}: expected at least 1 interaction")
        world = get_world(self.world)
        interactions = stream(world, self.count, seed=self.seed)
        if self.out is None:
            sys.stdout.writelines(f"{scone.format_line(interaction, world)}\n" for interaction in interactions)
        else:
            console = Console(stderr=True)
            shown = track(interactions, "generating", self.count, console=console, transient=True, disable=not console.is_terminal)
            scone.write(self.out, world, shown)
            sys.stdout.write(f"{self.out}: {self.count:,} interactions of {world.name} written\n")
        return 0


@dataclass(frozen=True)
class Show:
    """Draw an interaction: each instruction, the fewest actions that execute it, and the state after it."""

    file: tyro.conf.Positional[Annotated[Path | None, tyro.conf.arg(metavar="[FILE]", help_behavior_hint="")]] = None
    """A tab-separated file; by default SCONE's, or a generated interaction where SCONE is absent."""
    world: OptionalWorldName = None
    """The world; by default what the file's name begins with, else alchemy."""
    split: SplitName = "dev"
    """Which of SCONE's splits."""
    index: OptionalNumber = None
    """Which interaction, counted from 0; by default the first."""
    id: OptionalText = None
    """Which interaction, by its identifier (the first that has it)."""
    data: OptionalFolder = None
    """The folder with SCONE's files; by default SCONE_DATA or your cache."""
    svg: OptionalFile = None
    """Also write the states as a picture (SVG)."""
    png: OptionalFile = None
    """Also write the states as a picture (PNG)."""

    def run(self) -> int:
        if self.index is not None and self.id is not None:
            raise InputError(f"--index {self.index} and --id {self.id} both say which interaction; give one of them")
        if self.index is not None:
            check_number("--index", self.index, 0, 999_999)
        if self.split not in scone.SPLITS:
            raise InputError(f"--split {self.split}: expected one of {', '.join(scone.SPLITS)}")
        world = get_world(self.world or (scone.world_of(self.file) if self.file else WORLDS.names()[0]))
        source, interactions = self._interactions(world)
        interaction = self._choose(source, interactions)
        self._write_pictures(world, interaction)
        from rich.console import Console

        from sestra.cli.demo import show_interaction

        console = Console(highlight=False)
        console.print(f"{interaction.id} ({source})", markup=False)
        show_interaction(console, world, interaction)
        return 0

    def _write_pictures(self, world: World[Any], interaction: scone.Interaction) -> None:
        """A frame for each state that is known, under the instructions since the one before."""
        frames: list[tuple[str, scone.State]] = []
        said: list[str] = []
        for sentence, state in zip(("start", *interaction.instructions), interaction.states, strict=True):
            said.append(sentence)
            if state is not None:
                frames.append(("; ".join(said), state))
                said = []
        if self.svg is not None:
            from sestra.drawing import draw_strip_svg

            write_text(self.svg, draw_strip_svg(world, frames))
        if self.png is not None:
            from sestra.drawing import write_png

            write_png(world, frames, self.png)

    def _interactions(self, world: World[Any]) -> tuple[str, list[scone.Interaction]]:
        if self.file is not None:
            return str(self.file), scone.read(self.file, world)
        if locate.find(self.data) is not None:
            return f"{world.name}-{self.split}.tsv", locate.read_split(world, self.split, self.data)
        from sestra.data.synthetic import generate

        return "generated, because SCONE was not found", generate(world, max(0, self.index or 0) + 1, seed=0)

    def _choose(self, source: str, interactions: list[scone.Interaction]) -> scone.Interaction:
        if self.id is None:
            index = self.index or 0
            if not 0 <= index < len(interactions):
                raise InputError(f"{source}: has no interaction {index}; expected --index from 0 to {len(interactions) - 1}")
            return interactions[index]
        for interaction in interactions:
            if interaction.id == self.id:
                return interaction
        raise InputError(f"{source}: no interaction is called {self.id!r}; expected one like {interactions[0].id!r}")


@dataclass(frozen=True)
class DataCommand:
    """Check, download, count, generate and draw interactions."""

    command: (
        Annotated[Check, tyro.conf.subcommand("check")]
        | Annotated[Download, tyro.conf.subcommand("download")]
        | Annotated[Stats, tyro.conf.subcommand("stats")]
        | Annotated[Generate, tyro.conf.subcommand("generate")]
        | Annotated[Show, tyro.conf.subcommand("show")]
    )

    def run(self) -> int:
        return self.command.run()
