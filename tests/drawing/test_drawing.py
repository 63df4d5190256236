"""Every content of every world can be drawn, inside its canvas, legibly without colour, and the picture says what the state is."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations, pairwise
from math import dist
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sestra.drawing
from sestra.drawing import changed, describe, draw_image, draw_strip_svg, draw_svg, draw_terminal, drawing_of, palette, strip_picture
from sestra.drawing.generic import Drawing
from sestra.drawing.raster import BAND, save
from sestra.drawing.shapes import Label, printable, text_width, wrap
from sestra.errors import InputError
from sestra.worlds import Edit, World
from sestra.worlds.alchemy import world as alchemy_world
from sestra.worlds.alchemy.world import Alchemy
from sestra.worlds.scene import world as scene_world
from sestra.worlds.scene.world import Scene
from sestra.worlds.tangrams import drawing as tangrams
from sestra.worlds.tangrams.world import Tangrams

SVG = "{http://www.w3.org/2000/svg}"
ALCHEMY, SCENE, TANGRAMS = Alchemy(), Scene(), Tangrams()
BEAKERS = ALCHEMY.parse("1:_ 2:go 3:pyyy 4:b 5:_ 6:rrr 7:bgor")
PEOPLE = SCENE.parse("1:__ 2:ry 3:b_ 4:_o 5:go 6:yp 7:pb 8:__ 9:o_ 10:rg")


class Shelf(World[object]):
    """A user's own world, without a drawing, whose contents are awkward to print."""

    name = "shelf"
    slots = 11
    contents = ("", "<b>&\"'</b>", "many words and a" + "n" * 40 + " endless one 漢字漢字漢字漢字", ("x", 3), "\x1b[31mred\x00\n\ud800")
    edits = (Edit("next"),)

    def edit(self, content: object, edit: Edit) -> object | None:
        return None

    def distance(self, content: object, goal: object) -> int:
        return int(content != goal)

    def parse(self, text: str) -> tuple[object, ...]:
        return ("",) * self.slots

    def format(self, state: tuple[object, ...]) -> str:
        return str(state)


SHELF = Shelf()


def all_states(world):
    """States that show every content of the world, as many at a time as there are slots."""
    contents = [*world.contents, *([world.contents[0]] * (-len(world.contents) % world.slots))]
    return [tuple(contents[first : first + world.slots]) for first in range(0, len(contents), world.slots)]


worlds = pytest.mark.parametrize("world", [ALCHEMY, SCENE, TANGRAMS, SHELF], ids=lambda world: world.name)


@worlds
def test_every_content_is_valid_and_safe_svg(world):
    allowed = {SVG + tag for tag in ("svg", "title", "rect", "ellipse", "polygon", "path", "text")}
    for state in all_states(world):
        root = ElementTree.fromstring(draw_svg(world, state, highlight=[0]))
        assert {element.tag for element in root.iter()} <= allowed
        names = {name for element in root.iter() for name in element.attrib}
        assert not any("href" in name or name.startswith("on") or name == "style" for name in names)
        assert root.get("role") == "img"
        assert root.get("aria-label") == root.findtext(SVG + "title") == printable(describe(world, state))


@worlds
def test_every_shape_lies_within_the_canvas(world):
    everywhere = range(drawing_of(world).places or world.slots)
    for state in all_states(world):
        picture = sestra.drawing.strip([("", sestra.drawing._picture(world, state, everywhere))])
        for shape in picture.shapes:
            left, top, right, bottom = shape.bounds()
            assert 0 <= left < right <= picture.width, shape
            assert 0 <= top < bottom <= picture.height, shape


def labels(world, state):
    return [shape.text for shape in sestra.drawing._picture(world, state, ()).shapes if isinstance(shape, Label)]


