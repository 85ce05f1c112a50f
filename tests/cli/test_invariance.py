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
    """A column that is the same in every frame, or in every state of every model, says nothing: fits and clusters are those
    without it."""

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


    KINDS = {"gaussian-diag": "gaussian-diag", "gaussian-full": "gaussian-full", "gamma": "gamma", "poisson": "poisson",
             "x:gaussian-diag,y:poisson": "z:gaussian-full", "x:gaussian-diag,y:gamma": "z:gaussian-diag"}

    def sequences(self, emission, seed, more):
        """24 sequences of two kinds that are hard to tell apart."""
        rng, rows = random.Random(seed), ["id,x,y" + ",z" * bool(more)]
        draw = {"gamma": lambda m: rng.gammavariate(3, 0.2 + m), "poisson": lambda m: sum(rng.random() < 0.1 + m / 8 for _ in range(20))}
        of = [emission] * 2 if ":" not in emission else [channel.split(":")[1] for channel in emission.split(",")]
        x, y = (draw.get(f, lambda m: rng.gauss(2 * m, 1)) for f in of)
        for i in range(24):
            s = 0
            for _ in range(60):
                s = 1 - s if rng.random() < (0.15 if i % 2 else 0.3) else s
                rows.append(f"a{i},{x(s)!r},{y(1 - s + 0.3 * (i % 2))!r}{more}")
        self.write("d.csv", "\n".join(rows) + "\n")

    def clusters(self, models, *options):
        self.ok("cluster", models, "-k", "3", "-q", "--force", "-o", "c.json", *options)
        return json.loads(self.path("c.json").read_text())

    def numbers(self, h, order=(0, 1)):
        """All of an HMM but the parameters of column z, its two states in this order."""
        out = [*[h["pi"][s] for s in order], *[h["A"][s][q] for s in order for q in order]]
        for c in h["channels"][:2] if "channels" in h else [h]:
            for name in ("mu", "cov", "shape", "rate", "zero"):
                for mix in [mix for s in order if name in c for mix in c[name][s]]:
                    out += [x for row in mix[:2] for x in (row[:2] if isinstance(row, list) else [row])]
        return out

    def compare(self, a, b, orders=((0, 1),)):
        """The same numbers, with the states of each HMM of b in the one of these orders that fits best."""
        self.assertEqual(len(a), len(b))
        for x, y in zip(a, b, strict=True):
            want = self.numbers(x)
            got = min((self.numbers(y, order) for order in orders), key=lambda n: sum(abs(u - v) for u, v in zip(want, n)))
            self.assertEqual(len(want), len(got))
            for u, v in zip(want, got, strict=True):
                self.assertAlmostEqual(u, v, delta=1e-6 * max(1, abs(u)))

    def compare_clusters(self, models, wide):
        """Some default starts draw a random number for each column: those are others, and may end elsewhere in an optimum.
        From models that differ by rounding another of two starts that end in the same optimum may be kept: its clusters and
        their states are the same in another order."""
        self.same_labels(self.clusters(models), self.clusters(wide))
        a, b = (self.clusters(m, "--init", "far") for m in (models, wide))
        centers = dict(self.same_labels(a, b))
        self.compare([a["centers"]["hmms"][j] for j in centers], [b["centers"]["hmms"][j] for j in centers.values()],
                     ((0, 1), (1, 0)))

    def same_labels(self, a, b):
        pairs = set(zip(a["labels"], b["labels"], strict=True))
        self.assertEqual(len(pairs), len(set(a["labels"])))
        self.assertEqual(len(pairs), len(set(b["labels"])))
        return pairs

    def test_default(self):
        """With the options that a user has who gives none."""
        for emission, more in self.KINDS.items():
            for prior in ["vb", "eb"] if emission.startswith("gaussian") else ["vb"]:
                for seed in (1, 2, 3):
                    with self.subTest(emission=emission, prior=prior, seed=seed):
                        for constant, out in (("", "m.json"), (",1", "wide.json")):
                            self.sequences(emission, seed, constant)
                            channels = f"{emission},{more}" if constant and ":" in emission else emission
                            self.ok("fit", "d.csv", "--emission", channels, "-S", "2", "--prior", prior, "-q", "--force", "-o", out)
                        want, hmms = (json.loads(self.path(f).read_text())["hmms"] for f in ("m.json", "wide.json"))
                        self.compare(want, hmms)
                        self.compare_clusters("m.json", "wide.json")
                        if "channels" not in hmms[0] and emission != "gamma":
                            mean = "rate" if emission == "poisson" else "mu"
                            self.assertEqual({state[0][2] for h in hmms for state in h[mean]}, {1.0})

    def test_given_prior(self):
        """The prior of a file is one of the same column."""
        for emission in ("gaussian-diag", "gaussian-full"):
            self.sequences(emission, 1, ",7")
            self.ok("fit", "d.csv", "--emission", emission, "-S", "2", "-q", "--force", "-o", "m.json")
            self.ok("fit", "d.csv", "--emission", emission, "-S", "2", "-q", "--force", "-o", "again.json", "--prior", "m.json")
            first, again = (json.loads(self.path(f).read_text()) for f in ("m.json", "again.json"))
            self.assertEqual(first["hmms"], again["hmms"])
            # where the column moves after all, it is learnt
            text = self.path("d.csv").read_text().splitlines()
            self.write("d.csv", "\n".join([text[0], *[line[:-1] + str(7 + i % 5) for i, line in enumerate(text[1:])]]) + "\n")
            self.ok("fit", "d.csv", "--emission", emission, "-S", "2", "-q", "--force", "-o", "again.json", "--prior", "m.json")
            for h in json.loads(self.path("again.json").read_text())["hmms"]:
                self.assertGreater(max(state[0][2] for state in h["mu"]), 8)

    def test_models(self):
        """The column is added to models; its values are not those of a fit."""
        for emission, one in (("gaussian-diag", {"mu": 3.0, "cov": 0.5}), ("gaussian-full", {"mu": 3.0, "cov": 0.5}),
                              ("gamma", {"shape": 2.0, "rate": 0.7, "zero": 0.1})):
            for seed in (1, 4):
                with self.subTest(emission=emission, seed=seed):
                    self.sequences(emission, seed, "")
                    self.ok("fit", "d.csv", "--emission", emission, "-S", "2", "-q", "--force", "-o", "m.json")
                    m = json.loads(self.path("m.json").read_text())
                    m.pop("prior", None)
                    m["d"], m["columns"] = 3, ["x", "y", "z"]
                    for h in m["hmms"]:
                        for name, value in one.items():
                            for row in [mix for state in h[name] for mix in state] if name in h else []:
                                matrix = isinstance(row[0], list)
                                for r in row if matrix else []:
                                    r.append(0.0)
                                row.append([0.0, 0.0, value] if matrix else value)
                    self.write("wide.json", json.dumps(m))
                    self.compare_clusters("m.json", "wide.json")


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
