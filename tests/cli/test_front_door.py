# SPDX-License-Identifier: BSD-3-Clause
"""vhem cluster DATA and its kin: groups of sequences with nothing said but the data, and all that can be done with them."""
import json
import math
import random
import signal
import subprocess
import time
import unittest

from support import HANGS, VHEM, Case, forward, log_sum, same_partition

KINDS = 4


def curves(kinds=KINDS, each=8, frames=30, seed=1, noise=0.15):
    """(name, kind, frames) of circles and eights, whose kinds pass through the same places in another order."""
    rng, found = random.Random(seed), []
    for k in range(kinds):
        for n in range(each):
            T, phase, rows = frames + rng.randrange(-4, 5), rng.uniform(-0.3, 0.3), []
            for t in range(T):
                a = 2 * math.pi * t / T + phase
                x, y = math.sin((a, -a, 2 * a, a)[k]), math.cos(2 * a if k == 3 else a)
                rows.append([x + rng.gauss(0, noise), y + rng.gauss(0, noise)])
            found.append((f"k{k}n{n}", f"kind{k}", rows))
    return found


def table(sequences, columns="x,y", group=None):
    """As CSV; group: of a name."""
    head = "id,label" + (",g" if group else "") + "," + columns
    return "\n".join([head] + [",".join([name, kind] + ([group(name)] if group else []) + [f"{v:.5f}" if v is not None else "" for v in row])
                               for name, kind, rows in sequences for row in rows]) + "\n"


def pairs(name):
    """Two sequences of a kind make a group."""
    return f"{name[:2]}g{int(name[3:]) // 2}"


class Door(Case):
    def setUp(self):
        super().setUp()
        self.sequences = curves()
        self.kinds = [kind for _, kind, _ in self.sequences]
        self.write("d.csv", table(self.sequences))
        self.write("g.csv", table(self.sequences, group=pairs))

    def load(self, name):
        return json.loads(self.path(name).read_text())

    def cluster(self, *args, command="cluster", out="c.json", said=False):
        r = self.ok(command, *args, "-o", out)
        return (self.load(out), r.err) if said else self.load(out)


