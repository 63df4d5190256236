"""How Sphinx builds these pages: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from sestra import __version__

project = "sestra"
author = "The sestra developers"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "rendering"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath", "attrs_block", "deflist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "undoc-members": False}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

html_theme = "furo"
html_title = "sestra"
html_static_path = ["_static"]
html_css_files = ["math.css"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
