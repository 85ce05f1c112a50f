# SPDX-License-Identifier: BSD-3-Clause
"""vhem fit: models, reports, the same bytes for the same seed, refusals."""
import json
import math
import re
import unittest

from support import Case, forward, model, two_level


def frames_of(csv, name):
    rows = [line.split(",") for line in csv.splitlines()[1:]]
    return [[float(v) for v in row[-2:]] for row in rows if row[0] == name]


class Fit(Case):
    def setUp(self):
        super().setUp()
        self.csv = two_level()
        self.write("d.csv", self.csv)

    def load(self, name):
        return json.loads(self.path(name).read_text())

    def test_one_hmm_per_sequence(self):
        r = self.ok("fit", "d.csv", "--states", "2", "-o", "m.json")
        self.assertEqual(r.out, "")
        self.assertIn("4 HMMs from 4 sequences (178 frames) in m.json: mean log-likelihood", r.err)
        self.assertIn("next: 'vhem cluster m.json -k K'", r.err)
        self.leftovers("d.csv", "m.json")
        m = self.load("m.json")
        self.assertEqual((m["format"], m["version"], m["emission"], m["d"]), ("vhem-h3m", 1, "gaussian-diag", 2))
        lengths = sorted(len(frames_of(self.csv, f"seq{i}")) for i in range(4))
        self.assertEqual(m["lengths"], {"min": lengths[0], "median": lengths[1], "max": lengths[3]})
        self.assertEqual([h["name"] for h in m["hmms"]], ["seq0", "seq1", "seq2", "seq3"])
        self.assertEqual([h["label"] for h in m["hmms"]], ["even", "odd", "even", "odd"])
        for h in m["hmms"]:
            self.assertEqual((h["S"], h["M"]), (2, 1))
            means = sorted((c[0][0], c[0][1]) for c in h["mu"])
            self.assertAlmostEqual(means[0][0], 0, delta=0.5)
            self.assertAlmostEqual(means[1][0], 5, delta=0.5)
            self.assertAlmostEqual(means[1][1], -3, delta=0.6)
            for row in [h["pi"], *h["A"]]:
                self.assertAlmostEqual(sum(row), 1, places=9)

    def test_store_gives_the_bytes_of_fit(self):
        """Fresh, resumed with half of the models, at any number of threads, and when somebody has edited a record."""
        lines = self.csv.splitlines()
        self.write("g.csv", "\n".join([lines[0] + ",who"] + [line + f",p{int(line[3]) % 3}" for line in lines[1:]]) + "\n")
        for n, more in enumerate((["d.csv"], ["d.csv", "--prior", "none"], ["d.csv", "--cov", "full", "-M", "2"],
                                  ["g.csv", "--group", "who"], ["d.csv", "--model", "dtm"],
                                  ["d.csv", "--emission", "x:gaussian-diag,y:gaussian-diag"])):
            args = ["fit", *more, "-S", "2", "-r", "2", "--seed", "3"]
            self.ok(*args, "-o", "plain.json")
            want, store = self.path("plain.json").read_bytes(), self.path(f"s{n}")
            for threads in ("1", "3"):
                self.ok(*args, "-o", "m.json", "--store", f"t{n}{threads}", "-t", threads)
                self.assertEqual(self.path("m.json").read_bytes(), want, more)
            whole = self.path(f"t{n}1").read_bytes().splitlines(keepends=True)
            store.write_bytes(b"".join(whole[:-2]))
            r = self.ok(*args, "-o", "m.json", "--store", f"s{n}")
            self.assertEqual(self.path("m.json").read_bytes(), want, more)
            self.assertNotIn("damaged", r.err)
            self.assertEqual(len(store.read_bytes().splitlines()), len(whole))
            edited = whole[-1].replace(b'"A": [[', b'"A": [[ ')
            self.assertNotEqual(edited, whole[-1])
            store.write_bytes(b"".join(whole[:-1]) + edited)
            r = self.ok(*args, "-o", "m.json", "--store", f"s{n}")
            self.assertIn("is damaged and will be fitted again: its checksum does not agree", r.err)
            self.assertEqual(self.path("m.json").read_bytes(), want, more)

    def test_json_report(self):
        r = self.ok("fit", "d.csv", "-S", "2", "--restarts", "3", "--seed", "5", "-o", "m.json", "--json")
        report, m = r.json(), self.load("m.json")
        self.assertEqual((report["command"], report["input"], report["output"]), ("fit", "d.csv", "m.json"))
        self.assertEqual((report["seed"], report["interrupted"], len(report["models"])), (5, False, 4))
        for one, h in zip(report["models"], m["hmms"], strict=True):
            self.assertEqual((one["name"], len(one["restarts"])), (h["name"], 3))
            frames = frames_of(self.csv, one["name"])
            self.assertEqual(one["frames"], len(frames))
            best = one["restarts"][one["best"]]
            # restarts that differ by rounding alone are a tie, which the first wins
            self.assertAlmostEqual(best["bound"], max(run["bound"] for run in one["restarts"]), places=6)
            self.assertEqual(set(best), {"loglik", "bound", "n_iter", "converged", "revived", "floored"})
            # the reported likelihood is that of the model in the file, worked out independently
            self.assertAlmostEqual(one["loglik"], forward(h, frames), delta=1e-6 * abs(one["loglik"]))
            self.assertAlmostEqual(one["per_frame"], one["loglik"] / len(frames), places=10)

    def test_default_restarts_are_those_of_the_help(self):
        shown = re.search(r"--restarts R .*?\(default:\s+(\d+);", self.ok("fit", "--help").out, re.S).group(1)
        report = self.ok("fit", "d.csv", "-o", "m.json", "--json").json()
        self.assertEqual([len(one["restarts"]) for one in report["models"]], [int(shown)] * 4)

    def test_same_seed_same_bytes(self):
        args = ["fit", "d.csv", "-S", "3", "-M", "2", "--seed", "9", "--quiet"]
        self.ok(*args, "-o", "a.json", "--threads", "1")
        self.ok(*args, "-o", "other-name.json", "--threads", "2")
        self.ok(*args, "-o", "c.json", "--threads", "7")
        piped = self.ok(*args, "--threads", "2").out
        self.ok("fit", "d.csv", "-S", "3", "-M", "2", "--seed", "10", "--quiet", "-o", "d.json")
        one = self.path("a.json").read_bytes()
        self.assertEqual(one, self.path("other-name.json").read_bytes())
        self.assertEqual(one, self.path("c.json").read_bytes())
        self.assertEqual(one.decode(), piped)
        self.assertNotEqual(one, self.path("d.json").read_bytes())
        self.assertNotEqual(self.load("a.json")["hmms"], self.load("d.json")["hmms"])

    def test_provenance(self):
        self.ok("fit", "d.csv", "-S", "2", "--tol", "1e-6", "--seed", "4", "-o", "m.json", "--quiet")
        made = self.load("m.json")["provenance"]
        self.assertEqual({k: made[k] for k in ("program", "command", "input", "seed")},
                         {"program": "vhem", "command": "fit", "input": "d.csv", "seed": 4})
        self.assertEqual(set(made), {"program", "version", "command", "input", "options", "seed", "backend"})
        options = made["options"]
        self.assertEqual((options["states"], options["mix"], options["cov"], options["tol"]), (2, 1, "diag", 1e-6))
        self.assertGreaterEqual(options["restarts"], 1)
        self.assertEqual(set(options) & {"threads", "output"}, set())
        self.assertNotIn("000000001", self.path("m.json").read_text().split("provenance")[1])
        for states in ("1..2", "auto"):
            self.ok("fit", "d.csv", "-S", states, "-o", "m.json", "--quiet")
            self.assertEqual(self.load("m.json")["provenance"]["options"]["states"], states)
            self.assertIn(f"--states {states}", self.ok("info", "m.json").out)

    def test_quiet(self):
        self.assertEqual(self.ok("fit", "d.csv", "-S", "2", "-o", "m.json", "--quiet").err, "")

    def test_stdin_and_stdout(self):
        r = self.ok("fit", "-", "-S", "2", "-o", "-", stdin=self.csv)
        m = json.loads(r.out)
        self.assertEqual(len(m["hmms"]), 4)
        self.assertIn("in standard output", r.err)
        self.ok("fit", "d.csv", "-S", "2", "-o", "m.json")
        self.assertEqual(m["hmms"], self.load("m.json")["hmms"])

    def test_groups(self):
        r = self.ok("fit", "d.csv", "-S", "2", "--group", "label", "-o", "m.json", "--json")
        m = self.load("m.json")
        self.assertEqual([h["name"] for h in m["hmms"]], ["even", "odd"])
        self.assertEqual([one["frames"] for one in r.json()["models"]], [40 + 46, 43 + 49])
        self.assertIn("2 HMMs from 4 sequences", r.err)
        loglik = sum(forward(m["hmms"][0], frames_of(self.csv, s)) for s in ("seq0", "seq2"))
        self.assertAlmostEqual(r.json()["models"][0]["loglik"], loglik, delta=1e-6 * abs(loglik))

    def test_full_covariance_and_mixtures(self):
        self.ok("fit", "d.csv", "-S", "2", "-M", "2", "--cov", "full", "--columns", "x,y", "-o", "m.json")
        m = self.load("m.json")
        self.assertEqual(m["emission"], "gaussian-full")
        cov = m["hmms"][0]["cov"][1][1]
        self.assertEqual((len(cov), len(cov[0])), (2, 2))
        self.assertEqual(cov[0][1], cov[1][0])

    def test_hdf5(self):
        self.ok("fit", "d.csv", "-S", "2", "-o", "m.h5")
        self.ok("fit", "d.csv", "-S", "2", "-o", "m.json")
        self.ok("convert", "m.h5", "back.json")
        self.assertEqual(self.load("m.json")["hmms"], self.load("back.json")["hmms"])

    def test_columns_and_where(self):
        self.ok("fit", "d.csv", "-S", "2", "--columns", "y", "--where", "label=odd", "-o", "m.json")
        m = self.load("m.json")
        self.assertEqual((m["d"], [h["name"] for h in m["hmms"]]), (1, ["seq1", "seq3"]))


