# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the documentation site; scripts/docs lays out its pages and runs Sphinx on them."""
import os
import re

from docutils import nodes
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
html_static_path = ["static"]
html_css_files = ["site.css"]
myst_heading_anchors = 4
smartquotes = False  # options begin with two hyphens
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True  # a list of attributes, not a block for each
lexers["csv"] = TextLexer()


def one_by_one(app, what, name, obj, options, lines):
    """Attributes that share a line, "mean_, scale_ : arrays (d,)", get one each, with the same text below."""
    out, names = [], []
    for line in lines[lines.index("Attributes"):] if "Attributes" in lines else []:
        entry = re.fullmatch(r"(\w+(?:, \w+)*) : (.*)", line)
        if entry or not line.startswith(" "):
            for other in names[1:]:
                out += [other, *text]
            names, text = entry[1].split(", ") if entry else [], []
            out.append(f"{names[0]} : {entry[2]}" if entry else line)
            names[1:] = [f"{other} : {entry[2]}" for other in names[1:]]
        else:
            out.append(line)
            text.append(line)
    if out:
        lines[lines.index("Attributes"):] = out


def as_code(app, what, name, obj, options, lines):
    """Fitted attributes end in an underscore, which reStructuredText takes for a link."""
    for k, line in enumerate(lines):
        lines[k] = re.sub(r"(?<![`\w.])(\w+_)(?![`\w])", r"``\1``", line)


def with_dashes(app, doctree):
    """Between an attribute and what it is there is a dash, and none where nothing follows."""
    for text in [t for t in doctree.findall(nodes.Text) if t == " -- "]:
        rest = text.parent.children[text.parent.index(text) + 1:]
        text.parent.replace(text, nodes.Text(" \N{EN DASH} " if any(n.astext().strip() for n in rest) else ""))


def setup(app):
    app.connect("autodoc-process-docstring", one_by_one, priority=400)
    app.connect("autodoc-process-docstring", as_code, priority=1000)
    app.connect("doctree-read", with_dashes)