class Clusters(Door):
    def test_the_file(self):
        c, said = self.cluster("d.csv", "-k", KINDS, said=True)
        self.assertEqual((c["method"], c["names"]), ("auto", [name for name, _, _ in self.sequences]))
        self.assertTrue(same_partition(c["labels"], self.kinds))
        self.assertEqual(c["labels"], sorted(c["labels"]))                    # numbered as they appear
        self.assertFalse({"bound", "choice", "restarts"} & set(c))
        self.assertEqual(c["share"], [1.0] * len(c["labels"]))
        self.check_graphs(c)
        self.check_numbers(c)
        self.assertEqual([h["name"] for h in c["centers"]["hmms"]], [f"cluster_{k}" for k in range(KINDS)])
        self.assertEqual({h["S"] for h in c["centers"]["hmms"]}, {c["options"]["S"]})
        self.assertIn(c["options"]["topology"], ("free", "linear"))
        self.assertEqual((c["options"]["K"], c["options"]["M"]), (KINDS, 1))
        self.check_message(c, said)

    def check_graphs(self, c):
        kept = [g for g in c["graphs"] if g.get("kept")]
        self.assertEqual(len(kept), 1)
        self.assertEqual(max(g["modularity"] + g["stability"] for g in c["graphs"]), kept[0]["modularity"] + kept[0]["stability"])
        self.assertEqual((kept[0]["agreement"], "labels" in kept[0]), (1, False))
        self.assertEqual(c["graphs"][-1]["graph"], "elastic distance")
        for g in c["graphs"]:
            self.assertTrue(g.get("kept") or len(g["labels"]) == len(c["labels"]))
            self.assertEqual("topology" in g, g["graph"] != "elastic distance")
            self.assertIn(f"{g['topology']} models of {g['S']} states" if "S" in g else "elastic", g["graph"])

    def check_numbers(self, c):
        """L_hmm is the likelihood of a sequence under a centre, z the posterior."""
        omega, hmms = c["centers"]["omega"], c["centers"]["hmms"]
        self.assertEqual(omega, [1 / KINDS] * KINDS)
        for i in range(0, len(c["labels"]), 5):
            for j, hmm in enumerate(hmms):
                self.assertAlmostEqual(c["L_hmm"][i][j], forward(hmm, [[round(v, 5) for v in row] for row in self.sequences[i][2]]),
                                       delta=1e-8 * abs(c["L_hmm"][i][j]))
            terms = [math.log(w) + x for w, x in zip(omega, c["L_hmm"][i])]
            for z, term in zip(c["z"][i], terms):
                self.assertAlmostEqual(z, math.exp(term - log_sum(terms)), delta=1e-9)

    def check_message(self, c, said):
        lines = [line for line in said.splitlines() if " found by " in line]
        self.assertEqual(len(lines), 1)
        kept = next(g for g in c["graphs"] if g.get("kept"))
        rest = [g for g in c["graphs"] if not g.get("kept")]
        self.assertIn(f"found by {kept['graph']} (modularity {kept['modularity']:.2f}, stability {kept['stability']:.2f}; next ", lines[0])
        self.assertTrue(any(f"next {g['graph']}, {g['modularity']:.2f}, {g['stability']:.2f}" in lines[0] for g in rest))
        self.assertIn("vhem assign puts 100 % of the sequences back into their group", said)
        self.assertIn("agreement with the labels: Rand index 1.000, adjusted 1.000", said)

    def test_how_many(self):
        found, said = self.cluster("d.csv", said=True)
        self.assertTrue(same_partition(found["labels"], self.kinds))
        self.assertIn(f"{KINDS} clusters of 32 sequences in c.json, by auto", said)
        tried = {row["K"]: row["modularity"] + row["stability"] for row in found["choice"]}
        self.assertEqual(list(tried), sorted(tried))
        self.assertEqual(max(list(tried)[:-1], key=tried.get), KINDS)
        kept = next(g for g in found["graphs"] if g.get("kept"))
        self.assertEqual(tried[KINDS], kept["modularity"] + kept["stability"])
        made = found.pop("provenance")
        self.assertEqual((made["options"]["clusters"], made["options"]["states"], made["options"]["topology"]), ("auto", None, None))
        said = self.cluster("d.csv", "-k", "auto")
        self.assertEqual(said.pop("provenance"), made)
        self.assertEqual(said, found)
        self.assertIn("with       --clusters auto --method auto", self.ok("info", "c.json").out)

    def test_groups(self):
        c, said = self.cluster("g.csv", "--group", "g", "-k", KINDS, said=True)
        self.assertEqual(c["names"], [f"k{k}g{n}" for k in range(KINDS) for n in range(4)])
        self.assertTrue(same_partition(c["labels"], [name[:2] for name in c["names"]]))
        self.assertTrue(c["options"]["by_group"])
        self.assertNotIn("elastic", json.dumps(c["graphs"]))
        self.assertIn("4 clusters of 16 groups", said)
        self.assertIn("of the groups back into their group", said)
        self.assertIn("16 groups in 4 clusters", self.ok("info", "c.json").out)
        rows = self.ok("assign", "c.json", "g.csv", "--group", "g").rows()
        self.assertEqual([int(row["cluster"]) for row in rows], c["labels"])

    def test_a_tree(self):
        tree = self.cluster("d.csv", "-k", "4,2", command="tree", out="t.json")
        self.assertEqual([level["method"] for level in tree["levels"]], ["auto", "vhem"])
        low, high = tree["levels"]
        flat = self.cluster("d.csv", "-k", 4)
        for key in ("labels", "z", "L_hmm", "share", "graphs"):
            self.assertEqual(low[key], flat[key])
        self.assertEqual(low["base_labels"], flat["labels"])
        self.assertEqual((len(high["labels"]), len(high["base_labels"]), high["options"]["by_group"]), (4, 32, False))
        self.assertEqual([high["labels"][j] for j in low["labels"]], high["base_labels"])
        self.assertIn("bound", high)
        other = self.cluster("d.csv", "-k", "4,2", out="u.json")
        self.assertEqual(other["levels"], tree["levels"])
        for out in (self.ok("info", "t.json").out, self.ok("eval", "t.json", "--data", "d.csv").out):
            self.assertIn("level 2", out)
        self.ok("report", "t.json", "--data", "d.csv", "-o", "t.html")
        self.assertEqual([row["cluster1"] for row in self.ok("assign", "t.json", "d.csv").rows()], [str(j) for j in low["labels"]])

    def test_what_restricts_the_shapes(self):
        for args, S, topology, shapes in ((["--states", 4], 4, None, {"free models of 4 states", "linear models of 4 states"}),
                                          (["--topology", "linear"], None, "linear", {"linear models of 5 states", "linear models of 8 states"}),
                                          (["--topology", "free"], 3, "free", {"free models of 3 states"}),
                                          (["--topology", "left-right", "-S", 3], 3, "left-right", {"left-right models of 3 states"}),
                                          (["--mix", 2], None, None, {"free models of 3 states"})):
            c = self.cluster("d.csv", "-k", KINDS, *args)
            names = {g["graph"] for g in c["graphs"]}
            self.assertLessEqual(shapes, names)
            self.assertNotIn("elastic distance", names)
            self.assertTrue(S is None or {h["S"] for h in c["centers"]["hmms"]} == {S})
            self.assertTrue(topology is None or c["options"]["topology"] == topology)
            asked = c["provenance"]["options"]
            self.assertEqual((asked["states"], asked["topology"]), (S if "topology" not in str(args) or S == 3 and "-S" in args else None, topology))
            self.assertEqual({h["M"] for h in c["centers"]["hmms"]}, {2 if "--mix" in args else 1})
            if topology != "free":           # whose states may return: an order tells them little
                self.assertTrue(same_partition(c["labels"], self.kinds), args)

    def test_landmarks(self):
        c, said = self.cluster("d.csv", "-k", KINDS, "--landmarks", 20, said=True)
        self.assertIn("warning: the groups are those of 20 of the 32 items", said)
        self.assertTrue(same_partition(c["labels"], self.kinds))
        self.assertTrue(all("labels" not in g for g in c["graphs"]))
        self.assertNotIn("share", c)
        self.ok("report", "c.json", "-o", "r.html")
        self.fails(1, "4 clusters need at least as many landmarks, there are 3", "cluster", "d.csv", "-k", 4, "--landmarks", 3)
        tree = self.cluster("d.csv", "-k", "4,2", "--landmarks", 20, "-S", 3, "--mix", 2, "--topology", "linear", command="tree")
        self.assertEqual([level["method"] for level in tree["levels"]], ["auto", "vhem"])  # all that is said is for the lowest
        whole = self.cluster("d.csv", "-k", KINDS, "--landmarks", 60, out="w.json")      # as many as there are
        self.assertEqual(whole["labels"], self.cluster("d.csv", "-k", KINDS)["labels"])


