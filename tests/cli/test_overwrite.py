# SPDX-License-Identifier: BSD-3-Clause
"""An output never replaces an input by accident, and a warning never lands in a file."""
import itertools
import json
import os
import subprocess
import unittest

from support import HANGS, VHEM, Case, flock, two_level


class Overwrite(Case):
    def setUp(self):
        super().setUp()
        self.write("d.csv", two_level())
        self.write("m.json", flock())
        self.ok("fit", "d.csv", "-S", 2, "-r", 1, "-o", "f.json", "-q")
        self.ok("cluster", "m.json", "-k", 2, "-r", 1, "-o", "c.json", "-q")

    def refused(self, target, *args):
        before = self.path(target).read_bytes()
        self.fails(1, f"{target}: writing it would replace the input", *args)
        self.assertEqual(self.path(target).read_bytes(), before)

    def test_names_of_other_kinds(self):
        """A table under the name of a workbook is opened by nobody; one under that of models replaces them."""
        models = self.path("m.json").read_bytes()
        for args in (["stats", "c.json", "d.csv"], ["assign", "c.json", "m.json"], ["score", "f.json", "d.csv"],
                     ["decode", "f.json", "d.csv"], ["compare", "f.json"], ["choose", "m.json", "-k", "1..2"],
                     ["eval", "c.json", "--models", "m.json"]):
            for name in ("persons.xlsx", "persons.sav", "persons.h5", "new.json"):
                self.fails(2, f"{name}: a table is written as .tsv, .csv or .txt, or with --json as .json", *args, "-o", name)
                self.assertFalse(self.path(name).exists())
        self.fails(2, "m.json: a table is written as", "stats", "c.json", "d.csv", "-o", "m.json")
        self.fails(2, "raw.xlsx: a report is written as .html", "report", "c.json", "-o", "raw.xlsx")
        self.assertEqual(self.path("m.json").read_bytes(), models)
        for name in ("t.tsv", "t.csv", "t.txt", "t"):
            self.ok("assign", "c.json", "m.json", "-o", name)
        self.ok("assign", "c.json", "m.json", "--json", "-o", "t.json")
        self.ok("compare", "f.json", "--kind", "kl", "-o", "D.npy")

    def test_who_has_no_data(self):
        """The sentence says what there is to do."""
        self.write("gaps.csv", "id,who,use,x\n" + "".join(f"s{i // 5},p{i // 10},{i // 10},{'' if i < 10 else i % 7}\n"
                                                         for i in range(20)))
        self.fails(1, "none of its frames has a value, so there is nothing to fit; delete its rows, or mark those to keep in "
                   "a column and choose them with --where 'COLUMN=VALUE'", "fit", "gaps.csv", "--group", "who", "--columns",
                   "x", "-S", 1, "-o", "g.json")
        self.ok("fit", "gaps.csv", "--group", "who", "--columns", "x", "--where", "use=1", "-S", 1, "-o", "g.json")

    def test_sets_of_others(self):
        """A file of a folder of shards that is no input."""
        self.ok("convert", "m.json", "--shards", 2, "-o", "set", "-q")
        for link, file in (("link.h5", "00001.h5"), ("link.json", "manifest.json")):
            self.path(link).symlink_to(f"set/{file}")
        self.path("chain.h5").symlink_to("link.h5")
        self.path("folder").symlink_to("set")
        for target in ("set/00001.h5", "set/manifest.json", "link.h5", "link.json", "chain.h5", "folder/00001.h5"):
            before = self.path(target).read_bytes()
            self.fails(1, f"{target} belongs to a folder of models: overwriting it would make the set unreadable", "fit", "d.csv", "-S", 2,
                       "-o", target)
            self.assertEqual(self.path(target).read_bytes(), before)
        self.ok("fit", "d.csv", "-S", 1, "-r", 1, "-o", "set/other.json", "-q")
        self.ok("fit", "d.csv", "-S", 1, "-r", 1, "-o", "set/00001.h5", "-q", "--force")

    def test_commands(self):
        self.refused("d.csv", "fit", "d.csv", "-S", 2, "-o", "d.csv")
        self.refused("m.json", "cluster", "m.json", "-k", 2, "-o", "m.json")
        self.refused("m.json", "tree", "m.json", "-k", "3,2", "-o", "m.json")
        self.refused("c.json", "assign", "c.json", "m.json", "-o", "c.json")
        self.refused("m.json", "assign", "c.json", "m.json", "-o", "m.json")
        self.refused("m.json", "choose", "m.json", "-k", "2", "-o", "m.json")
        self.refused("d.csv", "score", "f.json", "d.csv", "-o", "d.csv")
        self.refused("f.json", "decode", "f.json", "d.csv", "-o", "f.json")
        self.refused("m.json", "sample", "m.json", "-o", "m.json")
        self.refused("m.json", "compare", "m.json", "-o", "m.json")
        self.refused("m.json", "eval", "c.json", "--models", "m.json", "-o", "m.json")
        self.refused("c.json", "report", "c.json", "-o", "c.json")
        self.refused("m.json", "report", "c.json", "-m", "m.json", "-o", "m.json")
        self.refused("d.csv", "convert", "d.csv", "d.csv")
        self.refused("d.csv", "classify", "train", "d.csv", "--label", "label", "-o", "d.csv")
        self.refused("d.csv", "annotate", "cross", "d.csv", "--tags", "t.csv", "-o", "d.csv")

    def test_checkpoint(self):
        for checkpoint in ("r.json", "./r.json"):
            self.fails(2, f"--checkpoint and --output are both {checkpoint}", "cluster", "m.json", "-k", 2, "--checkpoint",
                       checkpoint, "-o", "r.json")

    def test_manifest(self):
        self.ok("convert", "m.json", "--shards", 2, "-o", "set", "-q")
        self.refused("set/manifest.json", "cluster", "set", "-k", 2, "-o", "set/manifest.json")

    def test_links(self):
        os.symlink("m.json", self.path("soft.json"))
        os.link(self.path("m.json"), self.path("hard.json"))
        self.refused("soft.json", "cluster", "m.json", "-k", 2, "-o", "soft.json")
        self.refused("hard.json", "cluster", "m.json", "-k", 2, "-o", "hard.json")
        self.refused("m.json", "cluster", "./soft.json", "-k", 2, "-o", "m.json")

    def test_parts_of_inputs(self):
        self.ok("convert", "d.csv", "a.npy")
        self.refused("a_index.csv", "convert", "a.npy", "a_index.csv")
        self.fails(1, "a_index.csv: writing it would replace the input", "convert", "a_index.csv", "a.npy")
        self.path("songs").mkdir()
        self.path("songs/one.csv").write_text("x,y\n1,2\n2,3\n3,1\n")
        self.refused("songs/one.csv", "convert", "songs", "songs/one.csv")
        self.path("numbers").mkdir()
        self.ok("compare", "m.json", "-o", "numbers/d.tsv", "-q")
        self.fails(1, "numbers: writing it would replace the input numbers/d.tsv", "report", "c.json", "--distances",
                   "numbers/d.tsv", "--tables", "numbers", "-o", "r.html")

    def test_force(self):
        self.ok("cluster", "m.json", "-k", 2, "-r", 1, "-o", "m.json", "--force", "-q")
        self.assertEqual(json.loads(self.path("m.json").read_text())["format"], "vhem-clustering")

    def test_other_files_may_be_replaced(self):
        self.ok("cluster", "m.json", "-k", 2, "-r", 1, "-o", "c.json", "-q")
        self.path("songs").mkdir()
        self.path("songs/one.csv").write_text("x,y\n1,2\n2,3\n3,1\n")
        for _ in range(2):
            self.ok("fit", "songs", "-S", 1, "-r", 1, "-o", "songs/m.json", "-q")