def test_letters_say_what_the_colours_say():
    assert sorted(labels(ALCHEMY, BEAKERS)) == sorted("".join(BEAKERS).upper() + "1234567")
    garments = "".join(PEOPLE).replace("_", "").upper()
    assert sorted(labels(SCENE, PEOPLE)) == sorted([*garments, *map(str, range(1, 11))])
    assert sorted(labels(TANGRAMS, ("402",))) == sorted("402" + "12345")


def test_letters_stand_out_from_their_colours():
    used = {*alchemy_world.COLOURS.values(), *scene_world.COLOURS.values()}
    assert used == set(palette.NAMED)
    assert palette.contrast("#000000", "#ffffff") == pytest.approx(21)
    for name, fill in palette.NAMED.items():
        assert palette.contrast(palette.ink_on(fill), fill) >= 4.5, name
    assert palette.contrast(palette.QUIET, palette.CARD) >= 4.5


def test_a_highlighted_place_is_drawn_differently():
    for world, state in ((ALCHEMY, BEAKERS), (SCENE, PEOPLE), (TANGRAMS, ("402",)), (SHELF, SHELF.parse(""))):
        assert draw_svg(world, state, highlight=[1]) != draw_svg(world, state)
        assert draw_svg(world, state, highlight=[1]) != draw_svg(world, state, highlight=[2])
        assert "[2]" in draw_terminal(world, state, highlight=[1]).plain


@pytest.mark.parametrize(
    ("world", "state", "highlight", "message"),
    [
        (ALCHEMY, ("g",), (), "has 1 contents; a state of alchemy has 7"),
        (ALCHEMY, ("ggggg", *[""] * 6), (), "'ggggg' is not a content of alchemy"),
        (SCENE, PEOPLE, [10], "cannot highlight place 10 of scene; expected numbers from 0 to 9"),
        (TANGRAMS, ("402",), [5], "from 0 to 4"),
        (TANGRAMS, ("402",), [-1], "from 0 to 4"),
    ],
)
def test_what_cannot_be_drawn_is_refused(world, state, highlight, message):
    for draw in (draw_svg, draw_image, draw_terminal):
        with pytest.raises(InputError, match=message):
            draw(world, state, highlight=highlight)


def test_descriptions():
    assert describe(ALCHEMY, ("",) * 7) == "Alchemy. All beakers are empty."
    assert "other" not in describe(ALCHEMY, ("g",) * 7)
    scene = describe(SCENE, PEOPLE)
    assert "Place 2: a person in a red shirt and a yellow hat." in scene
    assert "Place 4: an orange hat without a person." in scene
    assert "Place 9: a person in an orange shirt, no hat." in scene
    assert describe(TANGRAMS, ("",)) == "Tangrams. The row is empty."
    assert "Slot 4: ('x', 3)." in describe(SHELF, (*[""] * 3, ("x", 3), *[""] * 7))


def test_changed_places():
    assert changed(ALCHEMY, BEAKERS, (*BEAKERS[:6], "")) == {6}
    assert changed(TANGRAMS, ("012",), ("4012",)) == {0}, "the figures that were pushed along have not changed"
    assert changed(TANGRAMS, ("01234",), ("0134",)) == frozenset()
    assert changed(TANGRAMS, ("01",), ("0314",)) == {1, 3}
    assert changed(TANGRAMS, ("01",), ("10",)) == {0, 1}
    assert changed(TANGRAMS, ("4021",), ("2041",)) == {0, 2}
    assert changed(TANGRAMS, ("4021",), ("0214",)) == {3}


# A strip.


def test_captions_are_escaped_and_wrapped():
    caption = 'pour the <green> & "orange" one into the third beaker, ' * 5 + "x" * 300 + " \x00\x1b\ud800"
    svg = draw_strip_svg(ALCHEMY, [(caption, BEAKERS), ("", BEAKERS)])
    assert "<green>" not in svg
    assert "&lt;green&gt; &amp; &quot;orange&quot;" in svg
    root = ElementTree.fromstring(svg)
    lines = [element.text for element in root.iter(SVG + "text") if element.get("text-anchor") == "start"]
    assert len(lines) > 5
    assert "".join(lines).replace(" ", "") == printable(caption).replace(" ", "")
    assert max(text_width(line, 16) for line in lines) <= float(root.get("width"))