class Choices(Door):
    def test_as_cluster_chooses(self):
        r = self.ok("choose", "d.csv")
        rows, c = r.rows(), self.cluster("d.csv")
        self.assertEqual([int(row["K"]) for row in rows], [row["K"] for row in c["choice"]])
        for row, told in zip(rows, c["choice"], strict=True):
            self.assertEqual((row["modularity"], row["stability"]), (f"{told['modularity']:.3f}", f"{told['stability']:.3f}"))
        self.assertEqual([row["K"] for row in rows if row["best"] == "yes"], [str(KINDS)])
        self.assertIn(f"recommended: {KINDS} clusters, found by ", r.err)
        self.assertIn(f"next: vhem cluster d.csv -k {KINDS} -o clusters.json", r.err)
        told = self.ok("choose", "d.csv", "--json").json()
        self.assertEqual((told["recommended"], [row["K"] for row in told["choices"]]), (KINDS, [row["K"] for row in c["choice"]]))

    def test_numbers_that_are_asked_for(self):
        rows = self.ok("choose", "d.csv", "-k", "13,2..4,1").rows()
        self.assertEqual([row["K"] for row in rows], ["13", "2", "3", "4", "1"])
        self.assertEqual([row["best"] for row in rows], ["", "", "", "yes", ""])
        self.assertEqual((rows[-1]["stability"], rows[-1]["sum"]), ("-", "-"))   # alone, it has nothing to agree with
        told = self.ok("choose", "d.csv", "-k", "3", "-j").json()
        self.assertEqual((told["recommended"], len(told["choices"])), (3, 1))
        rows = self.ok("choose", "g.csv", "-k", "4,5", "-g", "g", "-o", "t.tsv")
        self.assertIn("recommended: 4 clusters", rows.err)

    def test_refusals(self):
        self.fails(1, "d.csv holds 32 sequences, too few for 33 clusters", "choose", "d.csv", "-k", "2,33")
        for option in ("splits", "seeds", "path"):
            self.fails(2, f"--{option} is about models, but d.csv holds sequences", "choose", "d.csv", f"--{option}", 1)
        self.fails(2, "--states 2..3: models of sequences have one number of states", "choose", "d.csv", "-S", "2..3")
        self.fails(2, "vhem choose compares clusters of models, or of sequences by method auto", "choose", "d.csv", "-k", 2, "--method", "em-h3m")
        self.fails(2, "which numbers of clusters?", "choose", "no.json", "--method", "vhem")
        self.ok("fit", "d.csv", "-S", 2, "-r", 1, "-q", "-o", "m.json")
        self.fails(2, "which numbers of clusters?", "choose", "m.json")

    def test_models_fitted_first(self):
        how = ["-k", "3,4", "--method", "kl-sc", "--splits", 0, "--path", 0, "--seeds", 0, "-q"]
        self.ok("fit", "d.csv", "-q", "-o", "m.json")
        self.assertEqual(self.ok("choose", "d.csv", *how).out, self.ok("choose", "m.json", *how).out)


