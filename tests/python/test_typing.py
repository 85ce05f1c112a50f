# SPDX-License-Identifier: BSD-3-Clause
"""The package is typed, and mypy has nothing to say about it; nor has a user's program."""
import re
import subprocess
import sys

import pytest
from conftest import SOURCE


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("import vhem\nfound = vhem.VHEM(2).fit('m.json')\nmodels = vhem.H3M.load('m.json')\n"
                       "name: str = models[0].name\n")
    start = tmp_path / "start.py"
    start.write_text("".join(re.findall(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.S)) +
                     "print(groups.centers_[0].pi, groups.centers_.names)\n")
    for what in ([], [str(program)], [str(start)]):
        done = subprocess.run([sys.executable, "-m", "mypy", "--no-incremental", *what], cwd=SOURCE,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_lines_fit():
    for path in [*(SOURCE / "python").rglob("*.py"), *(SOURCE / "tests" / "python").glob("*.py")]:
        lines = path.read_text().splitlines()
        assert len(lines) <= 900, path
        assert not [n for n, line in enumerate(lines, 1) if len(line) > 120], path
