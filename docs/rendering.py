"""What Sphinx does not have: equations that need no network, and the commands' own help.

Equations become MathML, which browsers draw themselves; docutils, on which Sphinx stands, makes it from TeX.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import textwrap
from typing import TYPE_CHECKING, Any
from unittest import mock

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COLUMNS = 86
"""What fits on a page."""

log = logging.getLogger(__name__)


def draw_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node, node.astext(), as_block=False))
    raise nodes.SkipNode


def draw_block(translator: Any, node: nodes.math_block) -> None:
    lines = node.astext().strip()
    if r"\\" in lines and r"\begin{" not in lines:
        lines = rf"\begin{{aligned}}{lines}\end{{aligned}}"
    translator.body.append(f'<div class="math">{_mathml(node, lines, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _mathml(node: nodes.Node, tex: str, *, as_block: bool) -> str:
    try:
        return tex2mathml(tex, as_block=as_block)
    except MathError as error:
        log.warning("equation cannot be drawn: %s", error, location=node)
        return ""


class Help(Directive):
    """``{help} train`` stands for what ``sestra train --help`` prints."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        from sestra.cli import main

        shown = io.StringIO()
        narrow = mock.patch.dict(os.environ, {"COLUMNS": str(COLUMNS), "NO_COLOR": "1"})
        with narrow, contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
            main([*self.arguments[0].split(), "--help"])
        plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue()).rstrip()
        text = "\n".join(textwrap.fill(line, COLUMNS) if len(line) > COLUMNS else line for line in plain.splitlines())
        return [nodes.literal_block(text, text, language="text")]


def shorten(_app: Sphinx, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Of a module's docstring the first paragraph: what follows is for readers of the source, and is laid out for them."""
    if what == "module" and "" in lines:
        del lines[lines.index("") + 1 :]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(draw_inline, None), block_renderers=(draw_block, None))
    app.add_directive("help", Help)
    app.connect("autodoc-process-docstring", shorten)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