class Prior(Case):
    def setUp(self):
        super().setUp()
        self.write("d.csv", two_level())

    def load(self, name):
        return json.loads(self.path(name).read_text())

    def test_prior_is_written_and_read_back(self):
        for ending in ("json", "h5"):
            self.ok("fit", "d.csv", "-S", "2", "--prior", "vb", "-o", f"m.{ending}")
            self.ok("fit", "d.csv", "-S", "2", "--prior", f"m.{ending}", "-o", "again.json")
            if ending == "h5":
                self.ok("convert", "m.h5", "m2.json")
            first, again = self.load("m2.json" if ending == "h5" else "m.json"), self.load("again.json")
            self.assertEqual(first["prior"], again["prior"])
            self.assertEqual(first["hmms"], again["hmms"])
        prior = first["prior"]
        self.assertEqual((prior["format"], prior["emission"], prior["start"]), ("vhem-prior", "gaussian-diag", "broad"))
        self.assertGreater(prior["nu"], 1)                       # one frame, and more because they are correlated
        self.ok("fit", "d.csv", "-S", "2", "--prior", "vb:nu0=3,frames=all", "-o", "three.json")
        self.assertEqual(self.load("three.json")["prior"]["nu"], 3)
        self.ok("fit", "d.csv", "-S", "1..2", "--prior", "nu0=3,frames=all", "-o", "bare.json")
        self.assertEqual(self.load("bare.json")["prior"], self.load("three.json")["prior"])
        self.write("p.json", json.dumps(dict(prior, mine=[1])))  # the prior by itself, with a key of one's own
        self.ok("fit", "d.csv", "-S", "2", "--prior", "p.json", "-o", "again.json")
        self.assertEqual(self.load("again.json")["hmms"], first["hmms"])
        self.assertEqual(self.load("again.json")["prior"]["mine"], [1])

    def test_a_sequence_by_itself_gets_the_same_model(self):
        self.ok("fit", "d.csv", "-S", "2", "--prior", "vb", "-o", "m.json")
        self.ok("fit", "d.csv", "-S", "2", "--prior", "m.json", "--where", "id=seq2", "-o", "one.json")
        self.assertEqual(self.load("one.json")["hmms"][0], self.load("m.json")["hmms"][2])

    def test_no_zeros_but_those_of_the_topology(self):
        self.ok("fit", "d.csv", "-S", "3", "--prior", "vb", "--topology", "left-right", "-o", "m.json")
        for h in self.load("m.json")["hmms"]:
            self.assertEqual(h["pi"], [1, 0, 0])
            for s, row in enumerate(h["A"]):
                for q, a in enumerate(row):
                    self.assertTrue(a == 0 if q < s else a > 0)

    def test_report(self):
        r = self.ok("fit", "d.csv", "-S", "2", "--prior", "vb", "-o", "m.json", "--json").json()
        m, csv = self.load("m.json"), two_level()
        for one, h in zip(r["models"], m["hmms"], strict=True):
            best = one["restarts"][one["best"]]
            self.assertLess(best["bound"], best["loglik"])
            self.assertGreaterEqual(best["bound"], max(run["bound"] for run in one["restarts"]) - 1e-6)
            self.assertAlmostEqual(one["loglik"], forward(h, frames_of(csv, one["name"])),
                                   delta=1e-6 * abs(one["loglik"]))

    def test_none_and_starts(self):
        self.ok("fit", "d.csv", "-S", "2", "--prior", "none", "-o", "none.json")
        self.assertNotIn("prior", self.load("none.json"))
        self.ok("fit", "d.csv", "--init", "none.json", "-o", "a.json")
        self.assertNotIn("prior", self.load("a.json"))  # from a file: plain Baum-Welch unless told
        self.ok("fit", "d.csv", "--init", "none.json", "--prior", "vb", "-o", "b.json")
        self.assertIn("prior", self.load("b.json"))

    def test_few_frames_are_told(self):
        few = self.ok("fit", "d.csv", "-S", "12", "--prior", "none", "-o", "m.json").err
        self.assertIn("about 4 frames for each state are few for 2 dimensions: variances may be far too small; "
                      "--prior vb, or fewer --states, help", few)
        held = self.ok("fit", "d.csv", "-S", "12", "--prior", "vb", "-o", "m.json").err
        self.assertIn("are few for 2 dimensions: the prior draws variances", held)
        self.assertNotIn("are few", self.ok("fit", "d.csv", "-S", "2", "-o", "m.json").err)

    def test_refused(self):
        self.ok("fit", "d.csv", "-S", "2", "--prior", "vb", "-o", "m.json")
        self.ok("fit", "d.csv", "-S", "2", "--prior", "none", "-o", "none.json")
        for prior, more, sentence in (
                ("m.json", ["--cov", "full"], "the prior is for gaussian-diag models, not for gaussian-full"),
                ("none.json", [], "none.json: it has no prior: it was not fitted with one"),
                ("nu=1", [], "prior: there is no setting 'nu'; known are nu0, count, lambda, start, frames"),
                ("vb:nu=1", [], "prior: there is no setting 'nu'")):
            self.fails(1, sentence, "fit", "d.csv", "-S", "2", "--prior", prior, *more, "-o", "x.json")


