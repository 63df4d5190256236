"""A picture as pixels, drawn with Pillow several times too large and shrunk, which smooths the edges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sestra.drawing.palette import CARD
from sestra.drawing.shapes import BASELINE, Box, Disc, Label, Picture, Shape, printable
from sestra.drawing.svg import to_svg
from sestra.errors import InputError
from sestra.io import replacing, write_text

if TYPE_CHECKING:
    from PIL.Image import Image

OVERSAMPLING = 4
BAND = 256
"""Rows of pixels drawn at a time: a long strip never stands in memory at its oversampled size."""


def to_image(picture: Picture, scale: int) -> Image:
    """The picture as a Pillow image of ``scale`` pixels per unit."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise InputError("pictures in pixels are drawn with Pillow, which is not installed; run: pip install 'sestra[plot]'") from error

    width, height = round(picture.width * scale), round(picture.height * scale)
    image = Image.new("RGB", (width, height), CARD)
    for top in range(0, height, BAND):
        rows = min(BAND, height - top)
        band = Image.new("RGB", (width * OVERSAMPLING, rows * OVERSAMPLING), CARD)
        pen = ImageDraw.Draw(band)
        for shape in picture.shapes:
            _, upper, _, lower = shape.bounds()
            if upper * scale < top + rows and lower * scale > top:
                _paint(pen, shape.moved(0, -top / scale), scale * OVERSAMPLING)
        image.paste(band.reduce(OVERSAMPLING), (0, top))
    return image


def save(picture: Picture, path: str | os.PathLike[str]) -> None:
    """Write the picture as SVG or PNG, by the ending of the file's name; the file appears whole or not at all."""
    ending = Path(path).suffix.lower()
    if ending == ".svg":
        write_text(Path(path), to_svg(picture))
    elif ending == ".png":
        image = to_image(picture, 2)
        from PIL.PngImagePlugin import PngInfo

        about = PngInfo()
        about.add_text("Software", "sestra")
        with replacing(Path(path)) as temporary:
            image.save(temporary, format="PNG", optimize=True, pnginfo=about)
    else:
        raise InputError(f"{os.fspath(path)}: cannot tell what kind of picture to write; end the name in .svg or .png")


def _paint(pen: Any, shape: Shape, scale: int) -> None:
    if isinstance(shape, Label):
        _write(pen, shape, scale)
        return
    thickness = max(1, round(shape.thickness * scale)) if shape.line else 0
    if isinstance(shape, Box):
        radius = (shape.radius + (shape.thickness / 2 if shape.line else 0)) * scale
        pen.rounded_rectangle(_corners(shape, scale), radius, shape.fill, shape.line, thickness, corners=shape.corners)
    elif isinstance(shape, Disc):
        pen.ellipse(_corners(shape, scale), shape.fill, shape.line, thickness)
    else:
        points = [(x * scale, y * scale) for x, y in shape.points]
        if shape.fill:
            pen.polygon(points, shape.fill)
        if shape.line:
            pen.line([*points, *points[:2]], shape.line, thickness, joint="curve")


def _corners(shape: Box | Disc, scale: int) -> list[float]:
    """The outermost pixels: Pillow draws the outline inside of them and counts the last one in."""
    left, top, right, bottom = (round(edge * scale) for edge in shape.bounds())
    return [left, top, max(left, right - 1), max(top, bottom - 1)]


def _write(pen: Any, label: Label, scale: int) -> None:
    from PIL import ImageFont

    size = label.size * scale
    anchor = "ls" if label.anchor == "start" else "ms"
    heavier = round(size * 0.035) if label.bold else 0
    place = (label.x * scale, (label.y + BASELINE * label.size) * scale)
    pen.text(place, printable(label.text), label.fill, ImageFont.load_default(size), anchor, stroke_width=heavier, stroke_fill=label.fill)