def test_a_strip_frames_what_changed():
    after = (*BEAKERS[:6], "")
    frames = [("start", BEAKERS), ("throw out the last one", after)]
    picture = sestra.drawing.strip_picture(ALCHEMY, frames)
    assert sum(getattr(shape, "line", None) == palette.CHANGED for shape in picture.shapes) == 1
    root = ElementTree.fromstring(draw_strip_svg(ALCHEMY, frames))
    assert root.get("aria-label") == f"“start”: {describe(ALCHEMY, BEAKERS)} “throw out the last one”: {describe(ALCHEMY, after)}"
    assert float(root.get("height")) > 2 * float(ElementTree.fromstring(draw_svg(ALCHEMY, after)).get("height"))


def test_a_strip_needs_a_frame(tmp_path):
    with pytest.raises(InputError, match="at least one caption and state"):
        draw_strip_svg(ALCHEMY, [])
    with pytest.raises(InputError, match="at least one caption and state"):
        save(strip_picture(ALCHEMY, []), tmp_path / "none.png")
    assert not list(tmp_path.iterdir())


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(), max_size=60), st.floats(40, 400))
def test_any_caption_gives_xml_and_lines_that_fit(caption, width):
    ElementTree.fromstring(draw_strip_svg(TANGRAMS, [(caption, ("",))]))
    lines = wrap(caption, 15, width)
    assert all(line and text_width(line, 15) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(printable(caption).split())


# Pixels.


@worlds
def test_pictures_in_pixels(world):
    first, *others = all_states(world)[:4]
    image = draw_image(world, first)
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert image.shape[2] == 3
    assert np.array_equal(image, draw_image(world, first))
    for other in others:
        assert draw_image(world, other).shape == image.shape
        assert not np.array_equal(draw_image(world, other), image)


def test_each_unit_has_its_colour_in_pixels():
    seen = {tuple(pixel) for pixel in draw_image(ALCHEMY, BEAKERS).reshape(-1, 3).tolist()}
    assert {palette.rgb(palette.NAMED[name]) for name in alchemy_world.COLOURS.values()} <= seen
    empty = {tuple(pixel) for pixel in draw_image(ALCHEMY, ("",) * 7).reshape(-1, 3).tolist()}
    assert not {palette.rgb(palette.NAMED[name]) for name in alchemy_world.COLOURS.values()} & empty


def test_bands_leave_no_seam(monkeypatch):
    from sestra.drawing import raster

    picture = sestra.drawing.strip_picture(SCENE, [("start", PEOPLE)])
    whole = np.array(raster.to_image(picture, 2))
    assert whole.shape[0] > BAND
    monkeypatch.setattr(raster, "BAND", 10_000)
    assert np.abs(whole.astype(int) - np.array(raster.to_image(picture, 2))).max() <= 1


def test_png(tmp_path):
    from PIL import Image

    path = tmp_path / "strip.png"
    save(strip_picture(SCENE, [("start", PEOPLE), ("the stage empties", ("__",) * 10)]), path)
    with Image.open(path) as image:
        image.load()
        assert image.format == "PNG"
        assert image.height > 400
    assert [file.name for file in tmp_path.iterdir()] == ["strip.png"], "no temporary file is left"


@pytest.mark.parametrize("name", ["missing/strip.png", "folder.png", "nul\0.png", "x" * 300 + ".png"])
def test_a_png_that_cannot_be_written(tmp_path, name):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InputError, match=r"cannot be written|is a directory"):
        save(strip_picture(TANGRAMS, [("start", ("402",))]), tmp_path / name)
    assert [file.name for file in tmp_path.rglob("*")] == ["folder.png"]


