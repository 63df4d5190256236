"""The folder of an agent: its networks as ONNX graphs, the words that it knows, what it is, and a card for people.

agent.json  vocab.json  encode-1.onnx  step-1.onnx  (encode-2.onnx  step-2.onnx ...)  README.md
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from sestra import pretrained
from sestra.agent.calibration import Calibration
from sestra.agent.limits import MAX_INSTRUCTION_LENGTH
from sestra.agent.memory_limit import memory_limit
from sestra.agent.runtime import Ensemble, Network
from sestra.data.vocabulary import MAX_WORD_LENGTH, Vocabulary
from sestra.errors import InputError, check_number, shortened
from sestra.io import MAX_TEXT, build, make_folder, parse_json, read_bytes, read_json, replacing, to_json
from sestra.registry import check_reference
from sestra.version import __version__
from sestra.worlds import World, get_world
from sestra.worlds.tables import Tables, compile_world

FORMAT = 1
ABOUT, VOCABULARY, CARD = "agent.json", "vocab.json", "README.md"
IN_RUN = "agent"
"""The folder in a run's folder that has the run's agent."""
MAX_GRAPH = 256 << 20
"""Bytes of a graph."""
MEMORY, MEMORY_PER_BYTE = 1 << 30, 16
"""Bytes that a network may take while it is loaded and tried: so many, and so many times those of its graphs."""
MAX_NETWORKS = 64
MAX_EXAMPLES = 50


@dataclass(frozen=True)
class About:
    """What an agent is: the content of agent.json."""

    world: str
    """What ``get_world`` finds the world by."""
    horizon: int
    """The most actions per instruction."""
    verbosity: float
    """The penalty of an action in the reward that evaluation reports."""
    training: dict[str, Any] = field(default_factory=dict)
    """How it was trained: configuration, data, selected epoch; of several networks, those of each. Nothing depends on it."""
    format: int = FORMAT
    version: str = __version__
    """Of the package that wrote it."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of every other file."""
    examples: tuple[dict[str, Any], ...] = ()
    """Some interactions of the training data, each with its start ``state`` and its ``instructions``: what the page suggests."""
    calibration: Calibration = field(default_factory=Calibration)
    """Of its confidence; without one, probabilities are taken as they are and every instruction is followed."""


@dataclass(frozen=True)
class Graphs:
    """The two graphs of a network, serialised."""

    encode: bytes
    step: bytes


@dataclass(frozen=True)
class Contents:
    """A folder that was read and checked; its files are as they were written."""

    about: About
    vocabulary: Vocabulary
    tables: Tables
    networks: tuple[Graphs, ...]
    card: str

    @property
    def checksum(self) -> str:
        """Of the networks: the same for the same ones."""
        return hashlib.sha256(b"".join(part for each in self.networks for part in (each.encode, each.step))).hexdigest()

    def runtime(self) -> Ensemble:
        """The networks, each checked to fit the world and the vocabulary."""
        networks = []
        for number, each in enumerate(self.networks, start=1):
            with memory_limit(MEMORY + MEMORY_PER_BYTE * (len(each.encode) + len(each.step))):
                try:
                    network = Network(each.encode, each.step, f"network {number}")
                    network.check(self.tables, len(self.vocabulary))
                except MemoryError as error:
                    raise InputError(f"network {number}: needs more memory than a network of its size; use another agent") from error
            networks.append(network)
        return Ensemble(networks)


def find(name: str | Path) -> Path:
    """The folder of the shipped agent of that name, of an exported agent, or of the agent in a run's folder."""
    found = pretrained.find(name)
    if found is not None:
        return found
    if not isinstance(name, str | Path) or len(str(name)) > 1_000 or "\0" in str(name):
        raise InputError(f"{shortened(repr(name))}: is not the name of an agent; expected {_expected()}")
    if os.path.exists(Path(name) / ABOUT):  # which is False where Path.exists raises: for a name that is too long
        return Path(name)
    if is_run(Path(name)):
        if not is_current(Path(name)):
            raise InputError(f"{name}: is a run whose selected model has not been exported yet; export it with: sestra export {name}")
        return Path(name) / IN_RUN
    if os.path.exists(Path(name) / "model.safetensors"):
        raise InputError(f"{name}: was exported by an earlier version of sestra; export the run again with: sestra export")
    shown = str(name) if str(name).strip() and str(name).isprintable() else repr(str(name))
    raise InputError(f"{shortened(shown, 200)}: is no agent (there is no {ABOUT} in it); expected {_expected()}")


