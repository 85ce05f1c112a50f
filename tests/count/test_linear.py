# SPDX-License-Identifier: BSD-3-Clause
"""Four times the input, four times the steps: every command whose work is linear, by the count of the branches it takes
(preset count), which is the same at each run.  test_linear.py COMMAND runs them with the command of that build."""
import os
import random
import subprocess
import sys
import tempfile
import unittest

VHEM = None
SMALL, FACTOR, MOST = 250, 4, 5                          # sequences; times as many; times as many steps at most


def sequences(n, T=20, d=2, C=4, gamma=False):
    """CSV of n sequences of C labels."""
    rng = random.Random(n)
    rows = ["id,label," + ",".join(f"x{k}" for k in range(d))]
    for i in range(n):
        for t in range(T):
            cells = [3 * ((i % 4 + t // 4 * (k + 1)) % 5) + rng.uniform(-1, 1) for k in range(d)]
            rows.append(f"s{i:06d},c{i % C}," + ",".join(f"{abs(y) + 0.01 if gamma else y:.4f}" for y in cells))
    return "\n".join(rows) + "\n"


class Linear(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w") as f:
            f.write(text)

    def steps(self, *args):
        """Branches that a command takes."""
        env = {**os.environ, "VHEM_STEPS": os.path.join(self.dir, "steps"), "OMP_NUM_THREADS": "1"}
        run = subprocess.run([VHEM, *map(str, args), "-q", "-t", "1"], cwd=self.dir, env=env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(env["VHEM_STEPS"]) as f:
            return int(f.read())

    def linear(self, prepare, *args):
        """prepare(n) writes the files of n items."""
        taken = []
        for n in (SMALL, SMALL * FACTOR):
            prepare(n)
            taken.append(self.steps(*args))
        self.assertLessEqual(taken[1], MOST * taken[0], f"{args[0]}: {taken[0]} and {taken[1]} steps")

    def fitted(self, n, *more, **how):
        self.write("s.csv", sequences(n, **how))
        self.steps("fit", "s.csv", "-r", 1, "--max-iter", 3, "-o", "s.json", *more)

    def test_fit(self):
        self.linear(lambda n: self.write("s.csv", sequences(n)), "fit", "s.csv", "-r", 1, "--max-iter", 3, "-o", "s.json")

    def test_decode(self):
        """By the own models, and all by one; gamma looks for zeros that no model can give."""
        self.linear(self.fitted, "decode", "s.json", "s.csv", "-o", "p.tsv")
        self.linear(self.fitted, "decode", "s.json", "s.csv", "--hmm", 0, "--posterior", "-o", "p.tsv")
        self.linear(lambda n: self.fitted(n, "--emission", "gamma", gamma=True), "decode", "s.json", "s.csv", "-o", "p.tsv")

    def test_cluster(self):
        self.linear(self.fitted, "cluster", "s.json", "-k", 4, "--search", "restarts", "-r", 1, "--max-iter", 3, "--tol", 0,
                    "-o", "c.json")

    def test_score_and_assign(self):
        self.fitted(SMALL)
        self.steps("cluster", "s.json", "-k", 4, "--search", "restarts", "-r", 1, "-o", "c.json")
        for command in ("score", "assign"):
            self.linear(lambda n: self.write("new.csv", sequences(n)), command, "c.json", "new.csv", "-o", "o.tsv")

    def test_stats(self):
        """The tests of four labels do not take longer for more persons but for their ranks; and many labels take a test for
        each pair, 16 times as many for four times the labels: 1e5 steps each, most of them of the density of t."""
        self.fitted(SMALL)
        self.steps("cluster", "s.json", "-k", 4, "--search", "restarts", "-r", 1, "-o", "c.json")
        self.linear(lambda n: self.write("new.csv", sequences(n)), "stats", "c.json", "new.csv", "--persons", "new")
        taken = []
        for labels in (8, 32):
            self.write("new.csv", sequences(512, C=labels))
            taken.append(self.steps("stats", "c.json", "new.csv", "--persons", "new"))
        tests = 4 * (32 * 31 - 8 * 7) // 2               # scales times pairs
        self.assertLess((taken[1] - taken[0]) / tests, 3e5)

    def test_leave_out(self):
        """The sums without each person are found for all persons at once."""
        def prepare(n):
            self.fitted(n)
            self.steps("cluster", "s.json", "-k", 4, "--search", "restarts", "-r", 1, "-o", "c.json")
        self.linear(prepare, "stats", "c.json", "s.csv", "-m", "s.json", "--leave-out")

    def test_wide(self):
        """Columns of Gaussians."""
        self.linear(lambda n: self.write("w.csv", sequences(4, T=4, d=n)), "fit", "w.csv", "-S", 2, "-r", 1, "--max-iter", 2,
                    "-o", "w.json")

    def test_tags(self):
        """Ranks of a song."""
        self.write("b.csv", sequences(200))
        self.write("tags.csv", "name,tag\n" + "".join(f"s{i:06d},tag{i}\n" for i in range(200)))
        self.steps("annotate", "train", "b.csv", "--tags", "tags.csv", "--min-examples", 1, "--no-store", "-r", 1, "--max-iter",
                   2, "-o", "t.json")
        self.write("s.csv", sequences(50))
        few = self.steps("annotate", "predict", "t.json", "s.csv", "-n", 1, "-o", "o.tsv")
        self.assertLess(self.steps("annotate", "predict", "t.json", "s.csv", "-n", 50, "-o", "o.tsv"), 2 * few)


if __name__ == "__main__":
    VHEM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
