# SPDX-License-Identifier: BSD-3-Clause
"""Symbols and products of channels, from data to clusters and back."""
import json
import os
import random

import unittest

from support import Case

RECORD = "u+v:gaussian-full,ward:categorical,n:poisson,drip:bernoulli"


def record(rng, k, s):
    return [f"{rng.gauss(2 * s, 1):.4f}", f"{rng.gauss(-s * (1 + k), 1):.4f}",
            rng.choices(["in", "out", "icu"], [[7, 2, 1], [1, 3 - 2 * k, 6]][s])[0],
            str(sum(rng.random() < 0.1 + 0.3 * s for _ in range(12))), str(int(rng.random() < 0.2 + 0.6 * s * k)),
            rng.choice(["3", "free text"])]


class Channels(Case):
    def data(self, name, columns, draw, n=10, frames=30):
        rng, rows = random.Random(4), []
        for i in range(n):
            s = 0
            for _ in range(frames):
                s = 1 - s if rng.random() < 0.2 else s
                rows.append(f"s{i},c{i % 2}," + ",".join(draw(rng, i % 2, s)))
        self.write(name, "\n".join([f"id,label,{columns}"] + rows) + "\n")

    def read(self, name):
        with open(self.path(name)) as f:
            return json.load(f)

    def life(self):
        self.data("d.csv", "state", lambda rng, k, s: rng.choices(
            ["work", "home", '"school, night"', "7"], [[8, 2, 0, 0], [0, 1, 2 + 5 * k, 7 - 5 * k]][s]))

    def test_sets_that_do_not_belong_together(self):
        """Models of other symbols, columns or backgrounds are neither merged nor compared."""
        self.write("cats.csv", "id,s,x,y\n" + "".join(f"a,{'cat' if t % 3 else 'dog'},{t % 3},{t % 5}\n" for t in range(30)))
        self.write("ants.csv", "id,s,x,y\n" + "".join(f"a,{'cat' if t % 3 else 'ant'},{t % 4},{t % 7}\n" for t in range(30)))
        self.write("many.csv", "id,s,x,y\n" + "".join(f"a,{'abcdefg'[t % 7]},{t % 4},1.5\n" for t in range(30)))
        for name in ("cats", "ants", "many"):
            self.ok("fit", f"{name}.csv", "--emission", "s:categorical,x:poisson", "-S", "2", "-o", f"{name}-p.json")
            self.ok("fit", f"{name}.csv", "--columns", "s", "--emission", "categorical", "-S", "2", "-o", f"{name}-s.json")
        self.ok("fit", "cats.csv", "--columns", "x,y", "-S", "2", "-o", "xy.json")
        self.ok("fit", "ants.csv", "--columns", "y,x", "-S", "2", "-o", "yx.json")
        for seed in "12":
            self.ok("background", "cats.csv", "--columns", "x,y", "-g", "2", "--seed", seed, "-o", f"b{seed}.json")
            self.ok("fit", "cats.csv", "--columns", "x,y", "--emission", f"gaussian-tied:b{seed}.json", "-S", "2",
                    "-o", f"tied{seed}.json")
        pairs = [("cats-s", "ants-s", "symbol 0 is 'ant', must be 'cat'"), ("cats-s", "many-s", "symbols"),
                 ("cats-p", "ants-p", "symbol 0 is 'ant', must be 'cat'"), ("cats-p", "many-p", "symbols"),
                 ("xy", "yx", "column 0 is 'y', must be 'x'")]
        if self.read("b1.json") != self.read("b2.json"):
            pairs.append(("tied1", "tied2", "backgrounds"))
        for first, second, why in pairs:
            for to in ("out.json", "out.h5", "out"):
                self.fails(1, why, "convert", f"{first}.json", f"{second}.json", "-o", to)
                self.assertFalse(os.path.exists(self.path(to)), to)
            r = self.fails(1, why, "compare", f"{first}.json", f"{second}.json")
            self.assertNotIn("centres", r.err)
        self.fails(1, "the second models do not suit the first: the number of symbols is 7, must be 2", "compare", "cats-s.json",
                   "many-s.json")
        self.fails(1, "the second models do not suit the first: channel 0: the number of symbols is 7, must be 2", "compare",
                   "cats-p.json", "many-p.json")
        self.fails(1, "the first models have gaussian-diag emissions, but the second have product", "compare", "xy.json",
                   "cats-p.json")

    def test_channels_that_sequences_lack(self):
        """A column, a channel of symbols and a full block; and gaps in the block."""
        self.data("d.csv", "u,v,ward,n,drip,note", record)
        with open(self.path("d.csv")) as f:
            rows = [line.split(",") for line in f.read().splitlines()]
        rng = random.Random(1)
        for row in rows[1:]:
            if row[0] in ("s2", "s3"):
                row[2] = row[3] = "NA"
            if row[0] in ("s4", "s5"):
                row[4] = row[5] = ""
            for k in (2, 3):
                row[k] = "" if rng.random() < 0.2 else row[k]
        self.write("e.csv", "\n".join(",".join(row) for row in rows) + "\n")
        self.ok("fit", "e.csv", "--emission", RECORD, "--states", "2", "-o", "m.json")
        hmms = self.read("m.json")["hmms"]
        lacking = [[i for i, h in enumerate(hmms) if "null" in json.dumps(h["channels"][c])] for c in range(4)]
        self.assertEqual(lacking, [[2, 3], [4, 5], [4, 5], []])
        self.ok("cluster", "m.json", "-k", "2", "--restarts", "3", "-o", "c.json")
        c = self.read("c.json")
        self.assertNotIn("null", json.dumps(c["centers"]["hmms"]))
        self.assertLessEqual(min(sum(label != (i + j) % 2 for i, label in enumerate(c["labels"])) for j in (0, 1)), 2)
        for method in ("ppk-sc", "kl-sc", "shem", "hem-gmm"):
            self.ok("cluster", "m.json", "-k", "2", "--method", method, "-o", "p.json")
        self.ok("compare", "m.json", "-o", "k.csv")
        self.ok("assign", "c.json", "e.csv")
        self.ok("score", "m.json", "e.csv")
        self.ok("sample", "m.json", "-n", "10", "-T", "5", "-o", "s.csv")
        self.ok("convert", "m.json", "m.h5")
        self.ok("convert", "m.h5", "back.json")
        self.assertEqual(hmms, self.read("back.json")["hmms"])
        self.ok("cluster", "m.h5", "-k", "2", "--restarts", "3", "-o", "again.json")
        self.assertEqual(self.read("again.json")["labels"], c["labels"])
        self.write("f.csv", "\n".join(",".join(r[:3] + ["" if r[0] == "s7" else r[3]] + r[4:]) for r in rows) + "\n")
        self.fails(1, "no value in column 'v', which a full covariance needs", "fit", "f.csv", "--emission", RECORD, "-o", "g.json")

    def test_symbols(self):
        self.life()
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "2", "-o", "m.json")
        m = self.read("m.json")
        self.assertEqual((m["d"], m["columns"], m["symbols"]), (1, ["state"], ["7", "home", "school, night", "work"]))
        self.ok("cluster", "m.json", "-k", "2", "--restarts", "3", "-o", "c.json")
        labels = self.read("c.json")["labels"]
        wrong = sum(label != i % 2 for i, label in enumerate(labels))
        self.assertLessEqual(min(wrong, len(labels) - wrong), 1, labels)
        self.assertEqual(self.read("c.json")["centers"]["symbols"], m["symbols"])
        self.ok("assign", "c.json", "d.csv")
        self.ok("sample", "m.json", "-n", "3", "-T", "30", "-o", "s.csv")
        with open(self.path("s.csv")) as f:
            self.assertIn('"school, night"', f.read())
        self.ok("score", "m.json", "s.csv")
        self.write("new.csv", "id,state\na,work\na,7.0\na,\na,swim\n")
        self.fails(1, "sequence 'a': frame 3 (counted from 0), column 'state' is 'swim', which the models have no symbol for; "
                   "theirs are 7|home|school, night|work", "score", "m.json", "new.csv")
        self.write("new.csv", "id,state\na,work\na,7.0\na,\n")
        self.ok("decode", "m.json", "new.csv", "--hmm", "0")
        self.fails(1, "are they symbols? --emission categorical takes them", "fit", "d.csv", "-o", "m.json")
        self.fails(1, "M is 2, must be 1", "fit", "d.csv", "--emission", "categorical", "--mix", "2", "-o", "m.json")
        self.fails(1, "M is 2, must be 1", "cluster", "m.json", "-k", "2", "--mix", "2", "-o", "c.json")

    def test_info(self):
        """The channels, and the parameters of the first HMM, a column for each state."""
        self.data("d.csv", "u,v,ward,n,drip,note", record)
        self.ok("fit", "d.csv", "--emission", RECORD, "--states", "2", "-o", "m.json")
        m, out = self.read("m.json"), self.ok("info", "m.json").out
        for line in ("0  gaussian-full   u, v", "1  categorical     ward (3 symbols)", "2  poisson         n"):
            self.assertIn(line, out)
        self.assertIn("HMM 0 s0 (--all shows the parameters of every HMM)", out)
        first, shown = m["hmms"][0]["channels"], {}
        for line in out[out.index("HMM 0 s0"):].splitlines()[2:]:
            *name, a, b = line.split()
            shown[name[-1] if len(name) == 1 else tuple(name)] = (float(a), float(b))
        for s in (0, 1):
            self.assertAlmostEqual(shown["n", "rate"][s], first[2]["rate"][s][0][0], delta=1e-3)
            self.assertAlmostEqual(shown["v", "mu"][s], first[0]["mu"][s][0][1], delta=1e-3)
            self.assertAlmostEqual(shown["in"][s], first[1]["p"][s][0][1], delta=1e-3)
        self.assertEqual(self.ok("info", "m.json", "--all").out.count("parameter "), 10)
        j = self.ok("info", "m.json", "--json").json()
        self.assertEqual([c["columns"] for c in j["channels"]], [["u", "v"], ["ward"], ["n"], ["drip"]])
        self.assertNotIn("states", j["hmms"][0])
        j = self.ok("info", "m.json", "--json", "--all").json()
        self.assertEqual(j["hmms"][3]["states"][1]["channels"][0]["cov"], sum(m["hmms"][3]["channels"][0]["cov"][1][0], []))

    def test_info_of_symbols(self):
        self.life()
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "2", "-o", "m.json")
        self.assertIn("  symbols    4: 7, home, school, night, work\n", self.ok("info", "m.json").out)
        self.assertEqual(self.ok("info", "m.json", "--json").json()["symbols"], ["7", "home", "school, night", "work"])
        self.write("x.csv", "id,x\n" + "".join(f"a,{t * t % 7}\n" for t in range(20)))
        self.ok("fit", "x.csv", "--states", "1", "-o", "x.json")
        self.assertNotIn("symbols", self.ok("info", "x.json").out)

    def test_given_start(self):
        """The start says which columns are read, and what they are."""
        self.data("d.csv", "u,v,ward,n,drip,note", record)
        exact = ["--restarts", "1", "--tol", "0", "--cov-floor", "0", "--max-iter", "2"]
        self.ok("fit", "d.csv", "--emission", RECORD, "--states", "2", "-o", "m.json")
        self.ok("fit", "d.csv", "--init", "m.json", *exact, "-o", "a.json")
        self.ok("fit", "d.csv", "--init", "m.json", "--emission", ",".join(reversed(RECORD.split(","))), *exact, "-o", "b.json")
        self.assertEqual(self.read("a.json")["hmms"], self.read("b.json")["hmms"])
        self.assertEqual(self.read("a.json")["channels"], self.read("m.json")["channels"])
        self.ok("fit", "d.csv", "--init", "m.json", "--mixture", "10", "--max-iter", "2", "-o", "x.json")
        for other in ("categorical", "u:gaussian-diag,v:gaussian-diag", RECORD.replace("drip:bernoulli", "drip:poisson"),
                      RECORD.replace("u+v:gaussian-full", "u:gaussian-full,v:gaussian-full")):
            self.fails(1, "m.json holds product models, but --emission asks for " + other, "fit", "d.csv", "--init", "m.json",
                       "--emission", other, "-o", "x.json")
        self.ok("cluster", "m.json", "-k", "2", "--restarts", "2", "-o", "c.json")
        self.ok("cluster", "d.csv", "--method", "em-h3m", "--init", "c.json", "-o", "e.json")
        self.assertEqual(self.read("e.json")["centers"]["channels"], self.read("m.json")["channels"])
        self.fails(1, "c.json holds product models, but --emission asks for poisson", "cluster", "d.csv", "--method", "em-h3m",
                   "--init", "c.json", "--emission", "poisson", "-o", "e.json")
        self.ok("background", "d.csv", "-c", "u,v", "-g", "3", "-o", "g.json")
        self.ok("fit", "d.csv", "-c", "u,v", "--emission", "gaussian-tied:g.json", "--states", "2", "-o", "t.json")
        self.ok("fit", "d.csv", "--init", "t.json", "--max-iter", "2", "-o", "x.json")
        self.assertEqual(self.read("x.json")["emission"], "gaussian-tied")
        self.life()
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "2", "-o", "m.json")
        self.ok("cluster", "m.json", "-k", "2", "--restarts", "2", "-o", "c.json")
        self.ok("cluster", "d.csv", "--method", "em-h3m", "--init", "c.json", "-k", "2", "-o", "e.json")
        self.assertEqual(self.read("e.json")["centers"]["symbols"], self.read("m.json")["symbols"])

    def test_symbols_in_arrays(self):
        """Arrays hold numbers: those of symbols that are text say which they are, and are not read for others."""
        self.write("d.csv", "id,code\n" + "".join(f"a,{('007', '7', '1', 'x1')[t * 7 // 3 % 4]}\n" for t in range(40)))
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "1", "-o", "m.json")
        for name in ("s.npz", "s.h5", "s.ts"):
            r = self.ok("sample", "m.json", "-n", "1", "-T", "30", "-o", name)
            self.assertIn("warning: column 'code' is written as numbers: 0 1, 1 007, 2 7, 3 x1", r.err)
            self.fails(1, "has numbers without texts, which do not say which symbols they are: the models have '007'", "score",
                       "m.json", name)
        self.assertNotIn("warning", self.ok("sample", "m.json", "-n", "1", "-T", "30", "-o", "s.csv").err)
        self.ok("score", "m.json", "s.csv")
        self.ok("score", "m.json", self.write("n.csv", "id,code\na,1\na,7\n"))
        self.write("d.csv", "id,code\n" + "".join(f"a,{(5, 7, 1, 30)[t * 7 // 3 % 4]}\n" for t in range(40)))
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "1", "-o", "m.json")
        self.assertNotIn("warning", self.ok("sample", "m.json", "-n", "1", "-T", "30", "-o", "s.npz").err)
        self.ok("convert", "s.npz", "s.csv", "--force")
        self.assertEqual(self.ok("score", "m.json", "s.npz").out, self.ok("score", "m.json", "s.csv").out)

    def test_one_symbol(self):
        self.write("d.csv", "id,s\n" + "a,in\n" * 20)
        r = self.ok("fit", "d.csv", "--emission", "categorical", "--states", "1", "-o", "m.json")
        self.assertIn("column 's' has one symbol only; it may be left out", r.err)
        self.assertNotIn("rounding", r.err)

    def test_codes(self):
        """A number with zeros before it is a symbol of its own; models that lack it take it for the number."""
        big = ["12345678901234567890", "12345678901234567891"]
        cells = ["007", "7", "07", "7.0", "+7", *big]
        rows = [f"s{i},{cells[t % 7]}" for i in range(2) for t in range(21)]
        self.write("d.csv", "\n".join(["id,code"] + rows) + "\n")
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "1", "--prior", "none", "-o", "m.json")
        m = self.read("m.json")
        self.assertEqual(m["symbols"], ["007", "07", "7", *big])
        for p, share in zip(m["hmms"][0]["p"][0][0], (1, 1, 3, 1, 1)):
            self.assertAlmostEqual(p, share / 7)
        self.ok("fit", "d.csv", "--emission", "code:categorical", "--states", "1", "-o", "p.json")
        self.assertEqual(self.read("p.json")["channels"][0]["symbols"], m["symbols"])
        self.ok("sample", "m.json", "-n", "1", "-T", "50", "-o", "s.csv")
        self.assertEqual({row.split(",")[-1] for row in self.path("s.csv").read_text().splitlines()[1:]}, set(m["symbols"]))
        self.ok("score", "m.json", "s.csv")
        self.fails(1, "column 'code' is '12345678901234567000'", "score", "m.json",
                   self.write("n.csv", "id,code\na,12345678901234567000\n"))
        old = {**m, "symbols": ["1", "7", "008", "0009", "00009"], "hmms": [{**m["hmms"][0], "p": [[[0.5, 0.25, 0.25, 0, 0]]]}]}
        self.write("old.json", json.dumps({**old, "omega": [1.0]}))
        scores = [self.ok("score", "old.json", self.write("n.csv", f"id,code\na,{cell}\n")).out
                  for cell in ("7", "07", "007", "7.0", "8", "08", "1")]
        self.assertEqual(scores[:-1], [scores[0]] * 6)
        self.assertNotEqual(scores[0], scores[-1])
        self.fails(1, "column 'code' is '9', which the models have no symbol for", "score", "old.json",
                   self.write("n.csv", "id,code\na,9\n"))

    def test_numbers_with_many_digits(self):
        """Zeros after the point make no code of a number; a code is found by the number that older models have for it."""
        big = 1.2345678901234567
        cells = ["1", "1.0000000000000000", "1.000000000000000000e+00", "1e0", "+1.", "2", f"{big:.18f}", f"{big:.18e}"]
        self.write("d.csv", "\n".join(["id,code"] + [f"s,{cell}" for cell in cells]) + "\n")
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "1", "--prior", "none", "-o", "m.json")
        m = self.read("m.json")
        self.assertEqual(m["symbols"], ["1", "1.2345678901234567", "2"])
        self.assertAlmostEqual(m["hmms"][0]["p"][0][0][0], 5 / 8)
        def score(cell):
            return self.ok("score", "old.json", self.write("n.csv", f"id,code\na,{cell}\n")).out

        code, other = "12345678901234567890", "12345678901234567891"
        for rounded in "12345678901234567000", "1.2345678901234567e+19":
            self.write("old.json", json.dumps({**m, "symbols": [rounded, "3", "4"]}))
            self.assertEqual(score(code), score(rounded))
            self.assertNotEqual(score(code), score("3"))
            self.write("old.json", json.dumps({**m, "symbols": [rounded, code, "4"]}))
            self.assertNotEqual(score(code), score(rounded))
            self.fails(1, f"column 'code' is '{other}'", "score", "old.json", self.write("n.csv", f"id,code\na,{other}\n"))
        self.write("old.json", json.dumps({**m, "symbols": [code, "3", "4"]}))
        self.fails(1, f"column 'code' is '{other}'", "score", "old.json", self.write("n.csv", f"id,code\na,{other}\n"))

    def test_product(self):
        self.data("d.csv", "u,v,ward,n,drip,note", record)
        for threads in ("1", "2"):
            self.ok("fit", "d.csv", "--emission", RECORD, "--states", "2", "--threads", threads, "-o", f"{threads}.json")
        m = self.read("1.json")
        self.assertEqual(m["hmms"], self.read("2.json")["hmms"])
        self.assertEqual([c["columns"] for c in m["channels"]], [["u", "v"], ["ward"], ["n"], ["drip"]])
        self.assertEqual(m["channels"][1]["symbols"], ["icu", "in", "out"])
        self.assertIn(f"--emission {RECORD}", self.ok("info", "1.json").out)
        self.assertNotIn("--cov ", self.ok("info", "1.json").out)
        self.ok("cluster", "1.json", "-k", "2", "--restarts", "3", "-o", "c.json")
        labels = self.read("c.json")["labels"]
        wrong = sum(label != i % 2 for i, label in enumerate(labels))
        self.assertLessEqual(min(wrong, len(labels) - wrong), 1, labels)
        self.ok("convert", "1.json", "m.h5")
        self.ok("convert", "m.h5", "back.json")
        back = self.read("back.json")
        self.assertEqual((m["hmms"], m["channels"]), (back["hmms"], back["channels"]))
        scores = self.ok("score", "1.json", "d.csv").out
        with open(self.path("d.csv")) as f:
            rows = [line.split(",") for line in f.read().splitlines()]
        self.write("turned.csv", "\n".join(",".join(r[:2] + r[:1:-1]) for r in rows) + "\n")
        self.assertEqual(self.ok("score", "1.json", "turned.csv").out, scores)
        self.write("less.csv", "\n".join(",".join(r[:4] + r[5:7]) for r in rows) + "\n")
        self.fails(1, "there is no column 'ward' to read; the columns are id, label, u, v, n, drip", "score", "1.json", "less.csv")

    def test_everywhere(self):
        self.data("d.csv", "u,v,ward,n,drip,note", record)
        self.life_and("m.json", "d.csv", "ward:categorical,n:poisson,u:gaussian-diag")
        self.life()
        self.life_and("l.json", "d.csv", "categorical")

    def life_and(self, models, data, emission):
        self.ok("fit", data, "--emission", emission, "--states", "2", "-o", models)
        for method in ("ppk-sc", "kl-sc", "kl-sampled-ac", "hem-gmm", "shem"):
            self.ok("cluster", models, "-k", "2", "--method", method, "-o", "c.json")
            self.ok("info", "c.json")
        self.ok("report", "c.json", "--models", models, "--data", data, "-o", "r.html", "--tables", "t")
        with open(self.path("t/emissions.tsv")) as f:
            head, *rows = [line.split("\t") for line in f.read().splitlines()]
        self.assertEqual({len(row) for row in rows}, {len(head)})
        self.assertEqual(set(head[5:]), {"p_state_work", "p_state_home", "p_state_school, night", "p_state_7"}
                         if emission == "categorical" else
                         {"p_ward_in", "p_ward_out", "p_ward_icu", "rate_n", "mu_u", "cov_u"})
        for row in rows if emission == "categorical" else []:            # probabilities of the symbols of one state
            self.assertAlmostEqual(sum(map(float, row[5:])), 1)
        self.ok("stats", "c.json", "d.csv")
        self.ok("cluster", data, "-k", "2", "--states", "2", "--method", "em-h3m", "--emission", emission, "--restarts", "2",
                "-o", "c.json")
        self.ok("assign", "c.json", data)
        self.ok("tree", models, "-k", "4,2", "--restarts", "2", "-o", "t.json")
        self.ok("choose", models, "-k", "1..2", "--restarts", "2")
        self.ok("compare", models, models)
        self.ok("classify", "train", data, "--emission", emission, "--states", "2", "-o", "k.json")
        self.ok("classify", "predict", "k.json", data)

    def test_misuse(self):
        self.data("d.csv", "u,v,ward,n,drip,note", record)
        for spec in ("gamma:", ":gamma", "u:gamma,,n:poisson"):
            self.fails(2, "--emission by column is COL:NAME", "fit", "d.csv", "--emission", spec, "-o", "m.json")
        self.fails(2, "there is no family 'product' for a column", "fit", "d.csv", "--emission", "u:product", "-o", "m.json")
        self.fails(2, "--emission is one of", "fit", "d.csv", "--emission", "product", "-o", "m.json")
        self.fails(1, "there is no column 'w' to read; the columns are", "fit", "d.csv", "--emission", "w:gamma", "-o", "m.json")
        self.fails(1, "each column of symbols is a channel of its own", "fit", "d.csv", "--emission", "n+drip:categorical",
                   "-o", "m.json")
        self.fails(1, "categorical takes one column, the data has 6", "fit", "d.csv", "--emission", "categorical", "-o",
                   "m.json")
        self.fails(1, "column 'u' is -", "fit", "d.csv", "--emission", "ward:categorical,u:gamma", "-o", "m.json")


if __name__ == "__main__":
    unittest.main()
