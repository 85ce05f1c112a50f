# SPDX-License-Identifier: BSD-3-Clause
"""Calls that fail and kills at random moments, in their short forms; scripts/torture has the long ones."""
import os
import sys
import unittest

from support import SOURCE, VHEM

sys.path.insert(0, str(SOURCE / "tests" / "fault"))
import faults  # noqa: E402
import kills  # noqa: E402
import stops  # noqa: E402


class Faults(unittest.TestCase):
    @unittest.skipUnless(os.path.exists(faults.default_shim(VHEM)), "the library to preload is not built")
    def test_one_call_fails(self):
        """Of every command some allocations, evenly spread, and some of every other call."""
        counts, wrong = faults.run_all(VHEM, faults.default_shim(VHEM), 24)
        self.assertEqual(wrong, [])
        for call in faults.CALLS:
            self.assertGreater(counts[call], 0, call)

    @unittest.skipUnless(os.path.exists(faults.default_shim(VHEM)), "the library to preload is not built")
    def test_stops(self):
        counts, wrong = stops.run_all(VHEM, faults.default_shim(VHEM), 4)
        self.assertEqual(wrong, [])
        for kind in ("told", "kept"):
            self.assertGreater(counts[kind], 0, kind)

    def test_kills(self):
        killed, runs, wrong = kills.run(VHEM, 24, 2)
        print(f"kill -9: {killed.total()} kills in {runs} runs, {len(wrong)} failures")
        self.assertEqual(wrong, [])
        self.assertGreater(killed.total(), 0)


if __name__ == "__main__":
    unittest.main()