class Start(Case):
    """--init FILE and --topology."""

    def setUp(self):
        super().setUp()
        self.csv = two_level(n_seq=2)
        self.write("d.csv", self.csv)

    def test_exact_iteration(self):
        """One iteration from a given model is one step of Baum-Welch, worked out here by brute force."""
        frames = [[0.1], [3.0], [2.5], [-0.4]]
        self.write("t.csv", "id,x\n" + "".join(f"a,{y[0]}\n" for y in frames))
        h = {"name": "h", "S": 2, "M": 1, "pi": [0.6, 0.4], "A": [[0.7, 0.3], [0.4, 0.6]], "c": [[1], [1]],
             "mu": [[[0]], [[2]]], "cov": [[[1]], [[2]]]}
        self.write("start.json", model([h], [1]))
        self.ok("fit", "t.csv", "--init", "start.json", "--restarts", "1", "--tol", "0", "--cov-floor", "0",
                "--max-iter", "1", "-o", "m.json")
        got = json.loads(self.path("m.json").read_text())["hmms"][0]
        want = baum_welch_step(h, frames)
        for key in ("pi", "A"):
            for a, b in zip(flat(got[key]), flat(want[key]), strict=True):
                self.assertAlmostEqual(a, b, places=10)
        for key in ("mu", "cov"):
            for a, b in zip(flat(got[key]), flat(want[key]), strict=True):
                self.assertAlmostEqual(a, b, places=9)
        self.ok("fit", "t.csv", "--init", "start.json", "--max-iter", "0", "-o", "same.json")
        same = json.loads(self.path("same.json").read_text())["hmms"][0]
        self.assertEqual((same["pi"], same["A"], same["mu"]), (h["pi"], h["A"], h["mu"]))

    def test_sizes_follow_the_start(self):
        self.ok("fit", "d.csv", "-S", "4", "-M", "2", "--cov", "full", "-o", "m.json")
        self.ok("fit", "d.csv", "--init", "m.json", "-o", "again.json")
        self.assertEqual(json.loads(self.path("again.json").read_text())["hmms"][0]["S"], 4)
        self.fails(1, "m.json has 4 states, but --states asks for 2", "fit", "d.csv", "--init", "m.json", "-S", "2",
                   "-o", "x.json")
        self.fails(1, "but --mix asks for 1", "fit", "d.csv", "--init", "m.json", "-M", "1", "-o", "x.json")
        self.fails(1, "but --cov asks for diag", "fit", "d.csv", "--init", "m.json", "--cov", "diag", "-o", "x.json")
        self.fails(1, "nowhere.json", "fit", "d.csv", "--init", "nowhere.json", "-o", "x.json")

    def test_left_right(self):
        self.ok("fit", "d.csv", "-S", "3", "--topology", "left-right", "-o", "m.json")
        for h in json.loads(self.path("m.json").read_text())["hmms"]:
            self.assertEqual([h["A"][1][0], h["A"][2][0], h["A"][2][1]], [0, 0, 0])

    def test_topology_file(self):
        self.write("t.json", '{"A": [[null, null, 0], [0, 0.5, null], [null, 0, null]], "pi": [1, 0, 0]}')
        self.ok("fit", "d.csv", "--topology", "t.json", "-o", "m.json")
        for h in json.loads(self.path("m.json").read_text())["hmms"]:
            self.assertEqual((h["pi"], h["A"][0][2], h["A"][1][0], h["A"][2][1]), ([1, 0, 0], 0, 0, 0))
            self.assertEqual(h["A"][1][1], 0.5)
        self.write("p.json", '{"pi": [null, 0]}')
        self.ok("fit", "d.csv", "--topology", "p.json", "-o", "m.json")
        self.assertEqual(json.loads(self.path("m.json").read_text())["hmms"][0]["pi"], [1, 0])

    def test_broken_topologies(self):
        cases = [
            ("{", "line 1"),
            ("[1]", 'needs an object with "pi", "A" or both'),
            ('{"B": 1}', 'needs an object with "pi", "A" or both'),
            ('{"A": [[1, 0], [1]]}', "row 1 of A must be a list of 2 entries"),
            ('{"A": [[1, 0], [0.5, "x"]]}', "entry 1 of row 1 of A must be null (free) or a number"),
            ('{"A": [[0.7, 0.7], [null, null]]}', "the fixed entries of row 0 of A sum to 1.4, must be 1"),
            ('{"A": [[0.7, 0.7, null], [1, 0, 0], [1, 0, 0]]}', "sum to 1.4, must be at most 1"),
            ('{"pi": [2, null]}', "entry 0 of pi is 2, a probability lies between 0 and 1"),
            ('{"pi": []}', "pi must be a list with one entry per state"),
        ]
        for text, sentence in cases:
            self.write("t.json", text)
            r = self.fails(1, sentence, "fit", "d.csv", "--topology", "t.json", "-o", "m.json")
            self.assertIn("t.json", r.err)
        self.write("t.json", '{"pi": [1, 0]}')
        self.fails(1, "t.json has 2 states, but --states asks for 3", "fit", "d.csv", "--topology", "t.json", "-S", "3",
                   "-o", "m.json")
        self.fails(1, "nowhere.json", "fit", "d.csv", "--topology", "nowhere.json", "-o", "m.json")
        self.leftovers("d.csv", "t.json")


