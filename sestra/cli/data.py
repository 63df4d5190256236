"""``sestra data``: check, download, count, generate and draw interactions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn
from rich.text import Text

from sestra.cli import options
from sestra.cli.outputs import Force, check_output
from sestra.cli.stats import Stats
from sestra.data import locate, scone
from sestra.data.download import SHA256, TIMEOUT, URL, download
from sestra.data.synthetic import generate
from sestra.drawing import changed, draw_terminal, strip_picture
from sestra.drawing.raster import save
from sestra.errors import InputError, check_number
from sestra.worlds import WORLDS, World, get_world


@dataclass(frozen=True)
class Check:
    """Read files strictly and list everything that is wrong with them; the exit status is 1 if anything is."""

    files: tyro.conf.Positional[Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE...", help_behavior_hint="")]]
    """Tab-separated files, such as alchemy-train.tsv."""
    world: options.OptionalWorldName = None
    """The files' world; by default what each file's name begins with."""
    json: options.Json = False

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
            counts = {
                "interactions": len(interactions),
                "instructions": sum(len(interaction.instructions) for interaction in interactions),
                "unknown": sum(interaction.states.count(None) for interaction in interactions),
            }
            sound.append({"file": str(path), "world": world.name, **counts})
        if self.json:
            options.print_json({"files": sound, "problems": problems})
            return bool(problems)
        for file in sound:
            sys.stdout.write(
                f"{file['file']}: {file['interactions']:,} interactions, {file['instructions']:,} instructions, "
                f"{file['unknown']:,} unknown states of {file['world']}: all right\n"
            )
        if problems:
            sys.stderr.writelines(f"{problem}\n" for problem in problems)
            sys.stderr.write(f"problems: {len(problems):,}, in {len(self.files) - len(sound)} of {len(self.files)} files\n")
        return bool(problems)


@dataclass(frozen=True)
class Download:
    """Fetch SCONE's release and verify the checksum of each file; files that are there already are not fetched again."""

    to: options.OptionalFolder = None
    """The folder to put the files in; by default one in your cache, where every command looks."""
    url: str = URL
    """Where the release's archive is."""
    timeout: float = TIMEOUT
    """Seconds without a byte from the server before giving up."""
    replace: options.Switch = False
    """Overwrite files that are in the folder but differ from the release."""

    def run(self) -> int:
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
                timeout=self.timeout,
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

    world: options.WorldName
    """The world they happen in."""
    count: int = 100
    """How many interactions."""
    seed: int = 0
    """Decides everything that is random."""
    out: options.OptionalFile = None
    """The file to write; by default they are printed."""
    force: Force = False

    def run(self) -> int:
        check_number("--count", self.count, 1, 10_000_000)
        check_output("--out", self.out, force=self.force)
        world = get_world(self.world)
        interactions = generate(world, self.count, seed=self.seed)
        if self.out is None:
            sys.stdout.writelines(f"{scone.format_line(interaction, world)}\n" for interaction in interactions)
        else:
            scone.write(self.out, world, interactions)
            sys.stdout.write(f"{self.out}: {self.count:,} interactions of {world.name} written\n")
        return 0


@dataclass(frozen=True)
class Show:
    """Draw an interaction: each instruction, the fewest actions that execute it, and the state after it."""

    file: tyro.conf.Positional[Annotated[Path | None, tyro.conf.arg(metavar="[FILE]", help_behavior_hint="")]] = None
    """A tab-separated file; by default SCONE's, or a generated interaction where SCONE is absent."""
    world: options.OptionalWorldName = None
    """The world; by default what the file's name begins with, else alchemy."""
    split: options.SplitName = "dev"
    """Which of SCONE's splits."""
    index: options.OptionalNumber = None
    """Which interaction, counted from 0; by default the first."""
    id: options.OptionalText = None
    """Which interaction, by its identifier (the first that has it)."""
    data: options.DataFolder = None
    svg: options.Svg = None
    png: options.Png = None
    force: Force = False

    def run(self) -> int:
        if self.index is not None and self.id is not None:
            raise InputError(f"--index {self.index} and --id {self.id} both say which interaction; give one of them")
        check_number("--index", self.index or 0, 0, 999_999)
        options.check_suffix("--svg", self.svg, ".svg")
        options.check_suffix("--png", self.png, ".png")
        check_output("--svg", self.svg, force=self.force)
        check_output("--png", self.png, force=self.force)
        world = get_world(self.world or (scone.world_of(self.file) if self.file else WORLDS.names()[0]))
        source, interactions = self._interactions(world)
        interaction = self._choose(source, interactions)
        self._write_pictures(world, interaction)
        console = Console(highlight=False)
        console.print(f"{interaction.id} ({source})", markup=False)
        show_interaction(console, world, interaction)
        return 0

    def _interactions(self, world: World[Any]) -> tuple[str, list[scone.Interaction]]:
        if self.file is not None:
            return str(self.file), scone.read(self.file, world)
        if locate.find(self.data) is not None:
            return f"{world.name}-{self.split}.tsv", locate.read_split(world, self.split, self.data)
        return "generated, because SCONE was not found", generate(world, (self.index or 0) + 1, seed=0)

    def _choose(self, source: str, interactions: list[scone.Interaction]) -> scone.Interaction:
        if self.id is None:
            index = self.index or 0
            if index >= len(interactions):
                raise InputError(f"{source}: has no interaction {index}; expected --index from 0 to {len(interactions) - 1}")
            return interactions[index]
        for interaction in interactions:
            if interaction.id == self.id:
                return interaction
        raise InputError(f"{source}: no interaction is called {self.id!r}; expected one like {interactions[0].id!r}")

    def _write_pictures(self, world: World[Any], interaction: scone.Interaction) -> None:
        """A frame for each state that is known, under the instructions since the one before."""
        frames: list[tuple[str, scone.State]] = []
        captions: list[str] = []
        for caption, state in zip(("start", *interaction.instructions), interaction.states, strict=True):
            captions.append(caption)
            if state is not None:
                frames.append(("; ".join(captions), state))
                captions = []
        for path in filter(None, (self.svg, self.png)):
            save(strip_picture(world, frames), path)


def show_interaction(console: Console, world: World[Any], interaction: scone.Interaction) -> None:
    """Each instruction, the fewest actions that execute it, and the state after it."""
    from sestra.worlds.tables import compile_world

    tables = compile_world(world)
    before: scone.State | None = None
    for number, (instruction, state) in enumerate(zip(("", *interaction.instructions), interaction.states, strict=True)):
        if number:
            actions = "the way is unknown"
            if before is not None and state is not None:
                [execution] = tables.demonstrate(tables.encode([before]), tables.encode([state])).tolist()
                actions = " · ".join(str(tables.action(index)) for index in execution)
            console.print(Text.assemble("\n", (f"{number}. {instruction}", "bold")))
            console.print(Text(f"   {actions}", style="cyan"))
        if state is None:
            console.print(Text("   the state is unknown", style="dim"))
        else:
            console.print(draw_terminal(world, state, highlight=() if before is None else changed(world, before, state)))
        before = state


@dataclass(frozen=True)
class Data:
    """Check, download, count, generate and draw interactions."""

    command: Check | Download | Stats | Generate | Show

    def run(self) -> int:
        return self.command.run()