def find_run(name: str) -> Path | None:
    """The folder of the run of that name; an agent that ships comes before a run of the same name."""
    return Path(name) if pretrained.find(name) is None and is_run(Path(name)) else None


def is_run(folder: Path) -> bool:
    """Whether it is the folder of a training run."""
    return os.path.isdir(folder / "checkpoints")


def is_current(run: Path) -> bool:
    """Whether the agent in a run's folder is the run's selected model."""
    place, model = run / IN_RUN / ABOUT, run / "model.safetensors"
    if not place.exists():
        return False
    if not model.is_file():
        raise InputError(f"{model}: is not an ordinary file; use another run")
    try:
        with safe_open(model, framework="np") as file:
            selected = (file.metadata() or {}).get("sha256")
    except (OSError, SafetensorError) as error:
        raise InputError(f"{model}: cannot be read ({shortened(str(error), 100)}); use another run") from error
    about = read_json(place)
    return isinstance(about, dict) and isinstance(about.get("training"), dict) and about["training"].get("model") == selected


def _expected() -> str:
    return f"the folder of an agent or of a run, or one of {', '.join(pretrained.names())}"


def read(folder: Path) -> Contents:
    """What is in an agent's folder; InputError if anything is damaged or not as ``write`` leaves it."""
    place = folder / ABOUT
    about: About = build(About, read_json(place), str(place))
    if about.format != FORMAT:
        raise InputError(
            f"{place}: has format {shortened(str(about.format), 20)}; this version of sestra reads format {FORMAT}; export the agent again"
        )
    check_number(f"{place}: horizon", about.horizon, 1, 1_000)
    check_number(f"{place}: verbosity", about.verbosity, 0, 1_000_000, whole=False)
    if not about.world.isprintable():
        raise InputError(f"{place}: world is {shortened(repr(about.world))}; expected a name; the file is damaged, use another one")
    check_reference(about.world, f"{place}: world", folder)
    check_number(f"{place}: calibration.caution", about.calibration.caution, 0, 1, whole=False)
    for name in ("slope", "intercept"):
        check_number(f"{place}: calibration.{name}", getattr(about.calibration, name), -1_000, 1_000, whole=False)
    count = sum(name.startswith("encode-") for name in about.files)
    names = {VOCABULARY, *([CARD] if CARD in about.files else []), *(f"{part}-{n}.onnx" for n in range(1, count + 1) for part in GRAPHS)}
    if set(about.files) != names or not 1 <= count <= MAX_NETWORKS:
        raise InputError(f"{place}: lists other files than an agent has; the file is damaged, use another one")
    found = {name: _checked(folder / name, digest) for name, digest in about.files.items()}
    networks = tuple(Graphs(*(found[f"{part}-{number}.onnx"] for part in GRAPHS)) for number in range(1, count + 1))
    words = parse_json(found[VOCABULARY], folder / VOCABULARY)
    if not isinstance(words, list) or not all(isinstance(word, str) and len(word) <= MAX_WORD_LENGTH for word in words):
        raise InputError(f"{folder / VOCABULARY}: is not a list of words of up to {MAX_WORD_LENGTH} characters; use another agent")
    try:
        world, card = get_world(about.world), found.get(CARD, b"").decode()
    except (InputError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: {error}") from error
    _check_examples(about.examples, world, place)
    return Contents(about, Vocabulary(tuple(words)), compile_world(world), networks, card)


def _check_examples(examples: Sequence[Mapping[str, Any]], world: World[Any], place: Path) -> None:
    advice = "the file is damaged, use another one"
    if len(examples) > MAX_EXAMPLES:
        raise InputError(f"{place}: has {len(examples)} examples; expected at most {MAX_EXAMPLES}; {advice}")
    for number, example in enumerate(examples, start=1):
        state, instructions = example.get("state"), example.get("instructions")
        if (
            set(example) != {"state", "instructions"}
            or not isinstance(state, str)
            or not isinstance(instructions, list)
            or not instructions
        ):
            raise InputError(f"{place}: example {number} is not a state and some instructions; {advice}")
        if not all(isinstance(text, str) and 0 < len(text) <= MAX_INSTRUCTION_LENGTH for text in instructions):
            raise InputError(
                f"{place}: example {number} has an instruction that is no text of up to {MAX_INSTRUCTION_LENGTH} characters; {advice}"
            )
        try:
            world.parse(state)
        except InputError as error:
            raise InputError(f"{place}: example {number}: {shortened(str(error), 200)}; {advice}") from error


GRAPHS = ("encode", "step")


def write(folder: Path, about: About, vocabulary: Vocabulary, networks: Sequence[Graphs], card: str = "") -> None:
    """Write an agent; the folder appears whole or not at all, in the place of another agent or of nothing."""
    files: dict[str, bytes] = {}
    for number, network in enumerate(networks, start=1):
        files |= {f"encode-{number}.onnx": network.encode, f"step-{number}.onnx": network.step}
    files |= {VOCABULARY: _text(list(vocabulary.words)), **({CARD: card.encode()} if card else {})}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    described = _text({**asdict(about), "files": digests})
    advice = "choose another folder (with --to on the command line)"
    make_folder(folder, advice)
    try:
        if not _replaceable(folder):
            raise InputError(f"{folder}: is there already and is no agent; {advice}")
        (folder / ABOUT).unlink(missing_ok=True)  # until the new one is written, the folder holds no agent
        for old in folder.iterdir():
            if UNFINISHED.fullmatch(old.name) and old.name not in files:
                old.unlink()
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}); {advice}") from error
    for name, content in {**files, ABOUT: described}.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(content)


