# SPDX-License-Identifier: BSD-3-Clause
"""The Python in README, docs and examples runs, page by page, in an empty folder, and prints what the pages show."""
import contextlib
import io
import re
import runpy
import sys

import numpy as np
import pages
import pytest
import support
import vhem
from conftest import SOURCE

PAGES = sorted(p.relative_to(SOURCE) for p in [SOURCE / "README.md", *(SOURCE / "docs").glob("*.md")]
               if "```python\n" in p.read_text())


def files():
    """What the pages read: the data of the tutorials, and some models."""
    runpy.run_path(str(SOURCE / "examples" / "data" / "tutorials.py"))["main"](".")
    with open("models.json", "w") as f:
        f.write(support.flock())


def test_there_are_pages():
    assert len(PAGES) >= 6


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (SOURCE / page).read_text()
    for module, sign in (("matplotlib", r"^vhem\.plot"), ("hmmlearn", "^from hmmlearn"), ("scipy", "^import scipy")):
        if re.search(sign, text, re.M):
            pytest.importorskip(module)
    files()
    names = {"__name__": "page"}
    for block in pages.blocks(text):
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block.code, str(page), "exec"), names)
            wrong = block.shown and pages.differs(block.shown, printed.getvalue())
            assert not wrong, f"{block.code}{wrong}"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def run_example(name, capsys, monkeypatch, tmp_path):
    """What an example prints about the recordings of two motions."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    walk = [np.cumsum(rng.normal(0, 0.2, size=(60, 3)), axis=0) + 5 * (n % 2) for n in range(12)]
    vhem.Sequences.from_arrays(walk, names=[f"take{n}" for n in range(12)], labels=["walk", "run"] * 6).save("two.csv")
    monkeypatch.setattr(sys, "argv", [name, "two.csv"])
    runpy.run_path(str(SOURCE / "examples" / "python" / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_example_of_clusters(capsys, monkeypatch, tmp_path):
    told = run_example("cluster.py", capsys, monkeypatch, tmp_path)
    assert len(told) == 3 and sorted(told[0].split()[2:] + told[1].split()[2:]) == sorted(f"take{n}" for n in range(12))
    assert all((tmp_path / "example-cluster" / name).exists() for name in ("clusters.json", "report.html"))


def test_example_of_classes(capsys, monkeypatch, tmp_path):
    told = run_example("classify.py", capsys, monkeypatch, tmp_path)
    assert [line.split()[0] for line in told] == ["hmm:", "run:", "walk:", "dtm:", "run:", "walk:"]
    assert told[0].endswith("of 12 right") and told[3].endswith("of 12 right")


def test_every_example_is_run():
    assert {path.name for path in (SOURCE / "examples" / "python").glob("*.py")} == {"classify.py", "cluster.py"}
