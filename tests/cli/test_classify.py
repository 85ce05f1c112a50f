# SPDX-License-Identifier: BSD-3-Clause
"""vhem classify and annotate: what is learned, judged, added to, killed and taken up again."""
import json
import os
import random
import re
import shlex
import signal
import subprocess
import time
import unittest

from support import HANGS, SOURCE, VHEM, WINDOWS, Case


def letters(per_class=8, frames=30, classes=3, seed=1, first=0):
    """Sequences of a few classes that move between two levels, each class around its own."""
    rng = random.Random(seed)
    lines = ["id,letter,x,y"]
    for n in range(first, first + per_class):
        for c in range(classes):
            level = rng.randrange(2)
            for _ in range(frames + rng.randrange(10)):
                if rng.random() < 0.2 + 0.2 * c:
                    level = 1 - level
                x, y = rng.gauss(3 * level + c, 0.6), rng.gauss(-2 * level * (c - 1), 0.5)
                lines.append(f"s{n}_{c},{'abcdefgh'[c]},{x:.5f},{y:.5f}")
    return "\n".join(lines) + "\n"


def songs(n=12, fragments=3, frames=25, seed=2, first=0):
    """Songs of fragments; a song is slow or fast, and high or low: two of four tags each."""
    rng = random.Random(seed)
    lines, tags = ["fragment,song,x"], ["song,slow,fast,high,low"]
    for s in range(first, first + n):
        fast, high = s % 2, s // 2 % 2
        tags.append(f"song{s},{1 - fast},{fast},{high},{1 - high}")
        for f in range(fragments):
            level = rng.randrange(2)
            for _ in range(frames):
                if rng.random() < (0.5 if fast else 0.05):
                    level = 1 - level
                lines.append(f"{s}_{f},song{s},{rng.gauss(4 * level + 3 * high, 0.7):.5f}")
    return "\n".join(lines) + "\n", "\n".join(tags) + "\n"


TRAIN = ["--label", "letter", "--states", 2, "-k", 2, "--restarts", 4, "--seed", 3]
SONGS = ["--id", "fragment", "--group", "song"]


def without_provenance(text):
    model = json.loads(text)
    model.pop("provenance")
    return model


