# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the documentation site; scripts/docs lays out its pages and runs Sphinx on them."""
import os
import re

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

project = "vhem"
author = "the vhem developers"
copyright = author
release = os.environ["VHEM_SITE_VERSION"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"vhem {release}"
html_copy_source = False
html_show_sphinx = False
html_extra_path = ["extra"]
myst_heading_anchors = 4
smartquotes = False  # options begin with two hyphens
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
lexers["csv"] = TextLexer()


def as_code(app, what, name, obj, options, lines):
    """Fitted attributes end in an underscore, which reStructuredText takes for a link."""
    for k, line in enumerate(lines):
        lines[k] = re.sub(r"(?<![`\w.])(\w+_)(?![`\w])", r"``\1``", line)


def setup(app):
    app.connect("autodoc-process-docstring", as_code, priority=1000)
