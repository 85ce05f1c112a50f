# SPDX-License-Identifier: BSD-3-Clause
"""vhem score, decode, sample, info, convert."""
import csv
import io
import json
import math
import subprocess
import unittest

from support import VHEM, Case, best_path, forward, log_sum, model, two_level

FRAMES = {"u": [[0.2], [3.9], [4.4]], "v": [[-1.0], [0.5], [0.0], [1.5], [5.0]]}


class WithModel(Case):
    def setUp(self):
        super().setUp()
        self.hmms = json.loads(model())["hmms"]
        self.write("m.json", model())
        self.write("d.csv", "id,label,x\n" + "".join(f"{k},L{k},{y[0]}\n" for k, ys in FRAMES.items() for y in ys))

    def truth(self, name):
        return [forward(h, FRAMES[name]) for h in self.hmms]


class Score(WithModel):
    def test_table(self):
        r = self.ok("score", "m.json", "d.csv")
        rows = r.rows()
        self.assertEqual(list(rows[0]), ["sequence", "label", "frames", "loglik", "per_frame", "best", "per_value"])
        self.assertEqual([(x["sequence"], x["label"], x["frames"]) for x in rows], [("u", "Lu", "3"), ("v", "Lv", "5")])
        for row in rows:
            each = [a + math.log(w) for a, w in zip(self.truth(row["sequence"]), (0.25, 0.75))]
            self.assertAlmostEqual(float(row["loglik"]), log_sum(each), places=9)
            self.assertAlmostEqual(float(row["per_frame"]), log_sum(each) / int(row["frames"]), places=9)
            self.assertEqual(row["best"], ["slow", "fast"][each.index(max(each))])
        self.assertIn("2 sequences under 2 HMMs", r.err)

    def test_all_json_and_file(self):
        rows = self.ok("score", "m.json", "d.csv", "--all").rows()
        report = self.ok("score", "m.json", "d.csv", "--all", "--json").json()
        self.assertEqual(report["hmms"], ["slow", "fast"])
        for row, entry in zip(rows, report["sequences"], strict=True):
            self.assertEqual([float(row["slow"]), float(row["fast"])], entry["each"])
            for got, want in zip(entry["each"], self.truth(row["sequence"])):
                self.assertAlmostEqual(got, want, places=9)
            self.assertEqual(entry["loglik"], float(row["loglik"]))
        r = self.ok("score", "m.json", "d.csv", "--quiet", "-o", "s.tsv")
        self.assertEqual((r.out, r.err), ("", ""))
        self.assertEqual(self.path("s.tsv").read_text(), self.ok("score", "m.json", "d.csv").out)
        self.leftovers("m.json", "d.csv", "s.tsv")

    def test_stdin(self):
        table = self.ok("score", "m.json", "d.csv").out
        self.assertEqual(self.ok("score", "m.json", "-", stdin=self.path("d.csv").read_text()).out, table)
        self.assertEqual(self.ok("score", "-", "d.csv", stdin=model()).out, table)

    def test_threads(self):
        self.write("big.csv", two_level(30, label=False))
        self.ok("fit", "big.csv", "-S", "2", "-r", "1", "-o", "big.json")
        one = self.ok("score", "big.json", "big.csv", "--all", "--threads", "1").out
        self.assertEqual(one, self.ok("score", "big.json", "big.csv", "--all", "--threads", "5").out)

    def test_refused(self):
        self.write("wide.csv", "id,x,y\na,1,2\n")
        self.fails(1, "dimension", "score", "m.json", "wide.csv")
        self.write("bad.json", model().replace("[0.9, 0.1]", "[0.9, 0.2]"))
        r = self.fails(1, "bad.json", "score", "bad.json", "d.csv")
        self.assertIn("A", r.err)
        self.write("torn.json", model()[:200])
        self.fails(1, "torn.json", "score", "torn.json", "d.csv")
        self.fails(1, "d.csv", "score", "d.csv", "d.csv")
        self.write("new.json", model().replace('"version": 1', '"version": 99'))
        self.fails(1, "version", "score", "new.json", "d.csv")


