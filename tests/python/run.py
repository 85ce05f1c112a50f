# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of the Python package: run.py WHAT..., as pytest takes it.

The interpreter is the one this runs with, or Debian's, whichever has what the package is built on
(scripts/setup test installs that for Debian's).  Exit status 77, skipped, when neither has.
"""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NEEDED = "import cffi, numpy, pytest, sklearn"


def interpreter():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", NEEDED], capture_output=True).returncode == 0:
            return python
    return None


def main():
    python = interpreter()
    if python is None:
        print("no Python with cffi, numpy, pytest and scikit-learn; 'scripts/setup test' installs them")
        return 77
    paths = [str(SOURCE / "python"), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1"
    }
    return subprocess.run([python, "-m", "pytest", *sys.argv[1:]], cwd=SOURCE, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