class FewFrames(Case):
    def test_warning(self):
        self.write("d.csv", "id,who,x\n" + "".join(f"{i // 2},{i // 6},{i % 5}\n" for i in range(18)) + "9,2,1\n")
        r = self.ok("fit", "d.csv", "--states", "4", "--columns", "x", "-o", "m.json")
        self.assertIn("vhem fit: warning: 10 of 10 sequences have fewer frames than the 4 states; did you mean "
                      "--group?", r.err)
        self.assertIn("next: 'vhem cluster m.json -k K' groups them", r.err)
        r = self.ok("fit", "d.csv", "--states", "4", "--group", "who", "--columns", "x", "-o", "m.json")
        self.assertNotIn("fewer frames", r.err)
        r = self.ok("fit", "d.csv", "--states", "2", "--columns", "x", "-o", "m.json")
        self.assertIn("1 of 10 sequences has fewer frames than the 2 states", r.err)


class Refused(Case):
    def test_missing_values(self):
        self.write("d.csv", "id,x,y\na,1,2\na,3,\na,4,5\nb,1,1\n")
        self.fails(1, "sequence 'a': frame 1 (counted from 0), column 'y' is missing, which dynamic textures cannot do "
                   "without; drop such rows or fill them in first, or fit HMMs", "fit", "d.csv", "-o", "m.json", "--model",
                   "dtm", "--states", "1")
        self.leftovers("d.csv")

    def test_broken_inputs(self):
        self.write("text.csv", "id,x\na,1\na,two\n")
        r = self.fails(1, "text.csv", "fit", "text.csv", "--columns", "x", "-o", "m.json")
        self.assertIn("two", r.err)
        self.write("short.csv", "id,x,y\na,1,2\na,3\n")
        self.fails(1, "short.csv", "fit", "short.csv", "-o", "m.json")
        self.write("empty.csv", "")
        self.fails(1, "empty.csv", "fit", "empty.csv", "-o", "m.json")
        self.write("good.csv", "id,x\na,1\na,2\n")
        self.fails(1, "nosuch", "fit", "good.csv", "--id", "nosuch", "-o", "m.json")
        self.fails(1, "nosuch", "fit", "good.csv", "--columns", "x,nosuch", "-o", "m.json")
        self.fails(1, "nowhere.csv", "fit", "nowhere.csv", "-o", "m.json")
        self.leftovers("text.csv", "short.csv", "empty.csv", "good.csv")

    def test_a_model_is_no_data(self):
        self.write("m.json", model())
        self.fails(1, "m.json", "fit", "m.json", "-o", "x.json")