def test_without_pillow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InputError, match=r"pip install 'sestra\[plot\]'"):
        draw_image(TANGRAMS, ("402",))


# A terminal.


@worlds
def test_terminal_fits_and_says_the_same_without_colour(world):
    from rich.cells import cell_len

    shown = [draw_terminal(world, state).plain for state in all_states(world)]
    assert max(cell_len(line) for text in shown for line in text.split("\n")) <= (100 if world is not ALCHEMY else 60)
    assert len({text.count("\n") for text in shown}) == 1, "every state takes as many lines"
    assert all(line == printable(line) for text in shown for line in text.split("\n"))
    if world is not SHELF:  # whose long contents are cut
        assert len(set(shown)) == len(shown)


def test_terminal_colours_behind_the_letters():
    text = draw_terminal(SCENE, PEOPLE)
    for garment in "".join(PEOPLE).replace("_", ""):
        fill = palette.NAMED[scene_world.COLOURS[garment]]
        assert any(text.plain[span.start : span.end] == f" {garment.upper()} " and fill in str(span.style) for span in text.spans)


def test_terminal_pictures():
    assert draw_terminal(ALCHEMY, ("", "go", *[""] * 5), highlight=[1]).plain.split("\n")[2:] == [
        " │   │   │ O │   │   │   │   │   │   │   │   │   │   │",
        " │   │   │ G │   │   │   │   │   │   │   │   │   │   │",
        " ╰───╯   ╰───╯   ╰───╯   ╰───╯   ╰───╯   ╰───╯   ╰───╯",
        "   1      [2]      3       4       5       6       7",
    ]
    hat_alone = draw_terminal(SCENE, ("_y", *["__"] * 9)).plain.split("\n")
    assert hat_alone[0].split() == ["Y"]
    assert hat_alone[2:5] == ["", "", ""]


# The tangrams are true tangrams.


def sides(piece):
    return sorted(round(dist(a, b), 6) for a, b in pairwise((*piece, piece[0])))


def area(piece):
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairwise((*piece, piece[0])))) / 2


def overlap(a, b):
    """Whether two convex polygons share more than their edges: no side of either parts them."""
    for one, other in ((a, b), (b, a)):
        for (ax, ay), (bx, by) in pairwise((*one, one[0])):
            if all((bx - ax) * (y - ay) - (by - ay) * (x - ax) <= 1e-9 for x, y in other):
                return False
    return True


def test_every_figure_is_laid_of_the_same_seven_pieces():
    pieces = tangrams.LARGE, tangrams.LARGE, tangrams.MEDIUM, tangrams.SMALL, tangrams.SMALL, tangrams.SQUARE, tangrams.SLANTED
    assert len({figure.name for figure in tangrams.FIGURES.values()}) == len(tangrams.FIGURES) == 5
    for figure in tangrams.FIGURES.values():
        assert sorted(map(sides, figure.pieces)) == sorted(map(sides, pieces)), figure.name
        assert sum(map(area, figure.pieces)) == pytest.approx(8), figure.name
        assert not any(overlap(a, b) for a, b in combinations(figure.pieces, 2)), figure.name


# A world of one's own.


def test_a_world_may_bring_its_own_drawing(monkeypatch):
    own = Drawing(describe=lambda state: f"{sum(map(bool, state))} things on it.")
    monkeypatch.setattr(Shelf, "drawing", lambda self: own)
    assert describe(SHELF, ("",) * 11) == "Shelf. 0 things on it."
    assert draw_svg(SHELF, ("",) * 11).count("<rect") == 12, "what it does not say is drawn in boxes: eleven, and the card"


def test_importing_the_drawings_loads_nothing_heavy():
    program = "import sys, sestra.drawing; print({'torch', 'numpy', 'PIL'} & set(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment).stdout == "set()\n"
