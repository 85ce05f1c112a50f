# SPDX-License-Identifier: BSD-3-Clause
"""The command ``vhem``, which comes with the package vhem: a program in its folder.

This stands beside that package, not in it: what is in it can only be had with NumPy and scikit-learn, which take longer
to begin than most commands run.
"""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Become the program: signals, pipes and the exit status are its own.  Windows can only wait for it."""
    windows = os.name == "nt"
    program = Path(__file__).resolve().parents[1] / "vhem" / ("vhem.exe" if windows else "vhem")
    try:
        if windows:
            import subprocess  # elsewhere it would only take time

            sys.exit(subprocess.call([str(program), *sys.argv[1:]]))
        os.execv(program, ["vhem", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"vhem: {program} cannot be run ({error.strerror}); install the package again")