class Other(Door):
    """What can be done with such a file."""

    def test_assign(self):
        c, said = self.cluster("d.csv", "-k", 7, said=True)       # more than there are: the centres would move some
        rows = self.ok("assign", "c.json", "d.csv").rows()
        best = [max(range(7), key=z.__getitem__) for z in c["z"]]
        self.assertEqual([int(row["cluster"]) for row in rows], best)
        back = sum(a == b for a, b in zip(best, c["labels"])) / len(best)
        self.assertIn(f"vhem assign puts {100 * back:.0f} % of the sequences back into their group", said)
        told = self.ok("cluster", "d.csv", "-k", 7, "-j", "-q", "-o", "j.json").json()
        self.assertAlmostEqual(told["put_back"], back)
        self.assertEqual([(g["graph"], g["kept"]) for g in told["graphs"]], [(g["graph"], bool(g.get("kept"))) for g in c["graphs"]])
        self.ok("fit", "d.csv", "-S", 3, "-q", "-o", "m.json")
        self.assertEqual(len(self.ok("assign", "c.json", "m.json").rows()), 32)

    def test_measures_and_tests(self):
        self.cluster("d.csv", "-k", KINDS, "--models", "m.json")
        out = self.ok("eval", "c.json", "--data", "d.csv", "--models", "m.json").out
        for line in ("adjusted Rand index", "log-likelihood", "expected log-likelihood", "modularity"):
            self.assertIn(line, out)
        near = self.ok("stats", "c.json", "d.csv").rows()
        far = self.ok("stats", "c.json", "d.csv", "--leave-out", "--models", "m.json", "-t", 1).rows()
        self.assertEqual(self.ok("stats", "c.json", "d.csv", "--leave-out", "--models", "m.json", "-t", 3).rows(), far)
        for a, b in zip(near, far):
            if a["test"] == "paired-t":
                self.assertGreater(float(a["mean_a"]), float(b["mean_a"]))    # the own centre has not seen the person
                self.assertEqual(a["mean_b"], b["mean_b"])                    # and the others had not before
        self.write("e.csv", table(self.sequences[:-1]))
        self.fails(1, "centres are made again from the sequences of the others, but the data lack 'k3n7', which was clustered", "stats",
                   "c.json", "e.csv", "--leave-out")

    def test_models_of_the_shape(self):
        """vhem fit --shape auto fits the models that vhem cluster --models keeps."""
        self.cluster("d.csv", "--models", "m.json")
        said = self.ok("fit", "d.csv", "--shape", "auto", "-o", "s.json").err
        kept, shaped = json.loads(self.path("m.json").read_text()), json.loads(self.path("s.json").read_text())
        self.assertEqual(kept["hmms"], shaped["hmms"])
        options = shaped["provenance"]["options"]
        self.assertIn(f"models are {options['topology']}, of {options['states']} states", said)
        for other in (("-S", 2), ("--states", "auto"), ("--topology", "linear"), ("-k", 2), ("--model", "dtm"), ("--init", "m.json")):
            self.fails(2, "--shape auto and", "fit", "d.csv", "--shape", "auto", *other, "-o", "n.json")
        self.fails(2, "it is auto", "fit", "d.csv", "--shape", "linear", "-o", "n.json")

    def test_a_person_left_out(self):
        """The centre without a sequence is that of a fit to the others, from where it was."""
        c = self.cluster("d.csv", "-k", KINDS)
        self.ok("stats", "c.json", "d.csv", "--leave-out", "-o", "p.tsv", "-q")
        rows = [line.split("\t") for line in self.path("p.tsv").read_text().splitlines()]
        row = dict(zip(rows[0], rows[4], strict=True))
        others = [s for s, label in zip(self.sequences, c["labels"]) if label == 0 and s[0] != row["sequence"]]
        self.write("o.csv", table(others, group=lambda _: "one"))
        start = {**c["centers"], "hmms": c["centers"]["hmms"][:1], "omega": [1]}
        self.write("start.json", json.dumps(start))
        self.ok("fit", "o.csv", "--group", "g", "--init", "start.json", "-r", 1, "--prior", "start.json", "-q", "-o", "f.json")
        frames = [[round(v, 5) for v in r] for r in self.sequences[3][2]]
        self.assertEqual(row["sequence"], "k0n3")
        self.assertAlmostEqual(float(row["loglik_0"]), forward(self.load("f.json")["hmms"][0], frames) / len(frames), places=4)

    def test_report(self):
        c = self.cluster("d.csv", "--models", "m.json")
        self.ok("report", "c.json", "--data", "d.csv", "--models", "m.json", "--stats", "leave-out", "--tables", "t", "-o", "r.html")
        page = self.path("r.html").read_text()
        self.assertIn("and in 99\u00a0% or more of the samples of the sequences", page)
        self.assertNotIn("runs with as good a bound", page)
        self.assertIn('"of":"samples"', page)
        for g in c["graphs"]:
            self.assertIn(f"<th scope=\"row\">{g['graph']}</th><td>", page)
            self.assertIn(f"<td>{g['modularity']:.3f}</td><td>{g['stability']:.3f}</td>", page)
        self.assertEqual(page.count("<td>kept</td>"), 2)                      # a graph, a number
        self.assertIn("vhem cluster d.csv <span>--clusters auto</span> <span>--method auto</span> <span>--emission", page)
        graphs = [line.split("\t") for line in self.path("t/graphs.tsv").read_text().splitlines()]
        self.assertEqual([(row[0], float(row[1]), row[4]) for row in graphs[1:]],
                         [(g["graph"], g["modularity"], str(int(g.get("kept", False)))) for g in c["graphs"]])
        self.assertEqual(len(self.path("t/restarts.tsv").read_text().splitlines()), 1)
        states = [line.split("\t") for line in self.path("t/states.tsv").read_text().splitlines()]
        share = {}
        for row in states[1:]:
            share[row[1]] = share.get(row[1], 0) + float(row[4])
            self.assertLess(float(row[4]), 0.7)           # of a sequence of usual length, not of its beginning
        self.assertTrue(all(abs(x - 1) < 1e-9 for x in share.values()))
        page = self.ok("report", "c.json", "-o", "s.html") and self.path("s.html").read_text()
        self.assertIn("samples of the sequences", page)

    def test_other_commands(self):
        c = self.cluster("d.csv", "-k", KINDS)
        told = self.ok("info", "c.json", "--json").json()
        self.assertEqual((told["item"], told["levels"][0]["method"], told["levels"][0]["K"]), ("sequence", "auto", KINDS))
        self.ok("convert", "c.json", "-o", "centres.h5")
        self.ok("convert", "centres.h5", "-o", "centres.json")
        for a, b in zip(self.load("centres.json")["hmms"], c["centers"]["hmms"], strict=True):
            self.assertEqual({k: a[k] for k in ("pi", "A", "mu", "cov")}, {k: b[k] for k in ("pi", "A", "mu", "cov")})
        self.assertEqual(len(self.ok("score", "c.json", "d.csv").rows()), 32)
        self.ok("decode", "c.json", "d.csv", "-o", "p.csv")
        self.ok("sample", "c.json", "-n", 2, "-o", "s.csv")
        self.ok("compare", "c.json", "-o", "k.csv")
        again = self.cluster("c.json", "-k", 2, out="again.json")             # the centres are models
        self.assertEqual((again["method"], len(again["labels"])), ("vhem", KINDS))

    def test_other_inputs(self):
        want = self.cluster("d.csv", "-k", KINDS)["labels"]
        for name in ("d.h5", "d.npy"):
            self.ok("convert", "d.csv", "-o", name)
            self.assertEqual(self.cluster(name, "-k", KINDS)["labels"], want)
        self.ok("cluster", "-", "-k", KINDS, "-o", "c.json", stdin=self.path("d.csv").read_text())
        self.assertEqual(self.load("c.json")["labels"], want)