class Closed(Case):
    """Started with standard streams closed, in every combination: no file gets their numbers."""

    def run_closed(self, closed, *args):
        def close():
            for fd in closed:
                os.close(fd)
        return subprocess.run([VHEM, *args], cwd=self.dir, preexec_fn=close, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=HANGS).returncode

    def test_every_combination(self):
        rows = ["id,label,x"] + [f"s{n},{'ab'[n % 2]},{1e9 + t % 3}" for n in range(4) for t in range(12)]
        self.write("d.csv", "\n".join(rows) + "\n")      # far from 0: warnings are printed
        self.write("m.json", flock())
        self.ok("cluster", "m.json", "-k", 2, "-r", 1, "-o", "c.json", "-q")
        commands = {
            "o.json": [["fit", "d.csv", "-S", "2", "-r", "1"], ["cluster", "m.json", "-k", "2", "-r", "1"],
                       ["classify", "train", "d.csv", "--label", "label", "-S", "2", "-r", "1", "-t", "1", "--store",
                        "o.store"]],
            "o.h5": [["convert", "d.csv"], ["fit", "d.csv", "-S", "2", "-r", "1"]],
            "o.tsv": [["compare", "m.json"]],
            "o.html": [["report", "c.json"]],
        }
        runs = 0
        for output, several in commands.items():
            for args in several:
                where = [output] if args[0] == "convert" else ["-o", output]
                self.assertEqual(self.run_closed((), *args, *where), 0, args)
                good = {n: self.path(n).read_bytes() for n in (output, "o.store") if self.path(n).exists()}
                for k in (1, 2, 3):
                    for closed in itertools.combinations(range(3), k):
                        for name in good:
                            self.path(name).unlink()
                        self.assertEqual(self.run_closed(closed, *args, *where), 0, (closed, args))
                        for name, content in good.items():
                            self.assertEqual(self.path(name).read_bytes(), content, (closed, args, name))
                        runs += 1
                for name in good:
                    self.path(name).unlink()
        print(f"closed descriptors: {runs} runs, 0 failures")

    def test_closed_output_is_an_error(self):
        self.write("m.json", flock())
        self.assertEqual(self.run_closed((1,), "compare", "m.json", "-q"), 1)


if __name__ == "__main__":
    unittest.main()
