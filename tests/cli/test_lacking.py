# SPDX-License-Identifier: BSD-3-Clause
"""HMMs that lack a column are compared with others over the columns that all have, and the commands say so."""
import json
import random
import re
import unittest

from support import Case

COLUMNS = ["x", "y", "z"]


def hmm(name, mu, lacks=()):
    cells = [[[None if k in lacks else m for k, m in enumerate(state)]] for state in mu]
    cov = [[[None if k in lacks else 1.0 for k in range(len(mu[0]))]] for _ in mu]
    return {"name": name, "S": 2, "pi": [0.5, 0.5], "A": [[0.8, 0.2], [0.3, 0.7]], "c": [[1.0], [1.0]], "mu": cells, "cov": cov}


MU = {"a": [[0, 0, 0], [4, 4, 9]], "b": [[1, 0, 5], [4, 0, 1]], "c": [[9, 9, 0], [7, 8, 1]]}


class Lacking(Case):
    def models(self, path, hmms, columns):
        self.write(path, json.dumps({
            "format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": len(columns), "columns": columns,
            "omega": [1 / len(hmms)] * len(hmms), "hmms": hmms}))

    def data(self, path, n=4, T=30):
        rng, rows = random.Random(3), ["id,label,x,y,z"]
        for name, mu in MU.items():
            for i in range(n):
                for _ in range(T):
                    y = [rng.gauss(m, 1) for m in rng.choice(mu)]
                    rows.append(f"{name}{i},{name}," + ",".join(f"{v:.4f}" for v in y))
        self.write(path, "\n".join(rows) + "\n")

    def setUp(self):
        super().setUp()
        self.models("m.json", [hmm(n, mu, [2] if n == "c" else []) for n, mu in MU.items()], COLUMNS)
        self.models("xy.json", [hmm(n, [s[:2] for s in mu]) for n, mu in MU.items()], COLUMNS[:2])
        self.data("d.csv")
        self.said = "compared over x and y, which all HMMs have: 1 of 3 HMMs lacks z"

    def rows_of(self, *args):
        return self.ok(*args).rows()

    def test_candidates_for_sequences(self):
        r = self.ok("score", "m.json", "d.csv", "--all")
        self.assertIn(self.said, r.err)
        mixed, plain = self.rows_of("score", "m.json", "d.csv", "--all"), self.rows_of("score", "xy.json", "d.csv", "--all")
        for a, b in zip(mixed, plain):
            self.assertEqual(a["best"], a["label"])
            for key in ("a", "b", "c", "loglik"):
                self.assertAlmostEqual(float(a[key]), float(b[key]), delta=1e-9 * abs(float(b[key])))
        r = self.ok("decode", "m.json", "d.csv", "--hmm", "best")
        self.assertIn(self.said, r.err)
        self.assertEqual({(line.split("\t")[0][0], line.split("\t")[2]) for line in r.out.splitlines()[1:]}, {(n, n) for n in MU})
        r = self.ok("assign", "m.json", "d.csv")
        self.assertIn(self.said, r.err)
        self.assertEqual({(row["label"], row["cluster"]) for row in self.rows_of("assign", "m.json", "d.csv")},
                         {("a", "0"), ("b", "1"), ("c", "2")})
        self.assertNotIn("compared over", self.ok("score", "xy.json", "d.csv").err)
        self.assertNotIn("compared over", self.ok("decode", "m.json", "d.csv", "--hmm", "a").err)

    def test_candidates_for_models(self):
        """HMMs that have every column go where they went without the one that a centre lacks."""
        self.models("new.json", [hmm(n, mu) for n, mu in MU.items()], COLUMNS)
        self.models("new_xy.json", [hmm(n, [s[:2] for s in mu]) for n, mu in MU.items()], COLUMNS[:2])
        mixed, plain = self.rows_of("assign", "m.json", "new.json"), self.rows_of("assign", "xy.json", "new_xy.json")
        for a, b in zip(mixed, plain):
            self.assertEqual(a["cluster"], b["cluster"])
            self.assertAlmostEqual(float(a["score"]), float(b["score"]), delta=1e-9 * abs(float(b["score"])))

    def test_refine(self):
        self.fails(1, "refine cuts HMMs that have every column, and HMM 2 'c' lacks column 2 (from 0 on)",
                   "cluster", "m.json", "-k", "2", "--refine", "2", "-o", "c.json")
        self.ok("cluster", "xy.json", "-k", "2", "--refine", "2", "-o", "c.json", "-q")

    def test_per_value(self):
        """Values of columns that do not take part are not counted."""
        text = self.path("d.csv").read_text().splitlines()
        cells = text[1].split(",")
        self.write("gap.csv", "\n".join([text[0], ",".join([*cells[:2], "", *cells[3:]]), *text[2:]]) + "\n")
        self.assertIn("1 of 720 values is missing", self.ok("score", "m.json", "gap.csv").err)
        self.ok("background", "d.csv", "-c", "x,y", "-g", "4", "-o", "bg.json")
        self.assertIn("1 of 720 values was missing", self.ok("fit", "gap.csv", "--emission", "gaussian-tied:bg.json", "--states",
                                                             "2", "-o", "t.json").err)

    def test_pairs(self):
        """A pair is compared over the columns that both have."""
        r = self.ok("compare", "m.json", "-o", "p.csv")
        self.assertIn("a pair is compared over the columns that both have: 1 of 3 HMMs lacks z", r.err)
        self.assertNotIn("below zero", r.err)
        self.ok("compare", "xy.json", "-o", "q.csv")

        def read(path):
            lines = [line.split(",") for line in self.path(path).read_text().splitlines()[1:]]
            return {(line[0], line[1]): [float(x) for x in line[2:]] for line in lines}
        mixed, plain = read("p.csv"), read("q.csv")
        for pair in plain:
            if "c" in pair:
                self.assertAlmostEqual(mixed[pair][0], plain[pair][0], delta=1e-9 * plain[pair][0])
                self.assertAlmostEqual(mixed[pair][1], plain[pair][1], delta=5 * (mixed[pair][2] + plain[pair][2]))
                self.assertAlmostEqual(mixed[pair][3], plain[pair][3], delta=1e-9 * abs(plain[pair][3]))
        self.assertGreater(mixed["a", "b"][0], plain["a", "b"][0] + 1)

    def test_nothing_in_common(self):
        self.models("n.json", [hmm("a", MU["a"], [0, 1]), hmm("b", MU["b"], [2])], COLUMNS)
        self.fails(1, "each of the 3 columns is lacking in some HMM, so there is none over which the 2 HMMs can be compared",
                   "score", "n.json", "d.csv")
        self.fails(1, "HMM 0 and HMM 1 (counted from 0) have no column in common", "compare", "n.json")

    def people(self, path, lacks):
        """An HMM for each sequence of d.csv, in which those of a kind lack columns."""
        self.models(path, [hmm(f"{n}{i}", mu, lacks.get(n, [])) for n, mu in MU.items() for i in range(4)], COLUMNS)

    def test_statistics(self):
        """Entropies are over the columns that all have, and vhem stats says which; without any it is an error."""
        self.people("p.json", {"c": [2]})
        self.ok("cluster", "p.json", "-k", "3", "--restarts", "2", "-o", "k.json")
        r = self.ok("stats", "k.json", "d.csv", "--models", "p.json", "-o", "-")
        self.assertIn("compared over x and y, which all HMMs have: 4 of 12 HMMs lack z", r.err)
        self.models("q.json", [hmm(f"{n}{i}", [s[:2] for s in mu]) for n, mu in MU.items() for i in range(4)], COLUMNS[:2])
        self.ok("cluster", "q.json", "-k", "3", "--restarts", "2", "-o", "q2.json")
        plain = self.rows_of("stats", "q2.json", "d.csv", "--models", "q.json", "-o", "-")
        for a, b in zip(r.rows(), plain):
            self.assertAlmostEqual(float(a["entropy"]), float(b["entropy"]), delta=1e-9 * abs(float(b["entropy"])))
        self.people("p.json", {"a": [0], "b": [1], "c": [2]})
        self.ok("cluster", "p.json", "-k", "3", "--restarts", "2", "-o", "k.json")
        self.fails(1, "no column is in the models of all persons", "stats", "k.json", "d.csv", "--models", "p.json", "-o", "-")
        self.ok("stats", "k.json", "d.csv", "-o", "-")

    def test_shards(self):
        self.people("p.json", {"c": [1, 2], "a": [0]})
        self.ok("convert", "p.json", "--shards", "3", "-o", "three")
        for models in ("p.json", "three"):
            self.ok("cluster", models, "-k", "2", "--restarts", "1", "-o", "k.json")
            self.assertEqual(json.loads(self.path("k.json").read_text())["lacking"], [1] * 4 + [0] * 4 + [2] * 4, models)
        self.ok("report", "k.json", "-o", "r.html")

    def test_on_disk(self):
        """A set that stays on disk, which is one of more than 16 MiB, says what its HMMs lack, too."""
        wide = [[6.0 * (n % 3) + s] + [0.5 * k for k in range(59)] for n in range(3) for s in range(2)]
        few = [hmm(None, wide[2 * (n % 3):2 * (n % 3) + 2], [59] if n % 5 == 1 else []) for n in range(450)]
        self.models("few.json", few, [f"x{k}" for k in range(60)])
        self.ok("convert", *["few.json"] * 22, "--shards", "3", "-o", "many")
        lacking = [int(n % 5 == 1) for n in range(450)] * 22
        for more in (["--memory", "4G"], ["--memory", "1K"], ["--memory", "1K", "--first-reduce", "4"]):
            self.ok("cluster", "many", "-k", "3", "--restarts", "1", "--search", "restarts",
                    "--max-iter", "2", *more, "-o", "k.json")
            self.assertEqual(json.loads(self.path("k.json").read_text())["lacking"], lacking, more)

    def test_classes(self):
        """With as many HMMs as pieces, of which some lack a column."""
        rows = [line.split(",") for line in self.path("d.csv").read_text().splitlines()]
        self.write("e.csv", "\n".join(",".join(row if row[0] not in ("a0", "b1") else [*row[:4], ""]) for row in rows) + "\n")
        self.ok("classify", "train", "e.csv", "-o", "k.json", "--states", "2", "-k", "9")
        r = self.ok("classify", "predict", "k.json", "d.csv")
        self.assertRegex(r.err, r"compared over .* which all HMMs have: 2 of 12 HMMs lack ")
        for line in r.out.splitlines()[1:]:
            cells = line.split("\t")
            self.assertEqual(cells[1], cells[2])

    def test_report(self):
        """Members that lack a column are not called the nearest."""
        rng = random.Random(5)
        hmms = [hmm(f"s{i}", [[m + rng.gauss(0, 0.2) for m in s] for s in MU["a"]], [2] if i == 3 else []) for i in range(6)]
        self.models("s.json", hmms, COLUMNS)
        self.ok("cluster", "s.json", "-k", "1", "-o", "c.json")
        self.assertEqual(json.loads(self.path("c.json").read_text())["lacking"], [0, 0, 0, 1, 0, 0])
        self.ok("report", "c.json", "-o", "r.html")
        text = self.path("r.html").read_text()
        near, rest = re.search(r"Members, the nearest first(.*?)Not ranked: they lack columns(.*?)</ol>", text, re.S).groups()
        self.assertNotIn("s3", near)
        self.assertIn("s3", rest)


if __name__ == "__main__":
    unittest.main()
