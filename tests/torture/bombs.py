# SPDX-License-Identifier: BSD-3-Clause
"""Small files that claim to be large, under a limit of memory:  bombs.py --minutes N --vhem BIN"""
import argparse
import os
import pathlib
import sys
import unittest

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--minutes", type=float, default=1, help="not used: it takes less than a minute")
p.add_argument("--vhem", required=True)
os.environ["VHEM"] = str(pathlib.Path(p.parse_args().vhem).resolve())
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import test_limits  # noqa: E402

result = unittest.TextTestRunner(stream=sys.stdout).run(
    unittest.defaultTestLoader.loadTestsFromModule(test_limits))
print(f"bombs: {result.testsRun} tests, {len(result.failures) + len(result.errors)} failures")
sys.exit(0 if result.wasSuccessful() else 1)
