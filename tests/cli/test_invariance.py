# SPDX-License-Identifier: BSD-3-Clause
"""What must not change an answer: the unit that numbers are given in, a column that says nothing, the order of things, and who
computes."""
import json
import random
import unittest

import relations
from support import VHEM, Case

UNITS = [1000.0, 2.0 ** 20, 0.001, 0.0001, 2.0 ** -40]


def walks(by, zeros=0.0):
    """20 animals of two kinds: their steps in some unit, and how they turn."""
    rng, rows = random.Random(2), ["id,step,turn"]
    for i in range(20):
        shape = 2 if i < 10 else 8
        for _ in range(120):
            step = 0 if rng.random() < zeros else rng.gammavariate(shape, 1 / shape) * by
            rows.append(f"a{i},{step!r},{rng.vonmisesvariate(0, 2)!r}")
    return "\n".join(rows) + "\n"


class Units(Case):
    """Steps in metres, kilometres or inches: the same models, but for the rates, and the same clusters."""

    def learn(self, by, zeros, emission, *options):
        self.write("d.csv", walks(by, zeros))
        columns = [] if ":" in emission else ["--columns", "step"]
        steps = ["--tol", "0", "--max-iter", "20", "-q"]        # a share of the bound, which moves with the unit, ends no run
        self.ok("fit", "d.csv", "--emission", emission, *columns, "-o", "m.json", *steps, *options)
        models = json.loads(self.path("m.json").read_text())
        start = {**models, "hmms": [models["hmms"][0], models["hmms"][-1]], "omega": [0.5, 0.5]}
        self.write("start.json", json.dumps(start))
        self.ok("cluster", "m.json", "--init", "start.json", "-r", "1", "-o", "c.json", "--cov-floor", "0.01", *steps)
        clusters = json.loads(self.path("c.json").read_text())
        return [self.numbers(h, by) for h in models["hmms"]], sorted(self.numbers(h, by) for h in clusters["centers"]["hmms"]), \
            clusters["labels"]

    def numbers(self, h, by):
        of = h["channels"][0] if "channels" in h else h
        rates = [b * by for state in of["rate"] for mix in state for b in mix]
        return [a for state in of["shape"] for mix in state for a in mix] + rates + [p for row in h["A"] for p in row]

    def test_gamma(self):
        for zeros, emission, options in ((0, "gamma", ["-S", "1"]), (0.2, "gamma", ["-S", "2"]),
                                         (0, "step:gamma,turn:von-mises", ["-S", "1"]),
                                         (0.2, "step:gamma,turn:von-mises", ["-S", "2", "--init", "random"])):
            models, centers, labels = self.learn(1, zeros, emission, *options)
            if options[1] == "1":
                self.assertEqual(labels, [labels[0]] * 10 + [1 - labels[0]] * 10)
                self.assertAlmostEqual(centers[0][0], 2, delta=0.3)
                self.assertAlmostEqual(centers[1][0], 8, delta=0.8)
            for by in UNITS:
                with self.subTest(emission=emission, zeros=zeros, by=by):
                    other_models, other_centers, other_labels = self.learn(by, zeros, emission, *options)
                    for a, b in zip(models + centers, other_models + other_centers, strict=True):
                        for x, y in zip(a, b, strict=True):
                            self.assertAlmostEqual(x, y, delta=1e-6 * abs(x) + 1e-6)
                    self.assertEqual(len(set(zip(labels, other_labels))), 2)


class Constant(Case):
    """A column that is the same in every frame says nothing: fits of highest likelihood are those without it."""

    def learn(self, emission, more):
        rng, rows = random.Random(5), ["id,x,y" + ",z" * bool(more)]
        for i in range(6):
            s = 0
            for _ in range(60):
                s = 1 - s if rng.random() < 0.2 else s
                rows.append(f"a{i},{rng.gauss(1.5 * s, 1)!r},{rng.gauss(-s, 0.8)!r}{more}")
        self.write("d.csv", "\n".join(rows) + "\n")
        self.ok("fit", "d.csv", "--emission", emission, "-S", "2", "--prior", "none", "--tol", "0", "--max-iter", "30", "-q", "-o", "m.json")
        return json.loads(self.path("m.json").read_text())["hmms"]

    def test_fit(self):
        for emission in ("gaussian-diag", "gaussian-full"):
            want = self.learn(emission, "")
            for more in (",7", ",-7e6"):
                for a, b in zip(want, self.learn(emission, more), strict=True):
                    for s in range(2):
                        for x, y in zip(a["A"][s] + a["mu"][s][0], b["A"][s] + b["mu"][s][0][:2], strict=True):
                            self.assertAlmostEqual(x, y, delta=1e-6)
                        self.assertEqual(b["mu"][s][0][2], float(more[1:]))


class Relations(Case):
    """A few changes of each of some random problems; scripts/torture has all of them, for as long as one likes."""

    PROBLEMS, CHANGES = 160, 2

    def test_changes(self):
        run = relations.Runner(VHEM, self.dir)
        faults, looked = [], 0
        for number in range(self.PROBLEMS):
            wrong, n = relations.check(run, number, self.CHANGES)
            faults += wrong
            looked += n
        self.assertEqual(faults, [])
        self.assertGreater(looked, self.PROBLEMS)


if __name__ == "__main__":
    unittest.main()