def flat(x):
    return [v for part in x for v in flat(part)] if isinstance(x, list) else [x]


def baum_welch_step(h, frames):
    """One EM iteration by summing over every path; one dimension, one Gaussian per state."""
    import itertools
    S, T = h["S"], len(frames)
    weights = {}
    for path in itertools.product(range(S), repeat=T):
        p = h["pi"][path[0]]
        for t in range(T):
            mu, var, y = h["mu"][path[t]][0][0], h["cov"][path[t]][0][0], frames[t][0]
            p *= math.exp(-0.5 * (y - mu) ** 2 / var) / math.sqrt(2 * math.pi * var)
            p *= h["A"][path[t - 1]][path[t]] if t else 1
        weights[path] = p
    total = sum(weights.values())
    gamma = [[sum(p for path, p in weights.items() if path[t] == s) / total for s in range(S)] for t in range(T)]
    xi = [[sum(p * sum(path[t - 1] == r and path[t] == s for t in range(1, T)) for path, p in weights.items()) / total
           for s in range(S)] for r in range(S)]
    mass = [sum(g[s] for g in gamma) for s in range(S)]
    mu = [sum(g[s] * y[0] for g, y in zip(gamma, frames)) / mass[s] for s in range(S)]
    cov = [sum(g[s] * (y[0] - mu[s]) ** 2 for g, y in zip(gamma, frames)) / mass[s] for s in range(S)]
    return {"pi": gamma[0], "A": [[v / sum(row) for v in row] for row in xi],
            "mu": [[[m]] for m in mu], "cov": [[[v]] for v in cov]}


if __name__ == "__main__":
    unittest.main()
