# SPDX-License-Identifier: BSD-3-Clause
"""What tables hold besides numbers: text, answers, numbers for what is missing; and where a bad value is."""
import json
import random
import unittest

from support import Case


class Tables(Case):
    def table(self, name, header, row, n=4, frames=12):
        rng = random.Random(5)
        rows = [f"s{i},c{i % 2}," + ",".join(map(str, row(rng, t))) for i in range(n) for t in range(frames)]
        return self.write(name, "\n".join([f"id,label,{header}"] + rows) + "\n")

    def test_answers_are_not_bits(self):
        self.table("d.csv", "b", lambda rng, t: [rng.choice(["yes", "No"])])
        hint = "; write bits as 1 and 0, or take them as symbols with --emission categorical"
        for emission in ("bernoulli", "b:bernoulli"):
            self.assertIn(hint, self.fails(1, "d.csv: ", "fit", "d.csv", "--emission", emission, "-o", "m.json").err)
        self.ok("fit", "d.csv", "--emission", "categorical", "--states", "1", "-o", "m.json")

    def test_family_that_is_not_there(self):
        self.table("d.csv", "x,y", lambda rng, t: [rng.random(), rng.random()])
        self.fails(2, "there is no family 'gama' for a column; did you mean gamma?", "fit", "d.csv", "--emission",
                   "x:gama,y:gamma", "-o", "m.json")
        self.fails(2, "there is no family 'weibull' for a column; the families are gaussian-diag, gaussian-full, poisson, "
                   "bernoulli, gamma, von-mises, categorical", "fit", "d.csv", "--emission", "y:gamma,x:weibull", "-o", "m.json")
        self.fails(2, "there is no family 'gaussian-tied' for a column", "fit", "d.csv", "--emission", "x:gaussian-tied", "-o",
                   "m.json")
        for twice in ("x:gamma,y:gamma,x:poisson", "x+y+x:gaussian-full"):
            self.fails(2, "--emission names column 'x' twice", "fit", "d.csv", "--emission", twice, "-o", "m.json")

    def test_column_without_values(self):
        """The advice can be followed."""
        self.table("d.csv", "x,y,z", lambda rng, t: [rng.random(), "", rng.random()])
        r = self.run_vhem("fit", "d.csv", "--states", "1", "-o", "m.json")
        self.assertEqual(r.code, 1)
        self.assertIn("d.csv: column 'y' is missing throughout; leave it out with --columns 'x,z'", r.err)
        self.ok("fit", "d.csv", "--states", "1", "--columns", "x,z", "-o", "m.json")
        for y in ("poisson", "categorical"):
            r = self.run_vhem("fit", "d.csv", "--states", "1", "--emission", f"x:gamma,y:{y}", "-o", "m.json")
            self.assertIn("column 'y' is missing throughout; leave it out of the emission", r.err)
        self.ok("fit", "d.csv", "--states", "1", "--emission", "x:gamma", "-o", "m.json")
        r = self.run_vhem("fit", "d.csv", "--emission", "categorical", "--columns", "y", "-o", "m.json")
        self.assertIn("column 'y' is missing throughout, and there is nothing else to fit", r.err)

    def test_vbhem_names_the_column(self):
        self.table("d.csv", "n,step", lambda rng, t: [rng.randrange(4), rng.gammavariate(2, 1)])
        self.ok("fit", "d.csv", "--states", "1", "--emission", "n:poisson,step:gamma", "-o", "m.json")
        self.fails(1, "column 'step': there is no variational Bayes for gamma emissions", "cluster", "m.json", "-k", "2",
                   "--method", "vbhem", "-o", "v.json")
        self.ok("fit", "d.csv", "--states", "1", "--emission", "gamma", "--columns", "step", "-o", "m.json")
        r = self.fails(1, "there is no variational Bayes for gamma emissions", "cluster", "m.json", "-k", "2", "--method", "vbhem",
                       "-o", "v.json")
        self.assertNotIn("leave such columns out", r.err)

    def test_next_command_reads_the_same(self):
        self.table("d.csv", "x,y,t", lambda rng, t: [rng.choice([-999, rng.random()]), rng.random(), "lost" if t % 2 else 1])
        read = "--columns x,t --missing=-999,lost"
        r = self.ok("fit", "d.csv", "--states", "1", "-c", "x,t", "--missing=-999,lost", "-o", "m.json")
        self.assertIn(f"'vhem score m.json DATA {read}' and 'vhem decode' use them", r.err)
        self.ok("score", "m.json", "d.csv", *read.split())
        r = self.ok("fit", "d.csv", "--states", "1", "-c", "x,t", "--missing=-999,lost", "-k", "2", "-o", "m.json")
        self.assertIn(f"'vhem assign m.json DATA {read}'", r.err)
        r = self.ok("background", "d.csv", "-g", "2", "-c", "x,t", "--missing=-999,lost", "-o", "b.json")
        self.assertIn(f"next: vhem fit d.csv --emission gaussian-tied:b.json {read}", r.err)
        self.ok("fit", "d.csv", "--states", "1", "--emission", "gaussian-tied:b.json", *read.split(), "-o", "m.json")

    def test_text_is_left_out_aloud(self):
        self.table("d.csv", "x,note,who", lambda rng, t: [rng.random(), rng.choice(["a b", "c"]), "me"])
        told = "warning: d.csv: text columns left out: note, who\n"
        self.assertEqual(self.ok("fit", "d.csv", "--states", "1", "-o", "m.json").err.count(told), 1)
        self.assertNotIn("left out", self.ok("score", "m.json", "d.csv").err)
        self.assertNotIn("left out", self.ok("fit", "d.csv", "--states", "1", "-c", "x", "-o", "m.json").err)

    def test_bad_value_is_found_in_the_file(self):
        self.write("d.csv", "id,n\na,1\na,2\nb,1\nb,-3\n")
        self.fails(1, "d.csv: line 5: sequence 'b': frame 1 (counted from 0), column 'n' is -3, must be a whole number", "fit",
                   "d.csv", "--emission", "poisson", "-o", "m.json")
        self.write("e.csv", "id,n\na,1\nb,2\na,1\nb,-3\n")          # rows that are not together: no line
        self.fails(1, "e.csv: sequence 'b': frame 1 (counted from 0), column 'n' is -3", "fit", "e.csv", "--emission",
                   "poisson", "-o", "m.json")
        self.path("f").mkdir()
        self.write("f/a.csv", "n,s\n1,u\n")
        self.write("f/b.csv", "n,s\n1,u\n\n2,v\n-3,u\n")
        self.fails(1, "f/b.csv: sequence 'b': frame 2 (counted from 0), column 'n' is -3", "fit", "f", "--emission",
                   "n:poisson", "-o", "m.json")
        self.write("f/b.csv", "n,s\n1,u\n2,v\n-3,u\n")
        self.fails(1, "f/b.csv: line 4: sequence 'b': frame 2 (counted from 0), column 'n' is -3", "fit", "f", "--emission",
                   "n:poisson", "-o", "m.json")
        self.fails(1, "f/a.csv: line 2, column 's': found 'u', expected a number", "fit", "f", "-o", "m.json")
        self.ok("fit", "f", "--emission", "s:categorical", "--states", "1", "-o", "m.json")
        self.write("f/b.csv", "n,s\n1,u\n2,w\n")
        self.fails(1, "f/b.csv: line 3: sequence 'b': frame 1 (counted from 0), column 's' is 'w', which the models have no "
                   "symbol for", "score", "m.json", "f")

    def test_classes_know_their_columns(self):
        self.table("d.csv", "x,y", lambda rng, t: [rng.random(), rng.random()])
        self.ok("classify", "train", "d.csv", "--states", "1", "-o", "k.json")
        k = json.loads(self.path("k.json").read_text())
        self.assertEqual([c["model"]["columns"] for c in k["classes"]], [["x", "y"]] * 2)
        self.table("turned.csv", "y,more,x", lambda rng, t: [rng.random(), "u", rng.random()])
        self.ok("classify", "predict", "k.json", "turned.csv")
        self.table("less.csv", "y,z", lambda rng, t: [rng.random(), rng.random()])
        self.fails(1, "there is no column 'x' to read; the columns are id, label, y, z", "classify", "predict", "k.json",
                   "less.csv")
        rows = self.path("d.csv").read_text().splitlines()
        lacking = [",".join(r.split(",")[:3] + [""]) if r.startswith("s0") else r for r in rows]
        self.write("e.csv", "\n".join(lacking) + "\n")
        self.ok("classify", "train", "e.csv", "--states", "1", "--estimator", "kl-sc", "-o", "k.json")
        self.assertIn("compared over x, which all HMMs have: ", self.ok("classify", "predict", "k.json", "d.csv").err)

    def test_info_of_text(self):
        names = ["home", "work", "Straße nach Süden", *(f"place {i}" for i in range(20))]
        self.table("d.csv", "x,place", lambda rng, t: [rng.random(), rng.choice(names[:3] * 9 + names + [""])], frames=60)
        r = self.ok("info", "d.csv")
        self.assertIn("dimension  1, and 1 column of text", r.out)
        self.assertRegex(r.out, r"place: 23 symbols, \d+ missing\n    \w.* \(\d+\), .* \(\d+\) and \d+ more\n")
        self.assertNotIn(" more\n", self.ok("info", "d.csv", "--all").out)
        j = self.ok("info", "d.csv", "--json").json()
        self.assertEqual((j["d"], j["texts"], [c["name"] for c in j["columns"]]), (1, 1, ["x", "place"]))
        found = j["columns"][1]
        self.assertEqual(sum(s["frames"] for s in found["symbols"]) + found["missing"], 240)
        self.assertEqual({s["name"] for s in found["symbols"]}, set(names))
        self.assertEqual(self.ok("info", "-", stdin=self.path("d.csv").read_text()).out.count("dimension  1\n"), 1)
        self.path("f").mkdir()
        self.write("f/a.csv", "x,s\n1,u\n2,v\n")
        self.assertIn("s: 2 symbols", self.ok("info", "f").out)

    def test_info_of_a_wide_table(self):
        for rows, seen in ("a,1,2\nb,3,4\n", True), ("a,1,2\n", False), ("a,1,2\nb,3,4\nb,3,4\n", False):
            self.write("wide.csv", "id,t1,t2\n" + rows)
            self.assertEqual("every sequence has only one frame" in self.ok("info", "wide.csv").out, seen, rows)

    def test_warnings_once(self):
        self.table("d.csv", "x,,note", lambda rng, t: [rng.random(), 1, "k"])
        self.assertEqual(self.ok("info", "d.csv").err.count("has no name and is left out"), 1)
        many = 80                                            # more than any list of what was said would hold
        self.table("d.csv", "note" + "," * many, lambda rng, t: ["k"] + [1] * many)
        self.assertEqual(self.ok("info", "d.csv").err.count("has no name and is left out"), many)
        self.table("d.csv", "place,x,price", lambda rng, t: ["in", rng.random(), "3%"])  # said once, after the last reading
        self.assertEqual(self.ok("info", "d.csv").err.count("column 'price' is left out, it has '3%'"), 1)
        self.table("d.csv", "place,price", lambda rng, t: ["in", "3%"])
        self.assertEqual(self.ok("info", "d.csv").err.count("column 'price' is left out, it has '3%'"), 1)

    def test_text_among_numbers(self):
        """One word in a column of numbers does not make symbols of all of them."""
        self.path("f").mkdir()
        self.write("f/a.csv", "x,y\n1,2\n2,3\n3,4\n4,oops\n")
        self.write("d.csv", "id,x,y\na,1,2\na,2,3\na,3,4\na,4,oops\n")
        said = ("line 5, column 'y': found 'oops', expected a number as in other rows; if it stands for a missing value, add "
                "--missing 'oops'; if the column holds symbols, fit it with --emission 'y:categorical'")
        for data in ("f", "d.csv"):
            for command in (("info", data), ("convert", data, "e.csv"), ("convert", data, "e.npz"),
                            ("convert", data, "e.npz", "-c", "y"), ("info", data, "-c", "y")):
                self.fails(1, said, *command)
                self.assertFalse(self.path(command[-1]).exists() and command[0] == "convert")
        r = self.fails(1, said, "fit", "d.csv", "-c", "y", "-o", "m.json")
        self.assertNotIn("--columns", r.err)
        self.assertEqual(self.ok("convert", "d.csv", "-", "--missing", "oops").out.splitlines()[-1], "a,4,nan")
        self.write("f/a.csv", "x,y\n1,2\n2,3\n3,4\n4,\"1,5\"\n")
        self.fails(1, "found '1,5', expected a number as in other rows; decimal commas? write 1.5", "info", "f")
        self.write("f/a.csv", "x,y\n1,2\n2,u\n3,v\n")
        self.assertIn("y: 3 symbols", self.ok("info", "f").out)
        self.fails(1, "column 'y': found 'u', expected a number", "convert", "f", "e.npz")
        self.write("f/a.csv", "y\n2\nu\nv\n")
        self.assertIn("is written as numbers: 0 2, 1 u, 2 v", self.ok("convert", "f", "e.npz").err)

    def test_errors_are_not_tried_again(self):
        """Only the lack of numbers makes symbols of text in an array."""
        self.write("d.csv", "id,x,place\na,1,in\na,2,out\nb,inf,in\n")
        r = self.run_vhem("convert", "d.csv", "e.npz")
        self.assertEqual((r.code, r.err.splitlines()), (1, [
            "vhem convert: warning: d.csv: text column left out: place",
            "vhem convert: d.csv: line 4, column 'x': found an infinite value, expected a finite one"]))

    def test_codes_among_numbers(self):
        """Numbers written like codes are symbols beside text, though there are more of them."""
        self.table("d.csv", "code", lambda rng, t: [rng.choice(["007", "7", "1.0", "x1"])])
        self.assertIn("code: 4 symbols", self.ok("info", "d.csv").out)
        self.ok("convert", "d.csv", "e.csv")
        self.assertIn("007", self.path("e.csv").read_text())
        self.assertIn("is written as numbers", self.ok("convert", "d.csv", "e.npz").err)
        self.fails(1, "if the column holds symbols, fit it with --emission 'code:categorical'", "fit", "d.csv", "-o", "m.json")
        self.ok("fit", "d.csv", "--emission", "code:categorical", "-S", "1", "-o", "m.json")

    def test_order_of_symbols(self):
        """Equally frequent ones come in the order of the file."""
        names = [f"n{(17 * i) % 97}" for i in range(97)]
        self.write("d.csv", "id,s\n" + "".join(f"a,{name}\n" for name in names))
        found = self.ok("info", "d.csv", "--json").json()["columns"][0]["symbols"]
        self.assertEqual([s["name"] for s in found], names)

    def test_where_takes_codes_as_texts(self):
        self.write("d.csv", "id,x\n7,1\n007,2\n7.0,3\n")
        for value, x in (("7", ["1", "3"]), ("007", ["2"]), ("7.0", ["1", "3"])):
            rows = self.ok("convert", "d.csv", "-", "--where", f"id={value}").out.splitlines()[1:]
            self.assertEqual([row.split(",")[1] for row in rows], x)

    def test_convert_text(self):
        self.table("d.csv", "x,place,code", lambda rng, t: [t % 3 + 0.5, rng.choice(["in", "out"]), rng.choice(["007", "7", "a", "b", "c"])])
        self.ok("convert", "d.csv", "e.tsv")
        rows = [line.split("\t") for line in self.path("e.tsv").read_text().splitlines()]
        self.assertEqual([",".join(r) for r in rows], self.path("d.csv").read_text().splitlines())
        self.assertIn("text columns left out: place, code", self.ok("convert", "d.csv", "e.npz").err)
        self.assertEqual(self.ok("info", "e.npz", "--json").json()["d"], 1)
        r = self.ok("convert", "d.csv", "e.npz", "-c", "x,place", "--force")
        self.assertRegex(r.err, r"warning: column 'place' is written as numbers: 0 (in|out), 1 (in|out)\n")
        self.assertEqual(self.ok("info", "e.npz", "--json").json()["d"], 2)
        self.ok("convert", "d.csv", "-c", "place", "p.csv")
        self.assertIn("is written as numbers", self.ok("convert", "p.csv", "p.h5").err)

    def test_numbers_for_what_is_missing(self):
        for code, typed in ((-9999, "-9999"), (9999999, "9999999"), (-99, "-99")):
            self.table("d.csv", "x,y", lambda rng, t: [rng.random(), code if t % 5 == 0 else rng.random() * 20])
            r = self.ok("fit", "d.csv", "--states", "1", "-o", "m.json")
            self.assertIn(f"warning: d.csv: column 'y' is {typed} in 12 frames and from ", r.err)
            self.assertIn(f"if that stands for a missing value, add --missing={typed}\n", r.err)
            r = self.ok("fit", "d.csv", "--states", "1", f"--missing={typed}", "-o", "m.json")
            self.assertIn("12 of 96 values were missing", r.err)
            self.assertNotIn("stands for", r.err)
        self.ok("convert", "d.csv", "d.npz")
        self.assertIn("if that stands for a missing value, make it NaN", self.ok("info", "d.npz").err)
        quiet = {"poisson": lambda rng, t: [rng.choice([0, 0, 3, 5])], "bernoulli": lambda rng, t: [rng.choice([0, 1])],
                 "gamma": lambda rng, t: [rng.choice([0, rng.gammavariate(9, 9)])],
                 "gaussian-diag": lambda rng, t: [rng.choice([-99, -98, 99, 40])]}
        for emission, row in quiet.items():
            self.table("d.csv", "x", row)
            self.assertNotIn("stands for", self.ok("fit", "d.csv", "--states", "1", "--emission", emission, "-o", "m.json").err)

    def test_counters_in_every_format(self):
        self.table("d.csv", "t,x", lambda rng, t: [t, rng.random()])
        told = "column 't' counts the rows of each sequence; leave it out with --columns x"
        for name in ("e.npz", "e.h5", "e.tsv"):
            self.assertIn(told, self.ok("convert", "d.csv", name).err)
            self.assertIn(f"{name}: {told}", self.ok("info", name).err)
        self.assertNotIn("counts the rows", self.ok("info", "e.npz", "-c", "x").err)
        self.write("one.csv", "id,time,x\n" + "".join(f"s{i},{i},{i % 3}\n" for i in range(20)))
        self.assertEqual(self.ok("info", "one.csv").err, "")


if __name__ == "__main__":
    unittest.main()