class Classify(Case):
    def setUp(self):
        super().setUp()
        self.write("train.csv", letters())
        self.write("test.csv", letters(seed=9, first=100))

    def test_classes_are_found_again(self):
        r = self.ok("classify", "train", "train.csv", *TRAIN, "-o", "m.json")
        self.assertIn("models of 3 classes in m.json", r.err)
        facts = self.ok("info", "m.json", "--json").json()
        self.assertEqual([c["name"] for c in facts["classes"]], ["a", "b", "c"])
        self.assertEqual([(c["examples"], c["K"]) for c in facts["classes"]], [(8, 2)] * 3)
        self.assertIn("models of 3 classes", self.ok("info", "m.json").out)
        rows = self.ok("classify", "predict", "m.json", "test.csv", "--label", "letter", "--all").rows()
        self.assertEqual(len(rows), 24)
        right = sum(row["label"] == row["class"] for row in rows)
        self.assertGreaterEqual(right, 22)
        for row in rows:
            self.assertAlmostEqual(sum(float(row[k]) for k in "abc"), 1, places=9)
            self.assertEqual(max("abc", key=lambda k: float(row[k])), row["class"])
        report = self.ok("classify", "eval", "m.json", "test.csv", "--label", "letter", "--json").json()
        self.assertAlmostEqual(report["summary"]["accuracy"], right / 24)
        self.assertEqual(sum(map(sum, report["confusion"])), 24)
        self.assertEqual(sum(report["confusion"][c][c] for c in range(3)), right)
        self.assertGreater(report["summary"]["P@3"], 0.9)

    def test_posteriors_are_bayes_rule(self):
        self.ok("classify", "train", "train.csv", *TRAIN, "--prior", "counts", "-o", "m.json")
        classes = json.loads(self.path("m.json").read_text())["classes"]
        pooled = {"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 2,
                  "omega": [c["prior"] * w for c in classes for w in c["model"]["omega"]],
                  "hmms": [h for c in classes for h in c["model"]["hmms"]]}
        self.write("pooled.json", json.dumps(pooled))
        self.write("t.csv", letters(per_class=1, frames=8, seed=5))
        from support import forward, log, log_sum
        rows = self.ok("classify", "predict", "m.json", "t.csv", "--label", "letter", "--all").rows()
        frames = {}
        for line in self.path("t.csv").read_text().splitlines()[1:]:
            name, _, x, y = line.split(",")
            frames.setdefault(name, []).append((float(x), float(y)))
        import math
        for row in rows:
            score = [log(c["prior"]) + log_sum([log(w) + forward(h, frames[row["name"]])
                                                for w, h in zip(c["model"]["omega"], c["model"]["hmms"])])
                     for c in classes]
            for c, s in zip(classes, score):
                self.assertAlmostEqual(float(row[c["name"]]), math.exp(s - log_sum(score)), places=8)

    def test_same_bytes_at_any_number_of_threads(self):
        for t in (1, 2, 3):
            self.ok("classify", "train", "train.csv", *TRAIN, "--threads", t, "-o", f"m{t}.json")
        self.assertEqual(self.path("m1.json").read_bytes(), self.path("m2.json").read_bytes())
        self.assertEqual(self.path("m1.json").read_bytes(), self.path("m3.json").read_bytes())

    def test_another_seed_is_another_start(self):
        found = set()
        for seed in range(4):
            self.ok("classify", "train", "train.csv", "--label", "letter", "-k", 2, "--estimator", "em-h3m", "--restarts",
                    1, "--max-iter", 1, "--seed", seed, "-o", "m.json")
            found.add(json.dumps(json.loads(self.path("m.json").read_text())["classes"]))
        self.assertEqual(len(found), 4)

    def test_update_is_a_training_with_everything(self):
        more = letters(per_class=3, seed=5, first=50, classes=2)
        self.write("more.csv", more)
        both = letters().rstrip("\n").splitlines() + more.splitlines()[1:]
        self.write("both.csv", "\n".join(both) + "\n")
        train = [*TRAIN, "--fit-prior", "none"]
        self.ok("classify", "train", "train.csv", *train, "-o", "m.json")
        before = json.loads(self.path("m.json").read_text())["classes"]
        self.ok("classify", "update", "m.json", "more.csv", "--label", "letter")
        self.ok("classify", "train", "both.csv", *train, "-o", "all.json")
        after = without_provenance(self.path("m.json").read_text())
        self.assertEqual(after, without_provenance(self.path("all.json").read_text()))
        self.assertEqual([c["things"] for c in after["classes"]], [11, 11, 8])
        self.assertEqual(before[2]["model"], after["classes"][2]["model"])       # nobody touched it
        self.assertNotEqual(before[0]["model"], after["classes"][0]["model"])
        bytes_before = self.path("m.json.store").stat().st_size
        self.ok("classify", "update", "m.json", "more.csv", "--label", "letter")     # nothing is new
        self.assertEqual(after, without_provenance(self.path("m.json").read_text()))
        self.assertEqual(bytes_before, self.path("m.json.store").stat().st_size)

    def test_prior_of_the_pieces(self):
        """It is learnt once and goes with the classes: what comes later has the same."""
        more = letters(per_class=3, seed=5, first=50, classes=2)
        self.write("more.csv", more)
        self.write("both.csv", "\n".join(letters().rstrip("\n").splitlines() + more.splitlines()[1:]) + "\n")
        train = [*TRAIN, "--fit-prior"]
        self.ok("classify", "train", "train.csv", *train, "vb", "-o", "m.json")
        prior = json.loads(self.path("m.json").read_text())["piece"]["prior"]
        self.assertEqual(json.loads(prior)["format"], "vhem-prior")
        self.ok("classify", "update", "m.json", "more.csv", "--label", "letter")
        after = without_provenance(self.path("m.json").read_text())
        self.assertEqual(after["piece"]["prior"], prior)
        self.write("prior.json", prior)
        self.ok("classify", "train", "both.csv", *train, "prior.json", "-o", "all.json")
        whole = without_provenance(self.path("all.json").read_text())
        self.assertEqual(json.loads(whole["piece"]["prior"]), json.loads(prior))
        for a, b in zip(after["classes"], whole["classes"], strict=True):
            self.assertEqual(a["model"], b["model"])
        self.ok("classify", "train", "train.csv", *train, "none", "-o", "none.json")
        none = json.loads(self.path("none.json").read_text())
        self.assertEqual(none["piece"].get("prior", "none"), "none")
        self.assertNotEqual(none["classes"][0]["model"], json.loads(self.path("m.json").read_text())["classes"][0])

    def test_prior_in_the_store(self):
        """What a store holds of other data never changes an answer; --prior FILE goes on with a prior."""
        head, *rows = letters().rstrip("\n").splitlines()
        names = sorted({row.split(",")[0] for row in rows})
        some = [row for row in rows if row.split(",")[0] in names[:6]]
        self.write("some.csv", "\n".join([head, *some]) + "\n")
        fit = ["--label", "letter", "-S", "2"]
        for name in ("some", "train"):
            self.ok("fit", f"{name}.csv", *fit, "--store", "s", "-o", f"{name}.json")
            self.ok("fit", f"{name}.csv", *fit, "--store", f"{name}.s", "-o", f"{name}1.json")
            with_store, alone = (json.loads(self.path(f"{n}.json").read_text()) for n in (name, f"{name}1"))
            self.assertEqual((with_store["prior"], with_store["hmms"]), (alone["prior"], alone["hmms"]))
        some, whole = (json.loads(self.path(f"{n}.json").read_text()) for n in ("some", "train"))
        self.assertNotEqual(some["prior"], whole["prior"])
        size = self.path("s").stat().st_size
        self.ok("fit", "train.csv", *fit, "--store", "s", "-o", "again.json")    # all of it is there
        self.assertEqual(size, self.path("s").stat().st_size)
        self.assertEqual(json.loads(self.path("again.json").read_text())["hmms"], whole["hmms"])
        self.ok("fit", "train.csv", *fit, "--prior", "some.json", "--store", "s", "-o", "more.json")
        more = json.loads(self.path("more.json").read_text())
        by_name = {h["name"]: h for h in more["hmms"]}
        self.assertEqual(more["prior"], some["prior"])
        for h in some["hmms"]:
            self.assertEqual(h, by_name[h["name"]])

    def test_floor_of_the_pieces(self):
        for floor in ("1e-4", "1"):
            self.ok("classify", "train", "train.csv", *TRAIN, "--fit-prior", "none", "--cov-floor", floor, "-o",
                    f"f{floor}.json")
        low, high = (json.loads(self.path(f"f{floor}.json").read_text()) for floor in ("1e-4", "1"))

        def smallest(k):
            return min(v for c in k["classes"] for h in c["model"]["hmms"] for s in h["cov"] for m in s for v in m)

        self.assertLess(1.1 * smallest(low), smallest(high))

    def test_order_of_the_data_does_not_matter(self):
        blocks = {}
        lines = letters().splitlines()
        for line in lines[1:]:
            blocks.setdefault(line.split(",")[0], []).append(line)
        turned = [lines[0]] + [line for name in reversed(blocks) for line in blocks[name]]
        self.write("turned.csv", "\n".join(turned) + "\n")
        self.ok("classify", "train", "train.csv", *TRAIN, "-o", "m.json")
        self.ok("classify", "train", "turned.csv", *TRAIN, "-o", "t.json")
        self.assertEqual(without_provenance(self.path("m.json").read_text()),
                         without_provenance(self.path("t.json").read_text()))

    def test_killed_at_any_moment_and_taken_up_again(self):
        args = ["classify", "train", "train.csv", *map(str, TRAIN), "--fit-restarts", "40"]
        self.ok(*args, "-o", "whole.json", "--store", "whole.store")
        whole = self.path("whole.json").read_bytes()
        sizes = []
        for turn in range(4):
            run = subprocess.Popen([VHEM, *args, "-o", "m.json", "--store", "s"], cwd=self.dir,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            want = (sizes[-1] if sizes else 0) + 1000
            end = time.time() + 20
            while run.poll() is None and time.time() < end:
                if self.path("s").exists() and self.path("s").stat().st_size > want:
                    break
            run.send_signal(signal.SIGKILL)
            run.wait()
            sizes.append(self.path("s").stat().st_size)
        self.assertGreater(sizes[0], 1000)
        text = self.path("s").read_bytes()
        self.path("s").write_bytes(text[:-7])            # killed in the middle of a line
        self.ok(*args, "-o", "m.json", "--store", "s")
        self.assertEqual(self.path("m.json").read_bytes(), whole)

    def test_damaged_stores(self):
        self.ok("classify", "train", "train.csv", *TRAIN, "-o", "m.json")
        good = self.path("m.json").read_bytes()
        store = self.path("m.json.store").read_bytes().splitlines(keepends=True)
        store[3] = store[3][:60] + b"garbage" + store[3][80:]
        store[5] = b"\0" * 50 + b"\n"
        self.path("m.json.store").write_bytes(b"".join(store))
        r = self.ok("classify", "train", "train.csv", *TRAIN, "-o", "m.json")
        self.assertIn("damaged", r.err)
        self.assertEqual(good, self.path("m.json").read_bytes())
        self.write("other", "id,x\n")
        self.fails(1, "other: not a store of models", "classify", "train", "train.csv", *TRAIN, "-o", "m.json",
                   "--store", "other")
        self.assertEqual(self.path("other").read_text(), "id,x\n")

    def test_interrupt_keeps_the_store(self):
        run = subprocess.Popen([VHEM, "classify", "train", "train.csv", *map(str, TRAIN), "--fit-restarts", "5000",
                                "-o", "m.json"], cwd=self.dir, stderr=subprocess.PIPE, text=True)
        end = time.time() + 20
        while not self.path("m.json.store").exists() and time.time() < end:
            time.sleep(0.01)
        time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=HANGS)
        self.assertEqual(run.returncode, 130, err)
        self.assertIn("m.json.store", err)
        self.assertFalse(self.path("m.json").exists())

    def test_two_runs_do_not_share_a_store(self):
        first = subprocess.Popen([VHEM, "classify", "train", "train.csv", *map(str, TRAIN), "--fit-restarts", "60000",
                                  "--store", "s", "-o", "first.json"], cwd=self.dir, stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        end = time.time() + HANGS
        while not self.path("s").exists() and time.time() < end:
            time.sleep(0.01)
        time.sleep(0.1)     # from its creation to its lock
        self.fails(1, "another run is using it", "classify", "train", "train.csv", *TRAIN, "-o", "m.json", "--store", "s")
        self.assertIsNone(first.poll(), "it was not long enough")

    def test_chunks_and_subsamples(self):
        def pieces(*more):
            self.ok("classify", "train", "train.csv", *TRAIN, *more, "-o", "p.json", "--no-store")
            return [(c["pieces"], c["examples"]) for c in self.ok("info", "p.json", "--json").json()["classes"]]
        self.assertEqual(pieces("--chunk", 3), [(3, 8)] * 3)
        self.assertEqual(pieces("--bootstrap", 5, "--sample", 4)[0][0], 5)
        accuracy = self.ok("classify", "eval", "p.json", "test.csv", "--label", "letter", "--json").json()
        self.assertGreater(accuracy["summary"]["accuracy"], 0.85)
        self.fails(1, "5 subsamples need a size of at least 1", "classify", "train", "train.csv", *TRAIN,
                   "--bootstrap", 5, "-o", "p.json")

    def test_every_estimator(self):
        for name in ("vhem", "em-h3m", "shem", "ppk-sc", "ppk-sc-hybrid", "hem-gmm"):
            self.ok("classify", "train", "train.csv", *TRAIN, "--estimator", name, "--store", "s", "-o", "e.json")
            r = self.ok("classify", "eval", "e.json", "test.csv", "--label", "letter", "--json").json()
            self.assertGreater(r["summary"]["accuracy"], 0.8, name)
        store = self.path("s").read_text().splitlines()
        self.assertEqual(len(store), 1 + 1 + 24 + 6 * 3)     # the pieces were fitted once for all of them
        self.ok("classify", "train", "train.csv", *TRAIN, "--estimator", "em-h3m", "-o", "e.json")
        self.fails(1, "estimator em-h3m learns from all sequences at once", "classify", "update", "e.json", "test.csv",
                   "--label", "letter")
        self.fails(1, "estimator em-h3m fits no pieces, and topology linear is for those", "classify", "train",
                   "train.csv", *TRAIN, "--estimator", "em-h3m", "--topology", "linear", "-o", "e.json")
        self.fails(1, "estimator hem-dtm makes dynamic textures", "classify", "train", "train.csv", *TRAIN,
                   "--estimator", "hem-dtm", "-o", "e.json")

    def test_cross_validation(self):
        r = self.ok("classify", "cross", "train.csv", *TRAIN, "--folds", 4, "--json").json()
        self.assertEqual(r["summary"]["judged"], 24)
        self.assertGreater(r["summary"]["accuracy"], 0.85)
        again = self.ok("classify", "cross", "train.csv", *TRAIN, "--folds", 4, "--json", "--store", "s")
        self.assertEqual(r, again.json())
        r = self.ok("classify", "cross", "train.csv", *TRAIN, "--holdout", 0.5, "--json").json()
        self.assertEqual(r["summary"]["judged"], 12)
        self.assertEqual([c["n"] for c in r["classes"]], [4, 4, 4])

    def test_fast_search(self):
        self.write("many.csv", letters(classes=8, per_class=5))
        self.ok("classify", "train", "many.csv", *TRAIN, "-o", "m.json")
        r = self.ok("classify", "eval", "m.json", "many.csv", "--label", "letter", "--fast", 2, "--json").json()
        self.assertLess(r["summary"]["fast_scored"], 0.95)
        self.assertGreater(r["summary"]["fast_accuracy"], r["summary"]["accuracy"] - 0.15)
        r = self.ok("classify", "predict", "m.json", "many.csv", "--fast", 2, "--check")
        self.assertRegex(r.err, r"fast: \d+% of the scores; \d+ of 40 have the same answer without")

    def test_a_class_with_one_example(self):
        self.write("t.csv", letters() + "".join(f"lonely,z,{x},{-x}\n" for x in (9, 8, 9, 7, 8, 9)))
        r = self.ok("classify", "train", "t.csv", *TRAIN, "-o", "m.json")
        self.assertIn("1 of 4 classes has a single example, 'z' for instance", r.err)
        rows = self.ok("classify", "predict", "m.json", "t.csv").rows()
        self.assertEqual(rows[-1]["class"], "z")
        r = self.ok("classify", "train", "t.csv", *TRAIN, "--min-examples", 2, "-o", "m.json")
        self.assertIn("models of 3 classes", r.err)

    def test_bad_requests(self):
        self.ok("classify", "train", "train.csv", *TRAIN, "-o", "m.json")
        self.fails(1, "the data has no labels", "classify", "train", "train.csv", "--columns", "x,y", "-o", "n.json")
        self.fails(2, "--estimator is one of vhem, vbhem, auto, em-h3m, ", "classify", "train", "train.csv",
                   "--label", "letter", "--estimator", "magic", "-o", "n.json")
        self.fails(2, "m.txt: models of classes are written as .json", "classify", "train", "train.csv", "-o",
                   "m.txt")
        self.write("narrow.csv", "id,letter,x\n" + "q,a,1\n" * 5)
        self.fails(1, "there is no column 'y' to read; the columns are id, letter, x", "classify", "predict", "m.json", "narrow.csv",
                   "--label", "letter")
        self.fails(1, "train.csv: line 1", "classify", "predict", "train.csv", "train.csv")
        self.write("h3m.json", '{"format": "vhem-h3m", "version": 1}')
        self.fails(1, "format is 'vhem-h3m', must be 'vhem-classes'", "classify", "predict", "h3m.json", "train.csv")
        self.fails(1, "m.json holds models of classes", "score", "m.json", "train.csv")
        self.write("strange.csv", letters(classes=1).replace(",a,", ",q,"))
        self.fails(1, "nothing to judge", "classify", "eval", "m.json", "strange.csv", "--label", "letter")
        self.write("some.csv", letters() + "new,q,1,1\n" * 5)
        said = self.ok("classify", "eval", "m.json", "some.csv", "--label", "letter").err
        self.assertIn("warning: 1 of ", said)
        self.fails(2, "m.json: the models would overwrite the store", "classify", "train", "train.csv", "--label",
                   "letter", "--store", "m.json", "-o", "m.json")
        self.fails(1, "nothing was held out", "classify", "cross", "train.csv", "--label", "letter", "--holdout", "0.001")
        os.remove(self.path("m.json.store"))
        self.fails(1, "is not in the store", "classify", "update", "m.json", "test.csv", "--label", "letter")


class Annotate(Case):
    def setUp(self):
        super().setUp()
        for name, more in (("train", {}), ("test", {"seed": 7, "first": 40})):
            data, tags = songs(**more)
            self.write(f"{name}.csv", data)
            self.write(f"{name}_tags.csv", tags)
        self.train = ["train.csv", *SONGS, "--tags", "train_tags.csv", "--states", 2, "-k", 2, "--restarts", 4]
        self.ok("annotate", "train", *self.train, "-o", "m.json")

    def test_tags_are_found_again(self):
        rows = self.ok("annotate", "predict", "m.json", "test.csv", *SONGS, "--top", 2).rows()
        self.assertEqual(len(rows), 24)
        lines = self.path("test_tags.csv").read_text().splitlines()
        truth = {line.split(",")[0]: line.split(",")[1:] for line in lines}
        right = sum(truth[r["name"]][["slow", "fast", "high", "low"].index(r["tag"])] == "1" for r in rows)
        self.assertGreaterEqual(right, 20)
        r = self.ok("annotate", "eval", "m.json", "test.csv", *SONGS, "--tags", "test_tags.csv", "--top", 2,
                    "--at", "3,6", "--json").json()
        self.assertAlmostEqual(r["summary"]["precision"], right / 24, delta=0.1)
        self.assertGreater(r["summary"]["MAP"], 0.9)
        self.assertEqual({t["name"]: t["n"] for t in r["tags"]}, {"slow": 6, "fast": 6, "high": 6, "low": 6})

    def test_precision_of_what_is_never_given(self):
        head, first = self.path("test_tags.csv").read_text().splitlines()[:2]
        self.write("one.csv", f"{head}\n{first}\n")
        args = ["annotate", "eval", "m.json", "test.csv", *SONGS, "--tags", "one.csv", "--top", 1, "--json"]
        tags = {how: self.ok(*args, "--never-given", how).json()["tags"] for how in ("zero", "base-rate")}
        self.assertEqual(sorted(t["given"] for t in tags["zero"]), [0, 0, 0, 1])
        self.assertEqual(sorted(t["n"] for t in tags["zero"]), [0, 0, 1, 1])
        for zero, rate in zip(tags["zero"], tags["base-rate"]):
            self.assertEqual(rate["precision"], zero["precision"] if zero["given"] else zero["n"])
            self.assertEqual(zero["precision"] > 0, zero["right"] > 0)
        self.assertEqual(self.ok(*args).json()["tags"], tags["zero"])
        self.fails(2, "--never-given is one of zero, base-rate, not 'half'", *args, "--never-given", "half")

    def test_a_song_is_fitted_once_for_all_its_tags(self):
        store = self.path("m.json.store").read_text().splitlines()
        self.assertEqual(len(store), 1 + 1 + 12 + 4)         # a head, the prior, the songs, the tags

    def test_search(self):
        rows = self.ok("annotate", "search", "m.json", "test.csv", "fast", *SONGS, "--top", 6).rows()
        self.assertEqual([r["rank"] for r in rows], list("123456"))
        self.assertGreaterEqual(sum(int(r["name"][4:]) % 2 for r in rows), 5)
        scores = [float(r["log_posterior"]) for r in rows]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.fails(1, "m.json has no tag 'fsat'; did you mean 'fast'?", "annotate", "search", "m.json", "test.csv",
                   "fsat", *SONGS)

    def test_the_first_half_alone(self):
        args = ["fit", "train.csv", *SONGS, "--mixture", 2, "--states", 2, "--store", "s", "--seed", 4]
        self.assertIn("24 HMMs in p.json; what was fitted is kept in s", self.ok(*args, "-o", "p.json").err)
        model = json.loads(self.path("p.json").read_text())
        self.assertEqual([h["name"] for h in model["hmms"][:3]], ["song0/0", "song0/1", "song1/0"])
        self.assertAlmostEqual(sum(model["omega"][:2]), 1 / 12)
        whole = self.path("s").read_bytes()
        self.path("s").write_bytes(whole[:len(whole) // 2])
        self.ok(*args, "-o", "again.json")
        self.assertEqual(self.path("p.json").read_bytes(), self.path("again.json").read_bytes())
        self.ok("cluster", "p.json", "-k", 2, "-o", "c.json")

    def test_tags_as_a_list(self):
        lines = ["name,tag"]
        head, *rows = [line.split(",") for line in self.path("train_tags.csv").read_text().splitlines()]
        for song, *has in rows:
            lines += [f"{song},{tag}" for tag, one in zip(head[1:], has) if one == "1"]
        self.write("list.csv", "\n".join(lines) + "\n")
        args = [a if a != "train_tags.csv" else "list.csv" for a in self.train]
        self.ok("annotate", "train", *args, "-o", "l.json")
        self.assertEqual(without_provenance(self.path("m.json").read_text()),
                         without_provenance(self.path("l.json").read_text()))

    def test_update(self):
        more, tags = songs(n=4, seed=11, first=60)
        self.write("more.csv", more)
        self.write("more_tags.csv", tags)
        self.write("all.csv", self.path("train.csv").read_text() + more.split("\n", 1)[1])
        self.write("all_tags.csv", self.path("train_tags.csv").read_text() + tags.split("\n", 1)[1])
        self.ok("annotate", "train", *self.train, "--fit-prior", "none", "-o", "m.json")
        self.ok("annotate", "update", "m.json", "more.csv", *SONGS, "--tags", "more_tags.csv", "-o", "new.json")
        args = [{"train.csv": "all.csv", "train_tags.csv": "all_tags.csv"}.get(a, a) for a in self.train]
        self.ok("annotate", "train", *args, "--fit-prior", "none", "-o", "all.json")
        self.assertEqual(without_provenance(self.path("new.json").read_text()),
                         without_provenance(self.path("all.json").read_text()))

    def test_cross_validation(self):
        r = self.ok("annotate", "cross", *self.train, "--folds", 3, "--top", 2, "--json").json()
        self.assertEqual(r["summary"]["judged"], 12)
        self.assertGreater(r["summary"]["MAP"], 0.75)

    def test_bad_requests(self):
        self.fails(2, "--tags FILE is needed", "annotate", "train", "train.csv", *SONGS, "-o", "n.json")
        self.fails(1, "the data has no groups", "annotate", "predict", "m.json", "test.csv", "--id", "fragment",
                   "--columns", "x")
        self.write("t.csv", "song,a\nsong0,maybe\n")
        args = [a if a != "train_tags.csv" else "t.csv" for a in self.train]
        self.fails(1, "t.csv: line 2, column 'a': 'maybe', must be 0 or 1", "annotate", "train", *args, "-o", "n.json")
        self.write("t.csv", "song,a\nnobody,1\n")
        self.fails(1, "none of the names of the tags is in the data: the tags begin with 'nobody', the data with "
                      "'song0'", "annotate", "train", *args, "-o", "n.json")
        self.write("t.csv", "song,a\nsong0,1\nsong1,0\nghost,1\n")
        r = self.ok("annotate", "train", *args, "-o", "n.json")
        self.assertIn("10 of 12 names in the data have no tags and are left out", r.err)
        self.assertIn("1 of 3 names with tags have no sequences and are left out", r.err)


class Documents(Case):
    def test_page(self):
        text, tags = songs()
        more, more_tags = songs(n=4, seed=7, first=40)
        files = {"letters.csv": letters(), "test.csv": letters(seed=9, first=100),
                 "more.csv": letters(seed=5, first=50, per_class=2), "songs.csv": text,
                 "tags.csv": tags.replace("slow", "Calming"), "new-tags.csv": more_tags.replace("slow", "Calming")}
        for name, content in files.items():
            self.write(name, content)
        blocks = re.findall(r"```sh\n(.*?)```", (SOURCE / "docs/classification.md").read_text(), re.S)
        commands = [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]
        self.assertEqual({tuple(c[:2]) for c in commands},
                         {("classify", p) for p in ("train", "predict", "eval", "cross", "update")} |
                         {("annotate", p) for p in ("train", "predict", "search", "eval")})
        for args in commands:
            self.write("new.csv", letters(seed=9, first=100, per_class=1) if args[0] == "classify" else more)
            self.ok(*args)

    def test_example(self):
        for name, seed in (("train.csv", 1), ("new.csv", 2)):
            self.write(name, letters(seed=seed).replace("letter", "label", 1))
        done = subprocess.run([SOURCE / "examples/cli/classify.sh", "train.csv", "new.csv"], cwd=self.dir, text=True,
                              capture_output=True, env={**os.environ, "VHEM": VHEM})
        said = done.stderr
        if WINDOWS:     # which does not end a program that writes to a pipe nobody reads: SECURITY.md
            said = re.sub(r"vhem classify predict: standard output: writing failed.*\n", "", said)
        self.assertEqual((done.returncode, said), (0, ""))
        self.assertRegex(done.stdout, r"accuracy\t(1|0\.[89]\d*)\n(.*\n)+.*classes.json: models of 3 classes")


if __name__ == "__main__":
    unittest.main()