def _replaceable(folder: Path) -> bool:
    """Whether nothing is there, or nothing but an agent, or what was written of one before the process was killed."""
    names = [each.name for each in folder.iterdir()]
    begun = all(UNFINISHED.fullmatch(name) for name in names) and any(".onnx" in name for name in names)  # graphs are written first
    return (folder / ABOUT).is_file() or not names or begun


UNFINISHED = re.compile(r"(encode|step)-\d+\.onnx|README\.md|vocab\.json|\..*\.part")


def join(folders: Sequence[Path], to: Path) -> None:
    """Write the networks of several agents, which differ in seeds or training settings, as one agent."""
    if len({folder.resolve() for folder in folders}) < max(len(folders), 2):
        raise InputError(f"{', '.join(map(str, folders))}: expected two or more runs or agents, each of them once")
    if to.exists():
        raise InputError(f"{to}: is there already; choose another folder with --to")
    agents = [read(folder) for folder in folders]
    first = agents[0]
    if sum(len(agent.networks) for agent in agents) > MAX_NETWORKS:
        raise InputError(f"{to}: would have more than {MAX_NETWORKS} networks; join fewer runs or agents")
    members: list[dict[str, Any]] = []
    for folder, agent in zip(folders, agents, strict=True):
        training, expected = agent.about.training, first.about.training
        shared = {
            "world": (agent.about.world, first.about.world),
            "vocabulary": (agent.vocabulary, first.vocabulary),
            "policy": tuple(_part(each, "config").get("policy") for each in (training, expected)),
            "training data": tuple(each.get("data") for each in (training, expected)),
        }
        for what, (own, wanted) in shared.items():
            if own != wanted:
                raise InputError(f"{folder}: has another {what} than {folders[0]}; join runs that share it")
        chosen = _part(training, "chosen")
        alone = {"seed": training.get("seed"), "learner": training.get("learner"), **chosen}
        members += found if isinstance(found := chosen.get("members"), list) else [alone]
    joined = {key: value for key, value in first.about.training.items() if key != "model"}
    counts = [agent.about.training.get("parameters") for agent in agents]
    joined |= {"chosen": {"members": members}, "parameters": sum(count for count in counts if isinstance(count, int))}
    write(
        to,
        replace(first.about, training=joined, calibration=Calibration()),
        first.vocabulary,
        [network for agent in agents for network in agent.networks],
    )


def _part(training: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of how an agent was trained, on which nothing depends: empty if it is not as expected."""
    found = training.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> bytes:
    return (to_json(value, indent=2) + "\n").encode()


def _checked(path: Path, digest: str) -> bytes:
    content = read_bytes(path, MAX_GRAPH if path.suffix == ".onnx" else MAX_TEXT, "use another agent")
    if hashlib.sha256(content).hexdigest() != digest:
        raise InputError(f"{path}: is not as it was written (its checksum differs); the file is damaged, use another agent")
    return content