class Fitted(Door):
    """A method for models, and a preset, get those that vhem fit would make."""

    def same(self, method, shape=(), table="d.csv", group=()):
        self.ok("fit", table, *shape, *group, "-q", "-o", "m.json")
        two = self.cluster("m.json", "-k", KINDS, *method, out="two.json")
        one = self.cluster(table, "-k", KINDS, *method, *shape, *group, "--models", "n.json", out="one.json")
        for key in set(one) | set(two):
            if key != "provenance":
                self.assertEqual(one.get(key), two.get(key), (method, key))
        fitted, saved = self.load("m.json"), self.load("n.json")
        made = saved.pop("provenance")
        self.assertEqual((made["command"], made["input"]), ("fit", table))
        fitted.pop("provenance")
        self.assertEqual(saved, fitted)
        return one

    def test_same_as_two_commands(self):
        for method in (["--method", "vhem", "-r", 3], ["--method", "kl-sc"], ["--preset", "paper", "-r", 3], ["--method", "vbhem", "-r", 2]):
            self.same(method)
        c = self.same(["--method", "kl-sc"], ["-S", 2, "--topology", "left-right", "--cov", "full"])
        made = c["provenance"]["options"]
        self.assertEqual((made["states"], made["topology"], made["emission"]), (2, "left-right", "gaussian-full"))
        self.same(["--method", "vhem", "-r", 2], ["-S", 2], "g.csv", ["--group", "g"])

    def test_trees(self):
        self.ok("fit", "d.csv", "-q", "-o", "m.json")
        how = ["-k", "4,2", "--method", "kl-sc"]
        a, b = self.cluster("m.json", *how, command="tree"), self.cluster("d.csv", *how, command="tree")
        self.assertEqual([level["labels"] for level in a["levels"]], [level["labels"] for level in b["levels"]])

    def test_textures(self):
        self.ok("fit", "d.csv", "--model", "dtm", "-S", 2, "-q", "-o", "m.json")
        how = ["-k", 4, "-r", 1, "--max-iter", 2]
        a, b = self.cluster("m.json", *how), self.cluster("d.csv", *how, "--method", "hem-dtm", "-S", 2)
        self.assertEqual((a["labels"], a["bound"]), (b["labels"], b["bound"]))

    def test_a_start(self):
        self.ok("fit", "d.csv", "-q", "-o", "m.json")
        self.ok("cluster", "m.json", "-k", KINDS, "-r", 2, "-q", "-o", "start.json")
        how = ["--init", "start.json", "-r", 1]
        self.assertEqual(self.cluster("d.csv", *how)["z"], self.cluster("m.json", *how)["z"])
        self.assertEqual(self.cluster("d.csv", *how)["method"], "vhem")


class Models(Door):
    def test_of_the_kept_shape(self):
        for args in ([], ["-k", 3, "-S", 4], ["--topology", "left-right", "-S", 3, "--mix", 2]):
            c = self.cluster("d.csv", *args, "--models", "m.json")
            kept = next(g for g in c["graphs"] if g.get("kept"))
            shape = kept if "S" in kept else c["options"]
            self.ok("fit", "d.csv", "-S", shape["S"], "--topology", shape["topology"], "--mix", c["options"]["M"], "-q", "-o", "f.json")
            saved, fitted = self.load("m.json"), self.load("f.json")
            made = saved.pop("provenance")
            fitted.pop("provenance")
            self.assertEqual(saved, fitted)
            self.assertEqual((made["command"], made["options"]["states"], made["options"]["topology"]), ("fit", shape["S"], shape["topology"]))
            self.assertEqual(set(made["options"]) & {"clusters", "method", "landmarks"}, set())

    def test_of_groups_and_to_hdf5(self):
        _, said = self.cluster("g.csv", "--group", "g", "-k", KINDS, "--models", "m.h5", said=True)
        self.assertIn("16 HMMs of ", said)
        self.assertIn(" in m.h5", said)
        told = self.ok("info", "m.h5", "--json").json()
        self.assertEqual((told["K"], told["provenance"]["options"]["group"]), (16, "g"))
        self.ok("report", "c.json", "--models", "m.h5", "--data", "g.csv", "--group", "g", "-o", "r.html")
        self.ok("eval", "c.json", "--models", "m.h5")

    def test_elastic_distance_has_the_shape_of_the_centres(self):
        rng = random.Random(5)
        lines = [f"s{i},{rng.gauss(5 * (i % 2), 1):.4f}" for i in range(24)]              # one frame each
        self.write("o.csv", "id,x\n" + "\n".join(lines) + "\n")
        c = self.cluster("o.csv", "-k", 2, "--models", "m.json")
        self.assertEqual([g["graph"] for g in c["graphs"] if g.get("kept")], ["elastic distance"])
        self.assertEqual({h["S"] for h in self.load("m.json")["hmms"]}, {c["options"]["S"]})

    def test_refusals(self):
        self.fails(2, "m.csv: models are written as .json or .h5", "cluster", "d.csv", "--models", "m.csv")
        self.fails(2, "--models needs a file, .json or .h5, not standard output", "cluster", "d.csv", "--models", "-")
        self.fails(2, "--output and --models are both m.json", "cluster", "d.csv", "--models", "m.json", "-o", "m.json")
        self.fails(1, "nowhere", "cluster", "d.csv", "--models", "nowhere/m.json")
        self.ok("fit", "d.csv", "-S", 1, "-r", 1, "-q", "-o", "m.json")
        self.fails(2, "--models is about sequences, but m.json holds models", "cluster", "m.json", "-k", 2, "--models", "n.json")
        self.fails(1, "m.json: writing it would replace the input m.json", "cluster", "d.csv", "--init", "m.json", "--models", "m.json")
        self.ok("cluster", "d.csv", "-k", 2, "--models", "m.json", "-o", "c.json")        # an older one may go
        self.leftovers("c.json", "d.csv", "g.csv", "m.json")


