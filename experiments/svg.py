# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of docs/reproduction.md share: their look, and the same bytes from the same numbers."""
import json

import matplotlib

from common import SOURCE

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "vhem", "font.size": 9, "axes.spines.top": False,
                            "axes.spines.right": False})
BLUE, GREEN, ORANGE, GREY = "#0072b2", "#009e73", "#d55e00", "#999999"


def expected(name):
    """The full run of an experiment."""
    return json.loads((SOURCE / "experiments" / name / "expected.json").read_text())


def numbers(name):
    """What it kept."""
    return expected(name)["numbers"]


def save(fig, name):
    fig.savefig(SOURCE / "docs" / "images" / f"reproduction-{name}.svg", metadata={"Date": None})
