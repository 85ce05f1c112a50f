# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C at every allocation of every command, as far as the minutes go:  stop.py --minutes N --vhem BIN"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))
import faults  # noqa: E402
import stops  # noqa: E402

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--minutes", type=float, default=10)
p.add_argument("--vhem", required=True)
vhem = str(pathlib.Path(p.parse_args().vhem).resolve())
lines = []
_, wrong = stops.run_all(vhem, faults.default_shim(vhem), None, p.parse_args().minutes, say=lines.append)
print("\n".join(wrong[:200]))
print(f"stop: {lines[-1]}")
sys.exit(1 if wrong else 0)