class Usage(Door):
    def test_options_of_other_methods(self):
        for args in (["--tau", 3], ["--nv", 5], ["--init", "far"], ["--search", "fast"], ["--restarts", 4], ["--soft", 3], ["--max-iter", 9]):
            for command in ("cluster", "tree"):
                self.fails(2, f"{args[0]} is for clustering models; with --method vhem, which uses it, models are fitted to the sequences "
                           "first", command, "d.csv", "-k", 2, *args)
        self.fails(2, "--linkage is for clustering models; with --method ppk-ac", "cluster", "d.csv", "-k", 2, "--linkage", "single")
        self.fails(2, "--prior is for clustering models; with --method vbhem", "cluster", "d.csv", "--prior", "nu=5")
        self.fails(2, "method auto does not use --tau", "cluster", "no.csv", "-k", 2, "--method", "auto", "--tau", 3)
        self.fails(2, "method vhem does not use --linkage", "cluster", "no.csv", "-k", 2, "--method", "vhem", "--linkage", "single")
        self.fails(2, "method em-h3m does not use --topology", "cluster", "no.csv", "-k", 2, "--method", "em-h3m", "--topology", "linear")
        self.leftovers("d.csv", "g.csv")

    def test_number_of_clusters(self):
        for args in (["--method", "vhem"], ["--method", "em-h3m"], ["--preset", "paper"], ["--method", "vbhem", "-k", "auto"]):
            self.fails(2, "give the number of clusters with -k K; 'vhem choose' helps to find it", "cluster", "no.csv", *args)
        self.ok("fit", "d.csv", "-S", 1, "-r", 1, "-q", "-o", "m.json")
        for more in ([], ["-k", "auto"]):
            self.fails(2, "give the number of clusters with -k K", "cluster", "m.json", *more)
        self.fails(2, "how many clusters at each level?", "tree", "d.csv")
        self.fails(2, "--clusters needs whole numbers of at least 1 like 8,4,2, not '0'", "cluster", "d.csv", "-k", 0)
        self.fails(1, "d.csv holds 32 sequences, too few for 33 clusters", "cluster", "d.csv", "-k", 33)
        self.fails(1, "g.csv holds 16 groups, too few for 17 clusters", "cluster", "g.csv", "-k", 17, "-g", "g")
        self.fails(1, "d.csv holds 32 sequences, too few for 40 clusters", "cluster", "d.csv", "-k", 40, "--method", "vhem")

    def test_models_are_no_sequences(self):
        self.ok("fit", "d.csv", "-S", 1, "-r", 1, "-q", "-o", "m.json")
        self.fails(1, "method auto clusters sequences, but m.json holds models", "cluster", "m.json", "-k", 2, "--method", "auto")
        for option, value in (("topology", "linear"), ("emission", "poisson"), ("group", "g"), ("columns", "x")):
            self.fails(2, f"--{option} is about sequences, but m.json holds models", "cluster", "m.json", "-k", 2, f"--{option}", value)


class Relations(Door):
    """What must not change the groups."""

    def setUp(self):
        super().setUp()
        self.want = {name: kind for name, kind, _ in self.sequences}

    def check(self, text, *args, exact=True):
        self.write("e.csv", text)
        for more in ([], ["-k", KINDS]):
            c = self.cluster("e.csv", *more, *args, out="e.json")
            kinds = [self.want[name] for name in c["names"]]
            self.assertTrue(same_partition(c["labels"], kinds), (args, more, c["labels"]))

    def each(self, change, columns="x,y"):
        return table([(name, kind, [change(row) for row in rows]) for name, kind, rows in self.sequences], columns)

    def test_order_of_sequences(self):
        for seed in range(3):
            shuffled = random.Random(seed).sample(self.sequences, len(self.sequences))
            self.check(table(shuffled))

    def test_units(self):
        for change in (lambda r: [1000 * v for v in r], lambda r: [v + 5 for v in r], lambda r: [0.001 * r[0] - 7, 1e6 * r[1]],
                       lambda r: r[::-1], lambda r: [-v for v in r]):
            self.check(self.each(change))

    def test_a_constant_column(self):
        self.check(self.each(lambda r: [*r, 3.0], "x,y,z"))

    def test_columns_of_noise(self):
        for seed in range(3):
            rng = random.Random(seed)
            self.check(self.each(lambda r: [*r, rng.gauss(0, 1), rng.gauss(5, 2)], "x,y,u,v"))

    def test_other_seeds(self):
        for seed in range(4):
            self.check(table(self.sequences), "--seed", seed)

    def test_a_few_more_and_fewer(self):
        self.check(table(self.sequences[3:]))
        self.check(table(self.sequences[:-3]))

    def test_values_that_are_missing(self):
        rng = random.Random(8)
        self.check(self.each(lambda r: [None if rng.random() < 0.15 else v for v in r]))

    def test_threads(self):
        for args in (["d.csv"], ["g.csv", "--group", "g", "-k", 3], ["d.csv", "-k", 5, "--landmarks", 20], ["d.csv", "-k", "6,2"]):
            for threads in (1, 2, 5):
                self.ok("cluster", *args, "-t", threads, "-q", "--models", f"m{threads}.json", "-o", f"t{threads}.json")
            for threads in (2, 5):
                for a, b in ((f"t{threads}.json", "t1.json"), (f"m{threads}.json", "m1.json")):
                    self.assertEqual(self.path(a).read_bytes(), self.path(b).read_bytes(), args)


