# SPDX-License-Identifier: BSD-3-Clause
"""The Python in README, docs and examples runs, page by page, from the top, in an empty folder."""
import re
import runpy
import sys

import numpy as np
import pytest
import support
import vhem
from conftest import SOURCE

PAGES = sorted(p.relative_to(SOURCE) for p in [SOURCE / "README.md", *(SOURCE / "docs").glob("*.md")]
               if "```python\n" in p.read_text())


def files():
    """What the pages read: fixations of six people who look in two ways, recordings of two motions."""
    rng = np.random.default_rng(1)
    with open("fixations.csv", "w") as f:
        f.write("subject,trial,x,y\n")
        for person in range(6):
            spots = np.array([[200, 150], [300, 150]] if person % 2 else [[250, 220], [250, 180]])
            for trial in range(12):
                for k in range(3):
                    x, y = rng.normal(spots[k % 2], 8)
                    f.write(f"s{person},{trial},{x:.1f},{y:.1f}\n")
    walk = [np.cumsum(rng.normal(0, 0.2, size=(60, 3)), axis=0) + 5 * (n % 2) for n in range(12)]
    labels = ["walk", "run"] * 6
    vhem.Sequences.from_arrays(walk, names=[f"take{n}" for n in range(12)], labels=labels).save("motion.csv")
    vhem.Sequences.from_arrays(walk, names=[f"take{n}" for n in range(12)], labels=labels).save("motion.ts")
    songs = [rng.normal(4 * (n % 2), 1, size=(100, 4)) for n in range(24)]
    vhem.Sequences.from_arrays(songs, names=[f"clip{n}" for n in range(24)],
                               groups=[f"song{n // 4 * 2 + n % 2}" for n in range(24)]).save("songs.npz")
    pen = [np.column_stack([np.sin(np.linspace(0, 6, 50) * (1 + n % 3)), np.cos(np.linspace(0, 6, 50))])
           + rng.normal(0, 0.05, size=(50, 2)) for n in range(18)]
    vhem.Sequences.from_arrays(pen, names=[f"letter{n}" for n in range(18)],
                               labels=["a", "b", "c"] * 6).save("letters.ts")
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
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, str(page), "exec"), names)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def run_example(name, capsys, monkeypatch, tmp_path):
    """What an example prints about the recordings of two motions."""
    monkeypatch.chdir(tmp_path)
    files()
    monkeypatch.setattr(sys, "argv", [name, "motion.csv"])
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
