# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 at up to 1000 random moments:  kill.py --minutes N --vhem BIN"""
import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))
import kills  # noqa: E402

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--minutes", type=float, default=10)
p.add_argument("--vhem", required=True)
a = p.parse_args()
killed, runs, wrong = kills.run(str(pathlib.Path(a.vhem).resolve()), 1000, a.minutes, seed=int(time.time()))
print("\n".join(wrong[:50]))
print(f"kill: {killed.total()} kills in {runs} runs ({', '.join(f'{k} {n}' for k, n in killed.items())}), {len(wrong)} failures")
sys.exit(1 if wrong or not killed else 0)