class Strange(Door):
    def test_copies(self):
        name, kind, rows = self.sequences[0]
        r = self.ok("cluster", self.write("e.csv", table([*self.sequences, ("twin", kind, rows)])), "-k", KINDS)
        self.assertIn("warning: 1 of 33 is an exact copy of another: twin", r.err)
        r = self.ok("cluster", self.write("e.csv", table([*self.sequences, ("twin", kind, rows), ("third", kind, rows)])), "-k", KINDS)
        self.assertIn("warning: 2 of 34 are exact copies of others: twin, third", r.err)
        self.assertNotIn("copies", self.ok("cluster", "d.csv", "-k", KINDS).err)
        r = self.ok("cluster", self.write("e.csv", table([(f"s{i}", kind, rows) for i in range(9)])))
        self.assertIn("warning: all 9 are exact copies of each other: their groups mean nothing", r.err)

    def test_of_no_kind(self):
        rng = random.Random(3)
        broken = ("broken", "kind0", [[rng.gauss(0, 9), rng.gauss(0, 9)] for _ in range(30)])
        r = self.ok("cluster", self.write("e.csv", table([*self.sequences, broken])), "-k", KINDS)
        self.assertIn("warning: 1 of 33 fits no cluster well, and may be of a kind of its own or broken: broken", r.err)
        self.assertNotIn("fits no cluster", self.ok("cluster", "d.csv", "-k", KINDS).err)

    def test_without_values(self):
        empty = ("empty", "kind0", [[None, None]] * 5)
        self.write("e.csv", table([*self.sequences, empty]))
        self.fails(1, "sequence 32 ('empty'): none of its frames has a value, so there is nothing to fit; delete its rows", "cluster", "e.csv")
        half = [(name, kind, [[r[0], None] for r in rows] if name == "k1n1" else rows) for name, kind, rows in self.sequences]
        r = self.ok("cluster", self.write("e.csv", table(half)), "-k", KINDS)
        self.assertIn("warning: column 'y' has no value in 1 of 32 (k1n1): models are compared without it", r.err)
        gone = [(name, kind, [[r[0], None] for r in rows]) for name, kind, rows in self.sequences]
        r = self.run_vhem("cluster", self.write("e.csv", table(gone)))
        self.assertEqual(r.code, 1)
        self.assertIn("column 'y' is missing throughout; leave it out with --columns 'x'", r.err)
        self.ok("cluster", "e.csv", "--columns", "x")
        self.fails(1, "its sequences have no value in column 'y', which a full covariance needs", "cluster",
                   self.write("e.csv", table(half)), "--cov", "full")

    def test_infinite_values(self):
        text = self.path("d.csv").read_text()
        self.fails(1, "line 3, column 'x': found an infinite value, expected a finite one", "cluster",
                   self.write("e.csv", "\n".join([*text.splitlines()[:2], "k0n0,kind0,inf,1", *text.splitlines()[2:]]) + "\n"))

    def test_few(self):
        for n in range(1, 6):
            some = self.sequences[::7][:n]
            self.write("e.csv", table(some))
            for K in range(0, n + 1):
                c = self.cluster("e.csv", *(["-k", K] if K else []))
                self.assertEqual(max(c["labels"]) + 1, K if K else min(n, 2))
                self.ok("report", "c.json", "--data", "e.csv", "-o", "r.html")
                self.ok("info", "c.json")
            self.fails(1, f"too few for {n + 1} clusters", "cluster", "e.csv", "-k", n + 1)
        self.write("e.csv", table(self.sequences[:1]))
        self.assertIn("warning: there is only 1 sequence, so there is nothing to group\n", self.cluster("e.csv", said=True)[1])

    def test_one_each(self):
        c = self.cluster("d.csv", "-k", 32)
        self.assertEqual(c["labels"], list(range(32)))
        c, said = self.cluster("d.csv", "-k", 1, said=True)
        self.assertEqual((set(c["labels"]), c["z"]), ({0}, [[1.0]] * 32))
        self.assertNotIn("found by", said)

    def test_short_ones(self):
        rng = random.Random(2)
        for frames, more in ((1, []), (1, ["--topology", "linear"]), (2, []), (6, ["-S", 9]), (1, ["-S", 4])):
            lines = [f"s{i},{rng.gauss(9 * (i % 2), 1):.4f}" for i in range(20) for _ in range(frames)]
            self.write("o.csv", "id,x\n" + "\n".join(lines) + "\n")
            c, said = self.cluster("o.csv", "-k", 2, *more, said=True)
            self.assertTrue(same_partition(c["labels"], [i % 2 for i in range(20)]), (frames, more))
            self.assertEqual("every sequence has only one frame, so nothing is known of its course" in said, frames == 1)

    def test_nothing_that_varies(self):
        self.write("o.csv", "id,x\n" + "".join(f"s{i},3\n" for i in range(10) for _ in range(5)))
        r = self.run_vhem("cluster", "o.csv", "-k", 2)
        self.assertEqual(r.code, 1)
        self.assertIn("no column varies: there is nothing to tell the sequences apart by", r.err)


