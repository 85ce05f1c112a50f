"""The experiments in their quick form: every method of the command has its row in the comparison."""
import json
import os
import subprocess
import sys
import unittest

from support import SOURCE, VHEM, Case


class Methods(Case):
    def test_quick(self):
        done = subprocess.run([sys.executable, SOURCE / "experiments" / "methods" / "run.py", "--quick"],
                              env={**os.environ, "VHEM": VHEM, "VHEM_RESULTS": str(self.dir)}, capture_output=True,
                              text=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads((self.dir / "methods.json").read_text())["synthetic"][0]
        rows = {row["method"]: row for row in table["rows"]}
        self.assertEqual((table["experiment"], table["K"], len(rows)), ("a", 4, 14))
        for name, row in rows.items():
            self.assertIn(name, done.stdout)
            self.assertTrue(0.3 < row["rand"] <= 1, row)
            self.assertEqual(row["trials"], 2)
            self.assertGreater(row["seconds"], 0)
            if name not in ("VHEM-H3M", "HEM-DTM"):
                self.assertLess(row["expected_loglik"], -12)   # the originals have about -13 nats under themselves
        self.assertIsNone(rows["VHEM-H3M"]["p"])


if __name__ == "__main__":
    unittest.main()
