# SPDX-License-Identifier: BSD-3-Clause
"""Sets of models in several files: cut, merged, looked at and clustered."""
import json
import struct
import subprocess
import time
import unittest

from support import HANGS, VHEM, Case, flock


class Shards(Case):
    def setUp(self):
        super().setUp()
        self.write("a.json", flock(seed=1))
        self.write("b.json", flock(seed=2, per_kind=8))

    def test_cut_and_merged(self):
        self.assertIn("36 HMMs in all.h5", self.ok("convert", "a.json", "b.json", "-o", "all.h5").err)
        self.assertIn("36 HMMs in 2 files of both", self.ok("convert", "a.json", "b.json", "-o", "both").err)
        self.ok("convert", "all.h5", "--shards", "5", "-o", "five")
        for name in ("both", "five"):
            self.ok("convert", name, "-o", name + ".json")
        self.ok("convert", "all.h5", "-o", "one.json")
        one = json.loads(self.path("one.json").read_text())
        self.assertEqual(len(one["hmms"]), 36)
        self.assertEqual([h["name"] for h in one["hmms"][:12]],
                         [h["name"] for h in json.loads(self.path("a.json").read_text())["hmms"]])
        self.assertAlmostEqual(one["omega"][0], 1 / 36, 15)
        for name in ("both", "five"):
            self.assertEqual(self.path(name + ".json").read_bytes(), self.path("one.json").read_bytes(), name)
        r = self.ok("info", "five")
        self.assertIn("five: 36 HMMs", r.out)
        self.assertIn("files      5", r.out)
        self.assertEqual(self.ok("info", "five", "--json").json()["K"], 36)

    def test_manifest_lost(self):
        """The advice that is given then restores the set: weights to the last bit, and the order."""
        m = json.loads(flock(seed=3, per_kind=11))
        m["omega"] = [(1 + i % 7) / 3 for i in range(33)]
        m["omega"] = [w / sum(m["omega"]) for w in m["omega"]]
        self.write("m.json", json.dumps(m))
        self.ok("convert", "m.json", "--shards", "4", "-o", "ws")
        self.ok("convert", "ws", "-o", "whole.h5")
        self.path("ws/manifest.json").unlink()
        self.fails(1, "'vhem convert ws/*.h5 -o NEW' merges its files", "info", "ws")
        files = sorted(str(path) for path in self.path("ws").glob("*.h5"))
        r = self.ok("convert", *files, "-o", "NEW")
        self.assertNotIn("warning", r.err)
        self.ok("convert", *reversed(files), "-o", "again.h5")
        self.assertEqual(self.path("again.h5").read_bytes(), self.path("whole.h5").read_bytes())
        self.ok("convert", "NEW", "-o", "new.h5")
        self.assertEqual(self.path("new.h5").read_bytes(), self.path("whole.h5").read_bytes())
        self.ok("convert", "again.h5", "again.json")
        self.assertEqual(json.loads(self.path("again.json").read_text())["omega"], m["omega"])

        r = self.ok("convert", files[0], files[2], "-o", "some.json")
        self.assertIn("shards of one set of 33 HMMs, of which 8 to 15, 24 to 32 are missing", r.err)
        kept = m["omega"][:8] + m["omega"][16:24]
        for found, weight in zip(json.loads(self.path("some.json").read_text())["omega"], kept):
            self.assertAlmostEqual(found, weight / sum(kept), 14)

    def test_shards_of_two_sets(self):
        """What was put together of two sets would be neither of them."""
        for name, seed in ("a", 3), ("b", 4):
            m = json.loads(flock(seed=seed, per_kind=11))
            self.write(f"{name}.json", json.dumps(m))
            if name == "b":  # a set that was made again: its first shard is the same
                m["hmms"][:11] = json.loads(self.path("a.json").read_text())["hmms"][:11]
                self.write("c.json", json.dumps(m))
            self.ok("convert", f"{name}.json", "--shards", "3", "-o", name)
        self.ok("convert", "c.json", "--shards", "3", "-o", "c")
        self.fails(1, "a/00000.h5 and b/00001.h5 are shards of two sets; to merge the sets, give all of both, by their "
                   "folders", "convert", "a/00000.h5", "b/00001.h5", "a/00002.h5", "-o", "new")
        self.fails(1, "are shards of two sets", "convert", "a/00000.h5", "b/00000.h5", "-o", "new")
        self.fails(1, "are shards of two sets", "convert", "a/00002.h5", "b/00001.h5", "-o", "new")
        self.fails(1, "c/00001.h5 is not the shard before a/00002.h5, but one of another set",
                   "convert", "a/00000.h5", "c/00001.h5", "a/00002.h5", "-o", "new")
        self.fails(1, "a/00001.h5 and a/00001.h5 are the same shard: give each once",
                   "convert", "a/00000.h5", "a/00001.h5", "a/00001.h5", "-o", "new")
        self.assertFalse(self.path("new").exists())
        self.ok("convert", "a", "b", "-o", "both.json")
        self.assertEqual(len(json.loads(self.path("both.json").read_text())["hmms"]), 66)
        self.assertIn("of which 11 to 21 are missing", self.ok("convert", "a/00000.h5", "a/00002.h5", "-o", "some.json").err)

    def test_clustered(self):
        self.ok("convert", "a.json", "--shards", "7", "-o", "seven")
        self.ok("cluster", "a.json", "-k", "3", "-o", "1.json")
        self.ok("cluster", "seven", "-k", "3", "-o", "7.json")
        one, seven = (json.loads(self.path(f"{n}.json").read_text()) for n in (1, 7))
        del one["provenance"], seven["provenance"]
        self.assertEqual(one, seven)

    def test_one_file_with_the_output_as_an_option(self):
        self.write("d.csv", "id,x\na,1\na,2\nb,3\n")
        self.ok("convert", "d.csv", "-o", "d.tsv")
        self.ok("convert", "d.csv", "e.tsv")
        self.assertEqual(self.path("d.tsv").read_bytes(), self.path("e.tsv").read_bytes())
        self.fails(2, "sequences are converted one file at a time", "convert", "d.csv", "d.csv", "-o", "x.csv")
        self.fails(1, "d.csv holds sequences", "convert", "d.csv", "-o", "x.json")

    def test_large(self):
        """Of a set that stays on disk, info tells the shapes, and what it has not looked at."""
        def model(S, M, d):
            return {"S": S, "M": M, "label": "x", "pi": [1] + [0] * (S - 1), "A": [[1] + [0] * (S - 1)] * S,
                    "c": [[1] + [0] * (M - 1)] * S, "mu": [[[2] * d] * M] * S, "cov": [[[1] * d] * M] * S}
        hmms = [model(8, 8, 20)] * 850 + [model(3, 4, 20)]
        self.write("m.json", json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": 20,
                                         "omega": [1 / len(hmms)] * len(hmms), "hmms": hmms}))
        self.ok("convert", "m.json", "m.h5")
        self.ok("convert", "m.json", "--shards", "3", "-o", "three")
        lines = ["states     3 to 8", "mixture    4 to 8"]
        for name in ("m.json", "m.h5", "three"):
            out = self.ok("info", name).out
            for line in lines:
                self.assertIn(f"  {line}\n", out, name)
            self.assertEqual("  not read   the range of the weights, and labels: --all reads" in out, name != "m.json", out)
            self.assertEqual("  weight     0.001175\n" in out, name == "m.json", out)
        self.assertEqual(self.ok("info", "m.h5", "--all").out.count("  weight     0.001175\n"), 1)

    def test_manifest_named(self):
        self.ok("convert", "a.json", "--shards", "2", "-o", "two")
        for command in (["info"], ["cluster", "-k", "2"]):
            self.fails(1, "two/manifest.json: this lists the files of a folder of models: name the folder instead",
                       command[0], "two/manifest.json", *command[1:])

    def test_many(self):
        """A thousand files give what one gives."""
        m = json.loads(flock(seed=4, per_kind=400))
        self.write("m.json", json.dumps(m))
        self.ok("convert", "m.json", "-o", "one.h5")
        self.ok("convert", "m.json", "--shards", "1000", "-o", "many")
        self.assertEqual(len(list(self.path("many").glob("*.h5"))), 1000)
        self.ok("convert", "many", "-o", "back.h5")
        self.assertEqual(self.path("back.h5").read_bytes(), self.path("one.h5").read_bytes())
        for name in ("many", "one.h5"):
            self.ok("cluster", name, "-k", "3", "-r", "1", "--search", "restarts", "--max-iter", "3", "-q", "-o", f"{name}.json")
        results = [json.loads(self.path(f"{name}.json").read_text()) for name in ("many", "one.h5")]
        for r in results:
            del r["provenance"]
        self.assertEqual(results[0], results[1])

    def test_manifest_counts(self):
        self.ok("convert", "a.json", "--shards", "2", "-o", "two")
        manifest = self.path("two/manifest.json")
        right = json.loads(manifest.read_text())
        for key, value, text in (("K", 1e300, "K is 1e300"), ("K", "12", 'K is "12"'), ("K", -1, "K is -1"),
                                 ("n", 6.5, "n of 00000.h5 is 6.5"), ("first", None, "first of 00000.h5 is null")):
            wrong = json.loads(json.dumps(right))
            (wrong if key == "K" else wrong["files"][0])[key] = value
            manifest.write_text(json.dumps(wrong))
            self.fails(1, f"two/manifest.json: {text}, must be a whole number of 0 or more", "info", "two")
        del right["K"]
        manifest.write_text(json.dumps(right))
        self.fails(1, "two/manifest.json: K is missing", "info", "two")

    def test_sentences(self):
        self.ok("convert", "a.json", "--shards", "2", "-o", "two")
        self.fails(1, "two already exists", "convert", "a.json", "-o", "two")
        self.fails(2, "--shards makes a folder, but x.h5 is the name of a file", "convert", "a.json", "--shards", "2",
                   "-o", "x.h5")
        self.fails(2, "--shards needs -o FOLDER", "convert", "a.json", "x.h5", "--shards", "2")
        self.fails(1, "13 shards are asked for, must be 1 to 12", "convert", "a.json", "--shards", "13", "-o", "x")
        self.fails(2, "which of them is the output?", "convert", "a.json", "b.json", "x.h5")
        shard = self.path("two/00001.h5")
        shard.write_bytes(shard.read_bytes()[:3000])
        self.fails(1, "two/00001.h5: the file is cut short: it has 3000 bytes of", "cluster", "two", "-k", "3",
                   "-o", "c.json")
        self.leftovers("a.json", "b.json", "two")

    def test_two_writers(self):
        """Of several that write one folder at the same time the first to be done wins; the others say so, and mix nothing
        in."""
        runs = [subprocess.Popen([VHEM, "convert", name, "--shards", str(n), "-o", "both", "-q"], cwd=self.dir,
                                 stderr=subprocess.PIPE, text=True) for name, n in (("a.json", 3), ("b.json", 5)) * 3]
        said = [(run.communicate(timeout=HANGS)[1], run.returncode) for run in runs]
        self.assertEqual(sorted(code for _, code in said), [0, 1, 1, 1, 1, 1], said)
        for text, code in said:
            self.assertEqual(len(text.splitlines()), code)
            self.assertTrue(code == 0 or "meanwhile" in text or "already" in text, text)
        winner = [code for _, code in said].index(0)
        self.ok("convert", "both", "-o", "both.json")
        self.ok("convert", ("a.json", "b.json")[winner % 2], "-o", "one.json")
        both, one = (json.loads(self.path(name).read_text())["hmms"] for name in ("both.json", "one.json"))
        self.assertEqual(both, one)
        self.leftovers("a.json", "b.json", "both", "both.json", "one.json")

    def test_killed(self):
        """What a killed run left is removed by the next; what somebody else put there is not."""
        self.write("m.json", flock(seed=4, per_kind=600))
        run = subprocess.Popen([VHEM, "convert", "m.json", "--shards", "1800", "-o", "new", "-q"], cwd=self.dir)
        left, begin = self.path("new.vhem-tmp-0"), time.monotonic()
        while not (left.is_dir() and len(list(left.iterdir())) > 3) and time.monotonic() - begin < HANGS:
            time.sleep(0.002)
        run.kill()
        run.wait()
        self.assertTrue(left.is_dir(), "it was done before it was killed")
        self.ok("convert", "a.json", "--shards", "2", "-o", "new")
        self.leftovers("a.json", "b.json", "m.json", "new")
        self.path("more.vhem-tmp-0").mkdir()
        self.write("more.vhem-tmp-0/00000.h5", "")
        self.write("more.vhem-tmp-0/notes.txt", "mine")
        self.ok("convert", "a.json", "--shards", "2", "-o", "more")
        self.assertEqual(len(list(self.path("more.vhem-tmp-0").iterdir())), 2)

    def test_not_sequences(self):
        """Models given as data are told from data, whatever the version of their file."""
        self.ok("convert", "a.json", "a.h5")
        self.fails(1, "this is a model file, expected sequences", "score", "a.h5", "a.h5")

    def test_damaged_chunk(self):
        """A set that stays on disk is looked at chunk by chunk: what is damaged has no name, and is told."""
        one = json.loads(flock(seed=1))
        h = one["hmms"][0]
        K, d = 1500, 1000
        one.update(d=d, omega=[1 / K] * K, hmms=[dict(h, S=1, M=1, pi=[1], A=[[1]], c=[[1]], mu=[[[0.5] * d]],
                                                      cov=[[[2] * d]], name=f"h{i}") for i in range(K)])
        self.write("large.json", json.dumps(one))
        self.ok("convert", "large.json", "large.h5")
        path = self.path("large.h5")
        self.assertGreater(path.stat().st_size, 1 << 24)
        at = path.read_bytes().rindex(struct.pack("<d", 2.0) * d)
        with open(path, "r+b") as f:
            f.seek(at)
            f.write(struct.pack("<d", 3.0))
        self.ok("info", "large.h5")
        for args in (("--all",), ("--json",)):
            self.fails(1, "large.h5: chunk 2 (HMMs 1024 to 1499): the checksum of its numbers is", "info", "large.h5", *args)


if __name__ == "__main__":
    unittest.main()