class Families(Case):
    """Not only numbers on a line."""

    def setUp(self):
        super().setUp()
        self.rng = random.Random(6)

    def found(self, emission, *more, n=24):
        r = self.ok("cluster", "d.csv", "-k", 2, "--emission", emission, *more, "-o", "c.json")
        c = json.loads(self.path("c.json").read_text())
        self.assertTrue(same_partition(c["labels"], [i % 2 for i in range(n)]), (emission, r.err))
        for command in (["assign", "c.json", "d.csv"], ["report", "c.json", "--data", "d.csv", "-o", "r.html"],
                        ["eval", "c.json", "--data", "d.csv"], ["stats", "c.json", "d.csv", "--leave-out"]):
            self.ok(*command)
        return c

    def rows(self, head, cell, n=24, frames=25):
        self.write("d.csv", head + "\n" + "".join(f"s{i},{cell(i % 2, t)}\n" for i in range(n) for t in range(frames)))

    def test_symbols(self):
        self.rows("id,c", lambda k, t: "abc"[(t if k else -t) % 3] if self.rng.random() < 0.9 else self.rng.choice("abc"))
        c = self.found("categorical")
        self.assertTrue(all("views" not in g["graph"] and "elastic" not in g["graph"] for g in c["graphs"]))
        self.found("c:categorical")
        r = self.run_vhem("cluster", "d.csv")
        self.assertIn("are they symbols? --emission categorical takes them", r.err)

    def test_counts(self):
        self.rows("id,n", lambda k, t: max(0, int(self.rng.gauss(10, 2) if (t // 5 + k) % 2 else self.rng.gauss(3, 1))))
        for emission in ("poisson", "gamma"):
            self.found(emission)

    def test_angles_by_column(self):
        def cell(k, t):
            angle = (0.3 * t * (1 if k else -1) + self.rng.gauss(0, 0.2) + math.pi) % (2 * math.pi) - math.pi
            return f"{angle:.4f},{self.rng.gauss(0, 1):.4f}"

        self.rows("id,a,x", cell)
        self.found("a:von-mises,x:gaussian-diag")
        self.found("von-mises", "--columns", "a")
        self.found("a:von-mises,x:gaussian-full", "--mix", "2", "-S", 4)

    def test_bits(self):
        self.rows("id,b", lambda k, t: int(self.rng.random() < (0.9 if (t < 12) == bool(k) else 0.1)))
        self.found("bernoulli")

    def test_full_covariances(self):
        def cell(k, t):
            x = self.rng.gauss(0, 1)
            return f"{x:.4f},{(x if k else -x) + self.rng.gauss(0, 0.3):.4f}"

        self.rows("id,x,y", cell)
        self.found("gaussian-full")


class Interrupted(Case):
    def setUp(self):
        super().setUp()
        self.write("d.csv", table(curves(each=60, frames=120)))
        self.ready = {"d.csv"}

    def stop(self, *args, after, wait=None):
        p = subprocess.Popen([VHEM, *map(str, args), "-t", "1"], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started = time.monotonic()
        while p.poll() is None and (time.monotonic() - started < after if wait is None else not self.path(wait).exists()):
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=HANGS)[1]
        return p.returncode, err.splitlines()

    def test_nothing_half_written(self):
        done = 0
        for after in (0.05, 0.3, 0.8, 1.6):
            for args in (["cluster", "d.csv", "-o", "c.json"], ["choose", "d.csv", "-o", "t.tsv"], ["tree", "d.csv", "-k", "6,2", "-o", "c.json"]):
                code, lines = self.stop(*args, after=after)
                if code == 0 or code == -signal.SIGINT:    # too late, or too early
                    continue
                done += 1
                self.assertEqual(code, 130, (args, after))
                if lines[0].startswith("vhem tree: interrupted; the first level of 2 is saved in c.json; "):
                    self.leftovers("c.json", "d.csv")
                    self.assertEqual(json.loads(self.path("c.json").read_text())["method"], "auto")
                else:
                    self.assertEqual(lines, [f"vhem {args[0]}: interrupted; nothing was written"], (args, after))
                    self.leftovers("d.csv")
            for name in ("c.json", "t.tsv"):
                self.path(name).unlink(missing_ok=True)
        self.assertGreater(done, 0)

    def test_clusters_are_kept_when_models_are_not_finished(self):
        code, lines = self.stop("cluster", "d.csv", "-k", 4, "--models", "m.json", "-o", "c.json", after=0, wait="c.json")
        if code == 0:
            self.skipTest("it was faster than the signal")
        self.assertEqual((code, lines[-1]), (130, "vhem cluster: interrupted; the clusters are saved in c.json, but m.json was not written"))
        self.leftovers("c.json", "d.csv")
        self.ok("info", "c.json")


if __name__ == "__main__":
    unittest.main()
