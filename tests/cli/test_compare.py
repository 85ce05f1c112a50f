# SPDX-License-Identifier: BSD-3-Clause
"""vhem compare: divergences and kernels between the HMMs of one file or of two."""
import array
import ast
import csv
import json
import math
import unittest

from support import WINDOWS, Case, flock, model
import vhem_in_80_lines as oracle  # noqa: E402, I001: support knows where it is


def gauss(mu, var, name):
    return {"name": name, "S": 1, "M": 1, "pi": [1], "A": [[1]], "c": [[1]], "mu": [[[mu]]], "cov": [[[var]]]}


def kl(m0, v0, m1, v1):
    return 0.5 * (v0 / v1 - 1 + math.log(v1 / v0) + (m0 - m1) ** 2 / v1)


def bhattacharyya(m0, v0, m1, v1):
    """log of int sqrt(p q)."""
    return 0.25 * math.log(v0 * v1) - 0.5 * math.log((v0 + v1) / 2) - 0.25 * (m0 - m1) ** 2 / (v0 + v1)


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", model([gauss(0, 1, "p"), gauss(1, 2, "q,\t\"r\"")]))
        self.write("m.json", flock())
        self.models = json.loads(self.path("m.json").read_text())

    def test_gaussians(self):
        r = self.ok("compare", "g.json", "--tau", "5", "-n", "5000")
        rows = r.rows()
        self.assertEqual(list(rows[0]), ["a", "b", "kl", "kl_sampled", "error", "log_ppk"])
        self.assertEqual([(x["a"], x["b"]) for x in rows], [("p", 'q, "r"'), ('q, "r"', "p")])
        for row, want in zip(rows, [kl(0, 1, 1, 2), kl(1, 2, 0, 1)], strict=True):
            self.assertAlmostEqual(float(row["kl"]), 5 * want, delta=1e-9)
            self.assertAlmostEqual(float(row["kl_sampled"]), 5 * want, delta=4 * float(row["error"]))
            self.assertTrue(0 < float(row["error"]) < 0.1)
            self.assertAlmostEqual(float(row["log_ppk"]), 5 * bhattacharyya(0, 1, 1, 2), delta=1e-9)
        self.assertIn("2 HMMs against each other for sequences of 5 frames", r.err)
        both = self.ok("compare", "g.json", "--tau", "5", "--symmetric").rows()
        self.assertEqual(len(both), 1)
        self.assertAlmostEqual(float(both[0]["kl"]), 2.5 * (kl(0, 1, 1, 2) + kl(1, 2, 0, 1)), delta=1e-9)

    def test_matrix(self):
        rows = self.ok("compare", "m.json", "--kind", "kl").rows()
        hmms = self.models["hmms"]
        self.assertEqual(list(rows[0]), ["name"] + [h["name"] for h in hmms])
        for i, row in enumerate(rows):
            self.assertEqual(row["name"], hmms[i]["name"])
            for h in hmms[:3]:
                want = oracle.pair(hmms[i], hmms[i], 10)[0] - oracle.pair(hmms[i], h, 10)[0]
                self.assertAlmostEqual(float(row[h["name"]]), want, delta=1e-7 + 1e-9 * abs(want))
        kernel = self.ok("compare", "m.json", "--kind", "ppk").rows()
        for row in kernel:
            self.assertEqual(float(row[row["name"]]), 0)
            nearest = max((n for n in row if n not in ("name", row["name"])), key=lambda n: float(row[n]))
            self.assertEqual(nearest[:2], row["name"][:2])          # of the same kind

    def test_powers_and_raw(self):
        def value(*more):
            return float(self.ok("compare", "g.json", "--kind", "ppk", "--tau", "1", *more).rows()[0]['q, "r"'])
        self.assertAlmostEqual(value("--raw"), bhattacharyya(0, 1, 1, 2), delta=1e-12)
        expected = -0.5 * math.log(2 * math.pi * 3) - 1 / 6        # int p q
        self.assertAlmostEqual(value("--raw", "--lambda", "1"), expected, delta=1e-12)
        own = [-0.5 * math.log(2 * math.pi * 2 * v) for v in (1, 2)]
        self.assertAlmostEqual(value("--lambda", "1"), expected - sum(own) / 2, delta=1e-12)

    def test_two_files(self):
        self.ok("cluster", "m.json", "-k", "3", "-o", "c.json", "-q")
        rows = self.ok("compare", "m.json", "c.json", "--kind", "ppk").rows()
        labels = json.loads(self.path("c.json").read_text())["labels"]
        self.assertEqual(len(rows[0]), 4)
        for row, label in zip(rows, labels, strict=True):
            values = [float(x) for x in list(row.values())[1:]]
            self.assertEqual(values.index(max(values)), label)
        self.assertEqual(self.ok("compare", "m.json", "m.json").out, self.ok("compare", "m.json").out)

    def test_json(self):
        got = self.ok("compare", "g.json", "--json", "--tau", "3", "--seed", "7").json()
        self.assertEqual((got["command"], got["a"], got["b"], got["tau"], got["samples"], got["lambda"], got["seed"]),
                         ("compare", "g.json", "g.json", 3, 1000, 0.5, 7))
        self.assertEqual((got["normalised"], got["symmetric"], got["names_a"]), (True, False, ["p", 'q,\t"r"']))
        self.assertAlmostEqual(got["kl"][0][1], 3 * kl(0, 1, 1, 2), delta=1e-9)
        self.assertEqual(got["kl_sampled"][1][1], 0)
        self.assertGreater(got["kl_sampled_error"][0][1], 0)
        one = self.ok("compare", "g.json", "--json", "--kind", "ppk", "--tau", "3").json()
        self.assertEqual((one["kl"], one["kl_sampled"], one["kl_sampled_error"]), (None, None, None))
        self.assertEqual(one["log_ppk"], got["log_ppk"])

    def test_files(self):
        self.ok("compare", "g.json", "--kind", "ppk", "-o", "k.csv")
        with self.path("k.csv").open(newline="") as f:
            table = list(csv.reader(f))
        self.assertEqual(table[0], ["name", "p", 'q,\t"r"'])
        self.assertEqual([row[0] for row in table[1:]], table[0][1:])
        self.assertEqual(self.ok("compare", "g.json", "-o", "k.tsv", "-q").err, "")
        self.assertEqual(self.path("k.tsv").read_text(), self.ok("compare", "g.json").out)

    def test_arrays(self):
        """A matrix as .npy has the numbers of the table; one that is mapped from a file has those of its corner."""
        def numbers_of(name):
            data = self.path(name).read_bytes()
            self.assertEqual((data[:8], data[8:10]), (b"\x93NUMPY\x01\x00", b"\x76\x00"))
            head = ast.literal_eval(data[10:128].decode())
            self.assertEqual((head["descr"], head["fortran_order"], data[127:128]), ("<f8", False, b"\n"))
            return head["shape"], array.array("d", data[128:])

        rows = self.ok("compare", "m.json", "--kind", "kl").rows()
        self.ok("compare", "m.json", "--kind", "kl", "-o", "k.npy")
        shape, numbers = numbers_of("k.npy")
        names = [row["name"] for row in rows]
        self.assertEqual(shape, (len(rows), len(rows)))
        self.assertEqual(list(numbers), [float(row[name]) for row in rows for name in names])
        many = [gauss(i % 7, 1 + i % 5, f"g{i}") for i in range(2060)]
        self.write("many.json", model(many, [1 / 2060] * 2060))
        self.write("few.json", model(many[:512], [1 / 512] * 512))
        for kind, symmetric in (("kl", ["--symmetric"]), ("ppk", [])):
            self.ok("compare", "many.json", "--kind", kind, "--tau", "1", *symmetric, "-o", "many.npy")
            self.ok("compare", "few.json", "--kind", kind, "--tau", "1", *symmetric, "-o", "few.npy")
            (large, _), big = numbers_of("many.npy")
            (small, _), corner = numbers_of("few.npy")
            for i in range(0, small, 7):
                for a, b in zip(corner[i * small:(i + 1) * small:5], big[i * large:i * large + small:5]):
                    self.assertAlmostEqual(a, b, delta=1e-9)
            for i, k in ((3, 2059), (600, 1500), (2058, 513)):
                self.assertAlmostEqual(big[i * large + k], corner[i % 35 * small + k % 35], delta=1e-9)
        self.fails(2, "an array holds one matrix", "compare", "g.json", "-o", "k.npy")
        self.fails(2, "--json writes JSON, not an array", "compare", "nowhere.json", "--kind", "kl", "--json", "-o", "k.npy")
        self.fails(1, "too many for --json", "compare", "many.json", "--kind", "kl", "--json", "-o", "k.json")
        if WINDOWS:
            self.skipTest("the rest: wine itself needs a TMPDIR that is there")
        r = self.run_vhem("compare", "many.json", "--kind", "kl", "-o", "no.npy",
                          env={"TMPDIR": str(self.path("nowhere"))})
        self.assertEqual(r.code, 1)
        self.assertIn("cannot make a matrix of 32M", r.err)
        self.assertFalse(self.path("no.npy").exists())

    def test_same_bytes(self):
        for kind in ("kl", "kl-sampled", "ppk"):
            n = ["-n", "50"] if kind == "kl-sampled" else []
            one = self.ok("compare", "m.json", "--kind", kind, "--threads", "1", *n).out
            self.assertEqual(one, self.ok("compare", "m.json", "--kind", kind, "--threads", "2", *n).out)
        other = self.ok("compare", "m.json", "--kind", "kl-sampled", "-n", "50", "--seed", "9").out
        self.assertNotEqual(other, self.ok("compare", "m.json", "--kind", "kl-sampled", "-n", "50").out)

    def test_diagonal_against_full(self):
        full = json.loads(self.path("g.json").read_text())
        full["emission"] = "gaussian-full"
        for h in full["hmms"]:
            h["cov"] = [[[x] for x in m] for m in h["cov"]]
        self.write("f.json", json.dumps(full))
        rows = self.ok("compare", "g.json", "f.json", "--kind", "ppk").rows()
        self.assertAlmostEqual(float(rows[0]["p"]), 0, delta=1e-9)

    def test_mistakes(self):
        self.fails(2, "--lambda needs a number above 0, not '0'", "compare", "g.json", "--lambda", "0")
        for kind, option in (("kl", "lambda"), ("ppk", "samples")):
            self.fails(2, f"kind {kind} does not use --{option}", "compare", "g.json", "--kind", kind, f"--{option}", "2")
        self.fails(2, "--samples", "compare", "g.json", "--samples", "1")
        self.fails(2, "--kind", "compare", "g.json", "--kind", "cosine")
        wide = json.loads(self.path("g.json").read_text())
        wide["d"] = 2
        for h in wide["hmms"]:
            h["mu"], h["cov"] = [[[0, 1]]], [[[1, 1]]]
        self.write("w.json", json.dumps(wide))
        self.fails(1, "the first models have dimension 1, but the second have 2", "compare", "g.json", "w.json")
        wide["hmms"][1]["cov"] = [[[1, 0]]]
        self.write("s.json", json.dumps(wide))
        self.fails(1, "is singular", "compare", "s.json")
        self.fails(1, "the second models: HMM 1", "compare", "w.json", "s.json")
        self.write("many.json", flock(kinds=3, per_kind=50))
        self.fails(1, "150 times 150 pairs are too many", "compare", "many.json")
        self.write("d.csv", "id,x\na,1\na,2\n")
        self.fails(1, "vhem fit", "compare", "g.json", "d.csv")
        self.leftovers("g.json", "m.json", "w.json", "s.json", "many.json", "d.csv")


if __name__ == "__main__":
    unittest.main()