class Decode(WithModel):
    def paths(self, *args):
        found = {}
        for row in self.ok("decode", "m.json", "d.csv", *args).rows():
            frames = found.setdefault(row["sequence"], {"hmm": row["hmm"], "path": [], "p": []})
            self.assertEqual(int(row["frame"]), len(frames["path"]))
            frames["path"].append(int(row["state"]))
            frames["p"].append([float(v) for k, v in row.items() if k[0] == "p"])
        return found

    def test_path_and_probability(self):
        for i, hmm in enumerate(self.hmms):
            for which in (hmm["name"], str(i)):
                found = self.paths("--hmm", which)
                report = self.ok("decode", "m.json", "d.csv", "--hmm", which, "--json").json()
                for entry in report["sequences"]:
                    score, path = best_path(hmm, FRAMES[entry["sequence"]])
                    self.assertEqual(entry["path"], list(path))
                    self.assertEqual(found[entry["sequence"]]["path"], list(path))
                    self.assertAlmostEqual(entry["logprob"], score, places=9)
                    self.assertEqual((entry["hmm"], entry["index"]), (hmm["name"], i))

    def test_posterior(self):
        for name, entry in self.paths("--hmm", "slow", "--posterior").items():
            for row in entry["p"]:
                self.assertEqual(len(row), 2)
                self.assertAlmostEqual(sum(row), 1, places=9)
            self.assertEqual([row.index(max(row)) for row in entry["p"]], entry["path"])
        report = self.ok("decode", "m.json", "d.csv", "--hmm", "slow", "--posterior", "--json").json()
        self.assertEqual(len(report["sequences"][1]["posterior"]), 5)

    def test_most_likely_hmm(self):
        for args in ((), ("--hmm", "best")):
            for name, entry in self.paths(*args).items():
                truth = self.truth(name)
                self.assertEqual(entry["hmm"], ["slow", "fast"][truth.index(max(truth))])

    def test_matched_by_name(self):
        self.write("d.csv", self.path("d.csv").read_text().replace("u,Lu", "fast,Lu").replace("v,Lv", "slow,Lv"))
        found = self.paths()
        self.assertEqual((found["fast"]["hmm"], found["slow"]["hmm"]), ("fast", "slow"))
        self.assertIn("matched by name", self.ok("decode", "m.json", "d.csv").err)

    def test_matched_by_group(self):
        text = self.path("d.csv").read_text().replace("id,label", "id,who").replace("Lu", "fast").replace("Lv", "slow")
        self.write("d.csv", text)
        found = self.paths("--group", "who")
        self.assertEqual((found["u"]["hmm"], found["v"]["hmm"]), ("fast", "slow"))

    def test_no_such_hmm(self):
        self.fails(1, "m.json has no HMM named or numbered 'medium'", "decode", "m.json", "d.csv", "--hmm", "medium")
        self.fails(1, "numbered '2'", "decode", "m.json", "d.csv", "--hmm", "2", "-o", "out.tsv")
        self.leftovers("m.json", "d.csv")


class Sample(WithModel):
    def test_shape_and_labels(self):
        r = self.ok("sample", "m.json", "-n", "40", "-T", "7")
        rows = list(csv.DictReader(io.StringIO(r.out)))
        self.assertEqual(len(rows), 280)
        ids = list(dict.fromkeys(row["id"] for row in rows))
        self.assertEqual(len(ids), 40)
        labels = {row["id"]: row["label"] for row in rows}
        counts = [list(labels.values()).count(name) for name in ("slow", "fast")]
        self.assertEqual(sum(counts), 40)
        self.assertTrue(2 <= counts[0] <= 19, counts)                # weight 0.25 of 40
        self.assertIn("40 sequences of 7 frames in standard output", r.err)

    def test_seed_and_threads(self):
        one = self.ok("sample", "m.json", "--seed", "3", "--threads", "1").out
        self.assertEqual(one, self.ok("sample", "m.json", "--seed", "3", "--threads", "7").out)
        self.assertNotEqual(one, self.ok("sample", "m.json", "--seed", "4").out)

    def test_mean(self):
        self.write("one.json", model([json.loads(model())["hmms"][0]], [1]))
        self.ok("sample", "one.json", "-n", "50", "-T", "400", "-o", "s.csv", "--quiet")
        column = self.ok("info", "s.csv", "--json").json()["columns"][-1]
        self.assertAlmostEqual(column["mean"], 4 / 3, delta=0.15)    # stationary: 2/3 at 0, 1/3 at 4

    def test_json(self):
        r = self.ok("sample", "m.json", "-n", "3", "-T", "4", "-o", "s.npz", "--json")
        self.assertEqual({k: r.json()[k] for k in ("sequences", "frames", "dimension", "output")},
                         {"sequences": 3, "frames": 4, "dimension": 1, "output": "s.npz"})
        self.fails(2, "at least 1, not '0'", "sample", "m.json", "-n", "0")


