"""A picture as SVG: plain shapes, no scripts, styles or references, so that it can stand in any page."""

from __future__ import annotations

from html import escape

from sestra.drawing.shapes import BASELINE, Box, Disc, Label, Picture, Shape, printable

FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"


def to_svg(picture: Picture) -> str:
    """One SVG element, which a screen reader reads out as the picture's description."""
    width, height, words = _number(picture.width), _number(picture.height), escape(printable(picture.description))
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{words}" font-family="{FONTS}">',
            f"<title>{words}</title>",
            *map(_element, picture.shapes),
            "</svg>",
            "",
        )
    )


def _element(shape: Shape) -> str:
    if isinstance(shape, Box):
        return _box(shape)
    if isinstance(shape, Disc):
        return _tag("ellipse", cx=shape.x, cy=shape.y, rx=shape.rx, ry=shape.ry) + _paint(shape.fill, shape.line, shape.thickness)
    if isinstance(shape, Label):
        weight = ' font-weight="700"' if shape.bold else ""
        place = _tag("text", x=shape.x, y=shape.y + BASELINE * shape.size, font_size=shape.size)
        return f'{place} text-anchor="{shape.anchor}" fill="{shape.fill}"{weight}>{escape(printable(shape.text))}</text>'
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
    return f'<polygon points="{points}" stroke-linejoin="round"' + _paint(shape.fill, shape.line, shape.thickness)


def _box(box: Box) -> str:
    if not box.radius or all(box.corners):
        tag = _tag("rect", x=box.x, y=box.y, width=box.width, height=box.height, **({"rx": box.radius} if box.radius else {}))
        return tag + _paint(box.fill, box.line, box.thickness)
    radii = [box.radius if rounded else 0.0 for rounded in box.corners]
    right, bottom = box.x + box.width, box.y + box.height
    turns = ((box.x, box.y, 1, 0), (right, box.y, 0, 1), (right, bottom, -1, 0), (box.x, bottom, 0, -1))  # clockwise; where each goes on
    steps: list[str] = []
    for (x, y, dx, dy), radius in zip(turns, radii, strict=True):
        # A corner is entered from the direction before its own, which is a quarter turn back: (dy, -dx).
        steps.append(("L" if steps else "M") + f"{_number(x - dy * radius)} {_number(y + dx * radius)}")
        if radius:
            steps.append(f"A{_number(radius)} {_number(radius)} 0 0 1 {_number(x + dx * radius)} {_number(y + dy * radius)}")
    return f'<path d="{"".join(steps)}Z"' + _paint(box.fill, box.line, box.thickness)


def _tag(name: str, **numbers: float) -> str:
    return f"<{name} " + " ".join(f'{key.replace("_", "-")}="{_number(value)}"' for key, value in numbers.items())


def _paint(fill: str | None, line: str | None, thickness: float) -> str:
    stroke = f' stroke="{line}" stroke-width="{_number(thickness)}"' if line else ""
    return f' fill="{fill or "none"}"{stroke}/>'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