class Info(WithModel):
    def test_models(self):
        r = self.ok("info", "m.json")
        self.assertTrue(r.out.startswith("m.json: 2 HMMs\n"))
        for text in ("gaussian-diag", "states     2", "mixture    1 to 2", "weight     0.25 to 0.75", "slow", "fast"):
            self.assertIn(text, r.out)
        facts = self.ok("info", "m.json", "--json").json()
        self.assertEqual((facts["kind"], facts["K"], facts["d"], facts["labels"]), ("models", 2, 1, {"a": 1, "b": 1}))
        self.assertEqual(facts["hmms"][1], {"name": "fast", "label": "b", "S": 2, "M": 2, "omega": 0.75})
        self.assertIsNone(facts["provenance"])

    def test_provenance(self):
        self.ok("fit", "d.csv", "-S", "1", "--seed", "8", "-o", "f.json")
        r = self.ok("info", "f.json")
        self.assertRegex(r.out, r"made by +vhem \S+ fit from d.csv, seed 8")
        self.assertIn("--states 1", r.out)

    def test_provenance_of_others(self):
        """What a file does not say is left out."""
        m = json.loads(model())
        m["provenance"] = {"program": "mine", "options": {"a": None}}
        self.write("p.json", json.dumps(m))
        self.assertRegex(self.ok("info", "p.json").out, r"\n  made by    mine\n(?!  with)")

    def test_control_characters(self):
        """A file from elsewhere has no way to the terminal."""
        m = json.loads(model())
        bad = "a\x1b[31m\x07\n\x9b1m\x7f\u00e9"
        m["provenance"] = {"program": bad, "command": bad, "input": bad, "options": {bad: bad}}
        for h in m["hmms"]:
            h["name"] = h["label"] = bad
        self.write("p.json", json.dumps(m))
        out = self.ok("info", "p.json", "--all").out
        self.assertEqual([c for c in out if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], [])
        self.assertIn("made by    a?[31m???1m?\u00e9", out)
        self.assertEqual(self.ok("info", "p.json", "--json").json()["hmms"][0]["name"], bad)

    def test_data(self):
        self.write("d.csv", "id,label,x,y\na,p,1,2\na,p,3,\nb,q,-1,4\nb,q,1,6\nb,q,1,0\nc,q,1,0\n")
        r = self.ok("info", "d.csv")
        self.assertTrue(r.out.startswith("d.csv: 3 sequences (csv)\n"), r.out)
        self.assertIn("frames     6; shortest 1, median 2, longest 3", r.out)
        self.assertIn("labels     2: p (1), q (2)", r.out)
        self.assertIn("missing    1 value", r.out)
        facts = self.ok("info", "d.csv", "--json").json()
        self.assertEqual((facts["N"], facts["frames"], facts["d"], facts["missing"]), (3, 6, 2, 1))
        x, y = facts["columns"]
        self.assertEqual((x["name"], x["min"], x["mean"], x["max"], x["missing"]), ("x", -1, 1, 3, 0))
        self.assertAlmostEqual(x["sd"], math.sqrt(8 / 6))
        self.assertEqual((y["min"], y["max"], y["missing"]), (0, 6, 1))
        self.assertEqual(self.ok("info", "-", stdin=self.path("d.csv").read_text()).out.split("\n", 1)[1],
                         r.out.split("\n", 1)[1])

    def test_all(self):
        self.write("d.csv", two_level(15))
        self.assertNotIn("seq14", self.ok("info", "d.csv").out)
        self.assertIn("seq14", self.ok("info", "d.csv", "--all").out)
        self.ok("fit", "d.csv", "-S", "1", "-o", "f.json")
        self.assertIn("and 5 more; --all lists them", self.ok("info", "f.json").out)
        self.assertIn("seq14", self.ok("info", "f.json", "--all").out)

    def test_content_counts_not_the_name(self):
        self.ok("convert", "m.json", "m.h5")
        self.path("m.h5").rename(self.path("odd.name"))
        self.assertEqual(self.ok("info", "odd.name", "--json").json()["kind"], "models")
        self.ok("convert", "d.csv", "d.h5")
        self.assertEqual(self.ok("info", "d.h5", "--json").json()["kind"], "data")
        self.assertEqual(self.ok("info", "-", "--json", stdin=model()).json()["kind"], "models")

    def test_refused(self):
        self.fails(1, "nowhere", "info", "nowhere")
        self.write("bad.json", "not json")
        self.fails(1, "bad.json", "info", "bad.json")
        self.path("bad.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
        self.fails(1, "bad.h5", "info", "bad.h5")


class Convert(WithModel):
    def test_models_there_and_back(self):
        self.ok("convert", "m.json", "m.h5")
        self.ok("convert", "m.h5", "back.json")
        back, there = (json.loads(self.path(n).read_text()) for n in ("back.json", "m.json"))
        self.assertEqual(back["hmms"], there["hmms"])
        self.assertEqual(back["omega"], there["omega"])
        self.assertEqual(self.ok("convert", "m.h5", "-", "--quiet").out, self.path("back.json").read_text())

    def test_data_there_and_back(self):
        want = self.ok("info", "d.csv", "--json").json()
        for name in ("a.tsv", "b.npy", "c.npz", "d.ts", "e.h5"):
            self.ok("convert", "d.csv", name, "--json")
            got = self.ok("info", name, "--json").json()
            self.assertEqual((got["N"], got["frames"], got["d"]), (2, 8, 1), name)
            for key in ("min", "mean", "max"):
                self.assertEqual(got["columns"][0][key], want["columns"][0][key], name)

    def test_options_of_data(self):
        self.write("e.csv", "who,run,x,y\n1,1,1,2\n1,2,3,4\n2,1,5,6\n")
        self.ok("convert", "e.csv", "e.npz", "--id", "who,run", "--columns", "y", "--where", "who=1")
        self.assertEqual(self.ok("info", "e.npz", "--json").json()["frames"], 2)

    def test_models_are_not_data(self):
        self.fails(1, "m.json holds models, which are written as .json or .h5, not as x.csv", "convert", "m.json",
                   "x.csv")
        self.fails(1, "d.csv holds sequences", "convert", "d.csv", "x.json")
        self.leftovers("m.json", "d.csv")


class OddTables(Case):
    def test_decimal_commas(self):
        self.write("d.csv", "id;x\na;1,5\na;2,5\n")
        self.ok("convert", "d.csv", "e.csv", "--quiet")
        self.assertEqual(self.path("e.csv").read_text(), "id,x\na,1.5\na,2.5\n")
        self.write("d.csv", 'id,x\na,"1,5"\na,"2,5"\n')
        self.fails(1, "column 'x' has '1,5' in line 2; decimal commas? write 1.5", "info", "d.csv")
        self.write("d.csv", "id;x;y\na;1,5;2.1\na;2,5;3\n")
        self.assertIn("decimal commas? write 1.5", self.ok("info", "d.csv").err)

    def test_numbers_written_otherwise(self):
        self.write("d.csv", 'id,x,y\na,\u22121.5,2\na,2e\u22122,3\n')
        self.ok("convert", "d.csv", "e.csv", "--quiet")
        self.assertEqual(self.path("e.csv").read_text(), "id,x,y\na,-1.5,2\na,0.02,3\n")
        self.write("d.csv", "id;x;y\na;\u22121,5;2\na;2,5;3\n")
        self.ok("convert", "d.csv", "e.csv", "--quiet")
        self.assertEqual(self.path("e.csv").read_text(), "id,x,y\na,-1.5,2\na,2.5,3\n")
        for cell in ("3,5%", "1.100,5", "1 234", "12 %", "$5", "1'000.50", "\u221212,5 \u20ac"):
            self.write("d.csv", f'id,x,y\na,"{cell}",1\na,"{cell}",2\n')
            self.assertIn(f"warning: d.csv: column 'x' is left out, it has '{cell}' in line 2; write numbers as 1234.5, "
                          "without thousands separators or units", self.ok("info", "d.csv").err)
        for cell in ("12.5.2020", "10:30", "v1.2", "left"):
            self.write("d.csv", f'id,x,y\na,"{cell}",1\na,"{cell}",2\n')
            self.assertEqual(self.ok("info", "d.csv").err, "")

    WINDOWS = "the text is not UTF-8 and was read as Windows-1252; if letters are wrong, save it as UTF-8"

    def names(self, *args, **more):
        r = self.ok("info", *args, "--json", "--all", **more)
        return [s["name"] for s in r.json()["sequences"]], r.err

    def test_windows_1252(self):
        """A file is read in one encoding to its end, which its last line may tell."""
        table = "id,label,Pr\u00fcfung\nJ\u00f6rg,\u201ealt\u201c \u20ac,1\nJos\u00e9,\u2013,2\nM\u00fcller,x,3\n"
        self.path("d.csv").write_bytes(table.encode("cp1252"))
        for args in (("d.csv",), ("d.csv", "--columns", "Pr\u00fcfung"), ("d.csv", "--where", "id=J\u00f6rg")):
            names, err = self.names(*args)
            self.assertEqual(names, ["J\u00f6rg", "Jos\u00e9", "M\u00fcller"][:1 if "--where" in args else 3])
            self.assertEqual(err, f"vhem info: warning: d.csv: {self.WINDOWS}\n")
        facts = self.ok("info", "d.csv", "--json").json()
        self.assertEqual((facts["columns"][0]["name"], list(facts["labels"])),
                         ("Pr\u00fcfung", ["\u201ealt\u201c \u20ac", "\u2013", "x"]))
        self.write("d.csv", table)
        self.assertEqual(self.names("d.csv"), (["J\u00f6rg", "Jos\u00e9", "M\u00fcller"], ""))

    def test_encoding_of_a_long_file(self):
        """What is UTF-8 by accident for a megabyte is Windows-1252 if the end is."""
        rows = ("id,x\n" + "\u00c3\u00a4,1\n" * 300000).encode("cp1252")       # valid UTF-8 so far
        for end, first, told in ((b"", "\u00e4", 0), (b"\xe4,1\n", "\u00c3\u00a4", 1), (b"\xc3,1", "\u00c3\u00a4", 1)):
            self.path("d.csv").write_bytes(rows + end)
            names, err = self.names("d.csv")
            self.assertEqual((names[0], err.count(self.WINDOWS)), (first, told))
            with open(self.path("d.csv"), "rb") as f:                              # a file on standard input is one, too
                done = subprocess.run([VHEM, "info", "-"], stdin=f, capture_output=True, cwd=self.dir)
            self.assertEqual((done.returncode, done.stderr.count(b"Windows-1252")), (0, told))
            piped = subprocess.run([VHEM, "info", "-"], input=rows + end, capture_output=True, cwd=self.dir)
            self.assertEqual(piped.returncode, told, piped.stderr)
            if told:
                self.assertIn(b"vhem info: standard input: the text begins as UTF-8 and does not go on so", piped.stderr)
        late = b"id,x\n" + b"a,1\n" * 400000 + b"\xe4,1\n"
        self.path("d.csv").write_bytes(late)
        self.assertEqual(self.names("d.csv")[0], ["a", "\u00e4"])
        piped = subprocess.run([VHEM, "info", "-", "--json"], input=late, capture_output=True, cwd=self.dir)
        self.assertEqual([s["name"] for s in json.loads(piped.stdout)["sequences"]], ["a", "\u00e4"])

    def test_encoding_of_other_tables(self):
        self.path("s.ts").write_bytes("@classLabel true m\u00e4nnlich\n@data\n1,2:m\u00e4nnlich\n".encode("cp1252"))
        r = self.ok("info", "s.ts", "--json")
        self.assertEqual((list(r.json()["labels"]), r.err.count(self.WINDOWS)), (["m\u00e4nnlich"], 1))
        self.path("f").mkdir()
        for k in range(3):
            self.path(f"f/{k}.csv").write_bytes("Gr\u00f6\u00dfe\n1\n2\n".encode("cp1252"))
        r = self.ok("info", "f", "--json")
        self.assertEqual((r.json()["columns"][0]["name"], r.err.count(self.WINDOWS)), ("Gr\u00f6\u00dfe", 1))
        self.write("d.csv", "id,x\n" + "".join(f"{k},{v}\n" for k in ("J\u00f6rg", "Bea") for v in (1, 2, 4, 3)))
        self.ok("fit", "d.csv", "--states", "1", "-o", "m.json")
        self.ok("cluster", "m.json", "-k", "2", "-o", "c.json")
        self.path("truth.csv").write_bytes("name,class\nJ\u00f6rg,\u00e4lter\nBea,j\u00fcnger\n".encode("cp1252"))
        r = self.ok("eval", "c.json", "--truth", "truth.csv")
        self.assertIn("j\u00fcnger", r.out)
        self.assertEqual(r.err.count(self.WINDOWS), 1)
        self.path("tags.csv").write_bytes("item,tag\nJ\u00f6rg,sch\u00f6n\nBea,sch\u00f6n\n".encode("cp1252"))
        r = self.ok("annotate", "train", "d.csv", "--tags", "tags.csv", "--states", "1", "-o", "a.json")
        self.assertEqual(r.err.count(self.WINDOWS), 1)
        self.assertIn("sch\u00f6n", self.ok("info", "a.json").out)

    def test_folders_that_are_not_models(self):
        self.write("d.csv", "id,x\na,1\na,2\na,4\n")
        self.ok("fit", "d.csv", "--states", 1, "-o", "m.json", "--quiet")
        self.path("parts").mkdir()
        self.path("m.json").rename(self.path("parts/m.json"))
        for command in (("cluster", "parts", "-k", 1), ("score", "parts", "d.csv"), ("report", "parts", "-o", "r.html")):
            self.fails(1, "parts: the folder has no manifest.json, which a folder of models needs; 'vhem convert "
                       "parts/*.json -o NEW' merges its files", *command)
        self.fails(1, "'vhem convert parts/*.json -o NEW' merges its files", "info", "parts")
        self.ok("convert", "parts/m.json", "parts/n.h5")
        self.fails(1, "'vhem convert parts/*.h5 parts/*.json -o NEW' merges its files", "info", "parts")
        self.path("parts/n.h5").unlink()
        self.ok("convert", "parts/m.json", "-o", "whole")
        self.ok("info", "whole")
        self.path("whole/manifest.json").unlink()
        for command in (("info", "whole"), ("cluster", "whole", "-k", 1)):
            self.fails(1, "'vhem convert whole/*.h5 -o NEW' merges its files", *command)
        self.path("whole/notes.csv").write_text("x\n1\n")
        self.fails(1, "'vhem fit whole -o models.json' makes models of sequences", "score", "whole", "d.csv")
        self.ok("cluster", "whole", "-k", 1)

    def test_table_out_by_ending(self):
        self.write("d.csv", 'id,x\n"a, b",1\n"a, b",2\nc,3\nc,5\n')
        self.ok("fit", "d.csv", "--states", 1, "-o", "m.json", "--quiet")
        self.ok("score", "m.json", "d.csv", "-o", "s.tsv", "--quiet")
        self.ok("score", "m.json", "d.csv", "-o", "s.csv", "--quiet")
        tabs = [line.split("\t") for line in self.path("s.tsv").read_text().splitlines()]
        with open(self.path("s.csv"), newline="") as f:
            self.assertEqual(list(csv.reader(f)), tabs)
        self.assertEqual(tabs[1][0], "a, b")
        self.ok("score", "m.json", "d.csv", "-o", "j.csv", "--quiet", "--json")
        json.loads(self.path("j.csv").read_text())

    def test_no_table(self):
        self.write("t.txt", "Dear all " * 40 + "\nbest wishes\n")
        r = self.fails(1, "t.txt: not a table of sequences: line 1 has no columns, it is 'Dear all", "info", "t.txt")
        self.assertLess(len(r.err), 160)

    def test_names_in_other_alphabets_are_aligned(self):
        self.write("d.csv", "id,x\nÄÖÜß,1\nabcd,2\n")
        rows = self.ok("info", "d.csv", "--all").out.splitlines()[-2:]
        self.assertEqual(len(rows[0]), len(rows[1]))


class WrongKind(Case):
    """A file of another kind than the command wants: the sentence says what to do."""

    def setUp(self):
        super().setUp()
        self.write("e.csv", "id,x\na,1\na,2\nb,3\nb,4\n")
        self.write("m.json", model())

    def test_data_for_models(self):
        for args in (["compare", "e.csv"], ["score", "e.csv", "e.csv"], ["sample", "e.csv"]):
            r = self.fails(1, "e.csv is not a model file; if it holds sequences, fit models to them first: vhem fit e.csv",
                           *args)
            self.assertIn("(line 1", r.err)
        self.ok("convert", "e.csv", "e.h5", "-q")
        self.fails(1, "e.h5 is not a model file; if it holds sequences", "sample", "e.h5")
        for name in ("e.csv", "e.h5"):   # which can be clustered as they are
            self.ok("cluster", name, "-k", "2")

    def test_other_columns_than_the_models(self):
        self.write("d.csv", "id,FixX,FixY\n" + "a,1,2\na,2,3\na,4,1\n" * 3)
        self.write("e.csv", "id,x,y\na,1,2\na,2,3\na,4,1\n")
        self.ok("fit", "d.csv", "-S", 1, "-o", "m.json", "--quiet")
        self.fails(1, "the data has no column 'FixX'; its columns are x, y, but the models were fitted to FixX, FixY; "
                   "rename the columns of the data, or fit models to its columns", "score", "m.json", "e.csv", "--columns",
                   "x,y")
        self.fails(1, "there is no column 'z' to read; the columns are id, x, y", "fit", "e.csv", "--emission",
                   "x:gaussian-diag,z:poisson", "-o", "n.json")

    def test_sequences_with_an_unknown_ending(self):
        self.write("e.csv", "id,x,y\na,1,2\na,2,3\n")
        self.fails(2, "-o foo.xyz: the ending '.xyz' is unknown; sequences are written as .csv .tsv .npy .npz .ts or .h5",
                   "convert", "e.csv", "-o", "foo.xyz")
        self.fails(2, "-o foo: it has no ending; sequences are written as .csv", "convert", "e.csv", "-o", "foo")
        self.fails(1, "e.csv is not a model file", "convert", "e.csv", "--shards", 2, "-o", "folder")

    def test_models_for_clusters(self):
        for args in (["eval", "m.json", "--data", "e.csv"], ["report", "m.json"]):
            self.fails(1, "m.json holds models, not clusters; run vhem cluster first", *args)
        self.fails(1, "e.csv is not a file of clusters; run vhem cluster or vhem tree first", "assign", "e.csv", "m.json")

    def test_tree_for_models(self):
        """The centres of the lowest level are the models."""
        self.ok("tree", "m.json", "-k", "2,1", "-r", "2", "-o", "t.json", "-q")
        self.ok("cluster", "m.json", "-k", "2", "-r", "2", "-o", "c.json", "-q")
        for args in (["score", "e.csv"], ["decode", "e.csv"], ["sample"], ["cluster", "-k", "1", "-r", "2"]):
            tree = self.ok(args[0], "t.json", *args[1:]).out
            self.assertEqual(tree.replace("t.json", "c.json"), self.ok(args[0], "c.json", *args[1:]).out)

    def test_convert_of_clusters_says_what_is_lost(self):
        self.ok("cluster", "m.json", "-k", "2", "-r", "2", "-o", "c.json", "-q")
        r = self.ok("convert", "c.json", "centres.json")
        self.assertIn("the 2 centres of the clustering in centres.json", r.err)
        self.assertIn("warning: only the centres of the lowest clusters of c.json are in centres.json, not their "
                      "members", r.err)


if __name__ == "__main__":
    unittest.main()
