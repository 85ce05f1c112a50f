# SPDX-License-Identifier: BSD-3-Clause
"""Help, versions, options: what a person types before anything is computed."""
import re
import subprocess
import unittest

from support import COMMANDS, PARTS, SOURCE, VHEM, Case

COMMON = ["seed", "threads", "backend", "max-memory", "quiet", "verbose", "json", "help", "help-all"]
FORCE = ["force"]                                        # of all that write files
DATA = ["format", "id", "label", "weight", "columns", "where", "order", "memory", "group", "missing", "sheet"]
VHEM_OPTIONS = ["method", "mix", "tau", "nv", "init", "restarts", "max-iter", "tol", "cov-floor", "cov-add", "soft",
                "lambda", "kernel", "diagonal", "linkage", "no-repair", "weighted-omega", "preset", "search", "neighbours",
                "refine", "landmarks", "prior", "learn-prior", "no-prune"]
LEARN = ["estimator", "hmms", "model", "learn", "noise", "states", "mix", "cov", "emission", "mixture", "chunk", "bootstrap",
         "sample", "min-examples", "prior", "fit-restarts", "fit-tol", "fit-max-iter", "fit-prior", "fit-init",
         "cov-floor", "topology", "tau", "nv", "restarts", "max-iter", "tol"]
OPTIONS = {
    "demo": [],
    "fit": ["output", "model", "mixture", "store", "states", "mix", "cov", "emission", "learn", "noise", "restarts", "max-iter",
            "tol", "cov-floor", "prior", "init", "topology", "shape"] + DATA,
    "cluster": ["output", "clusters", "states", "candidate", "keep-tables", "checkpoint", "first-reduce", "models"] + VHEM_OPTIONS + ["cov", "emission", "topology"] + DATA,
    "tree": ["output", "clusters", "states", "keep-tables", "checkpoint", "first-reduce", "models"] + VHEM_OPTIONS + ["cov", "emission", "topology"] + DATA,
    "assign": ["output"] + DATA,
    "eval": ["output", "truth", "models", "data", "against", "tau", "lambda", "kernel"] + DATA,
    "stats": ["output", "tables", "models", "leave-out", "correction", "confidence", "level", "persons"] + DATA,
    "choose": ["output", "clusters", "states", "splits", "seeds", "path", "checkpoint"] + VHEM_OPTIONS + ["cov", "emission", "topology"] + DATA,
    "score": ["output", "all"] + DATA,
    "decode": ["output", "hmm", "posterior"] + DATA,
    "background": ["output", "gaussians", "max-iter"] + DATA,
    "sample": ["output", "number", "length"],
    "compare": ["output", "kind", "tau", "samples", "lambda", "kernel", "raw", "symmetric"],
    "classify train": ["output", "store", "no-store"] + LEARN + DATA,
    "classify predict": ["output", "all", "fast", "check"] + DATA,
    "classify eval": ["output", "top", "at", "never-given", "fast"] + DATA,
    "classify cross": ["output", "folds", "holdout", "store", "top", "at", "never-given"] + LEARN + DATA,
    "classify update": ["output", "store"] + DATA,
    "annotate train": ["output", "store", "no-store"] + LEARN + DATA + ["tags"],
    "annotate predict": ["output", "top", "fast", "check"] + DATA,
    "annotate search": ["output", "top", "fast", "check"] + DATA,
    "annotate eval": ["output", "top", "at", "never-given", "fast"] + DATA + ["tags"],
    "annotate cross": ["output", "folds", "holdout", "store", "top", "at", "never-given"] + LEARN + DATA + ["tags"],
    "annotate update": ["output", "store"] + DATA + ["tags"],
    "report": ["output", "tables", "title", "models", "truth", "data", "examples", "measures", "distances", "choice", "image",
               "y-down", "stats", "plane", "frame-name", "persons"] + DATA,
    "info": ["all"] + DATA,
    "convert": ["output", "shards"] + DATA,
}
FLAGS = {"force", "y-down", "all", "raw", "symmetric", "posterior", "no-repair", "no-prune", "weighted-omega",
         "no-store", "check", "leave-out", "quiet", "verbose", "keep-tables",
         "json", "help", "help-all"}
BRIEF = ["fit", "cluster", "tree", "choose", "classify train", "classify cross", "annotate train", "annotate cross"]
BRIEFER = ["assign", "score", "decode", "eval", "stats", "report", "info", "convert"]   # most of their options read data


def entries(text):
    """Option -> its whole entry in a help text."""
    found, name = {}, None
    for line in text.splitlines():
        start = re.match(r" {2,6}(?:-., )?--([a-z-]+)", line)
        if start:
            name = start.group(1)
            found[name] = ""
        elif not line.startswith(" " * 20):
            name = None
        if name:
            found[name] += " " + line.strip()
    return found


class Help(Case):
    def test_no_arguments(self):
        r = self.run_vhem()
        self.assertEqual((r.code, r.out), (2, ""))
        self.assertIn("Usage: vhem COMMAND", r.err)

    def test_overview_lists_exactly_the_commands(self):
        for args in (["--help"], ["-h"], ["help"]):
            r = self.ok(*args)
            block = r.out.split("Commands:\n")[1].split("\n\n")[0]
            self.assertEqual([line.split()[0] for line in block.splitlines()], COMMANDS)

    def test_version(self):
        header = (SOURCE / "include/vhem.h").read_text()
        version = re.search(r'VHEM_VERSION "([^"]+)"', header).group(1)
        lines = self.ok("--version").out.splitlines()
        self.assertEqual(lines[0], f"vhem {version}")
        self.assertRegex(lines[1], r"^backends: .*\bref\b")
        if "cuda" not in lines[1].split():
            self.assertRegex(lines[2], r"^cuda cannot be used here: .")
            why = lines[2].split(": ", 1)[1]
            self.fails(2, f"--backend cuda cannot be used here: {why}; usable are: ", "fit", "a.csv", "--backend", "cuda")

    def test_version_names_an_openblas_that_does_not_know_the_processor(self):
        """Such an OpenBLAS takes kernels of an older one, as it does when it is asked to."""
        def lines(kernels):
            return self.ok("--version", env={"OPENBLAS_CORETYPE": kernels}).out.splitlines()

        usable = lines("Prescott")[1].split()
        if "avx2" not in usable:
            self.skipTest("a processor without AVX2")
        newest, name = ("SkylakeX", "AVX-512") if "avx512" in usable else ("Haswell", "AVX2")
        for kernels in {"Prescott", "Nehalem", "Haswell"} - {newest}:
            self.assertIn(f"slower than possible: OpenBLAS takes this processor for an older one, without {name}; "
                          f"OPENBLAS_CORETYPE={newest} in the environment corrects it", lines(kernels), kernels)
        self.assertNotIn("slower", "".join(lines(newest)))

    def test_every_option_with_its_default(self):
        whole = {c for c in COMMANDS if c not in PARTS} | {f"{c} {p}" for c in PARTS for p in PARTS[c]}
        self.assertEqual(whole, set(OPTIONS))
        for command in OPTIONS:
            text = self.ok(*command.split(), "--help-all").out
            found = entries(text)
            self.assertEqual(sorted(found), sorted(OPTIONS[command] + COMMON + FORCE * (command != "info")), command)
            letters = re.findall(r"^  -(\w), --", text, re.M)
            self.assertEqual(len(letters), len(set(letters)), command)
            for name, entry in found.items():
                self.assertEqual("(default: " in entry, name not in FLAGS, f"{command}: {entry}")
            self.assertTrue(all(len(line) <= 79 for line in text.splitlines()), command)

    def test_options_of_methods_stand_apart(self):
        text = self.ok("cluster", "--help-all").out
        heads = re.findall(r"\n\n(.*):\n", text)
        self.assertEqual(heads[0], "Options")
        self.assertEqual(heads[-4:], ["How to read DATA", "Common options", "Methods", "Examples"])
        self.assertIn("Options of ppk-ac, kl-ac, kl-sampled-ac", heads)
        first = text.split("Options of ")[0]
        self.assertIn("--tau", first)
        self.assertNotIn("--linkage", first)
        self.assertIn("\nOptions of dtm:\n      --learn", self.ok("fit", "--help-all").out)

    def test_the_options_that_matter_come_first(self):
        for command, options in OPTIONS.items():
            text, whole = (self.ok(*command.split(), how).out for how in ("--help", "--help-all"))
            shown, every = entries(text), entries(whole)
            self.assertLessEqual(set(shown.items()), set(every.items()), command)
            if command not in BRIEF + BRIEFER:
                self.assertEqual(text, whole)
                continue
            least, most = (10, 13) if command in BRIEF else (5, 14)
            self.assertTrue(least <= len(set(shown) & set(options)) <= most, command)
            self.assertIn(f"'vhem {command} --help-all' shows {len(every) - len(shown)} more options.", text)
            self.assertTrue(all(len(line) <= 79 for line in text.splitlines()), command)
            if "method" in shown:  # what the answer of variational Bayes depends on
                self.assertLessEqual({"nv", "prior"}, set(shown), command)
            self.assertLess(len(text.splitlines()), 70, command)  # one screen
        self.assertIn("95 % intervals", self.ok("report", "--help").out)
        self.assertNotIn("--cov-floor 0 --max-iter N", self.ok("cluster", "--help").out)
        self.assertIn("--cov-floor 0 --max-iter N", " ".join(self.ok("cluster", "--help-all").out.split()))

    def test_exit_statuses(self):
        said = "\nExit status: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.\n"
        for args in (("--help",), ("cluster", "--help"), ("fit", "--help-all"), ("classify", "--help"), ("demo", "--help")):
            self.assertTrue(self.ok(*args).out.endswith(said), args)

    def test_parts_of_a_command(self):
        for command, parts in PARTS.items():
            text = self.ok(command, "--help").out
            self.assertEqual(re.findall(r"^  ([a-z]+)  ", text, re.M), parts)
            self.assertEqual(self.run_vhem(command).code, 2)
        self.fails(2, "vhem classify: there is no 'trian'; did you mean train?", "classify", "trian")

    def test_known_defaults(self):
        found = entries(self.ok("help", "fit").out)
        self.assertIn("(default: 3)", found["states"])
        self.assertIn("(default: 1)", found["mix"])
        self.assertIn("(default: gaussian-diag)", found["emission"])

    def test_help_shows_defaults_not_what_was_typed(self):
        self.assertEqual(self.ok("fit", "--states", "7", "--help").out, self.ok("fit", "--help").out)
        self.assertEqual(self.ok("help", "fit").out, self.ok("fit", "-h").out)

    def test_help_of_nothing(self):
        self.fails(2, "there is no command 'fitt'; did you mean fit?", "help", "fitt")


class Log(Case):
    def test_verbose(self):
        self.write("a.csv", "seq,x,mood\n" + "".join(f"{s},{t},calm\n" for s in "ab" for t in range(5)))
        self.assertEqual(self.ok("info", "a.csv").err, "")
        r = self.ok("fit", "a.csv", "--states", "1", "--verbose", "-o", "m.json")
        self.assertIn("vhem fit: a.csv: column 'mood' is text", r.err)


class Misuse(Case):
    def test_near_misses(self):
        self.fails(2, "vhem: there is no command 'fot'; did you mean fit?", "fot")
        self.fails(2, "vhem: there is no command 'xyzzy'", "xyzzy")
        self.fails(2, "vhem fit: there is no option '--stats'; did you mean --states?", "fit", "a", "--stats", "3")
        self.fails(2, "there is no option '--restart-count=3'", "fit", "a", "--restart-count=3")
        self.fails(2, "vhem score: there is no option '-Z'", "score", "a", "b", "-Z")
        self.fails(2, "--s could be several options", "fit", "a", "--s", "3")

    def test_numbers(self):
        cases = [
            ("--states", "abc", "--states needs a whole number of at least 1, a range like 2..6, or auto, not 'abc'"),
            ("--states", "0", "--states needs a whole number of at least 1, a range like 2..6, or auto, not '0'"),
            ("--states", "3.5", "not '3.5'"),
            ("--states", " 3", "not ' 3'"),
            ("--states", "", "not ''"),
            ("--states", "99999999999", "not '99999999999'"),
            ("--states", "0x10", "not '0x10'"),
            ("--tol", "nan", "--tol needs a number of at least 0, not 'nan'"),
            ("--tol", "inf", "not 'inf'"),
            ("--tol", "1e999", "not '1e999'"),
            ("--tol", "-1", "not '-1'"),
            ("--tol", "1e-3x", "not '1e-3x'"),
            ("--seed", "-1", "--seed needs a whole number of at least 0, not '-1'"),
            ("--threads", "two", "--threads needs a whole number of at least 0, not 'two'"),
        ]
        for option, value, text in cases:
            self.fails(2, "vhem fit: " + (text if text.startswith("--") else option), "fit", "a.csv", option, value)
            self.fails(2, text, "fit", "a.csv", f"{option}={value}")

    def test_words(self):
        self.fails(2, "--cov is one of diag, full, not 'round'", "fit", "a.csv", "--cov", "round")
        self.fails(2, "--backend abacus cannot be used here", "fit", "a.csv", "--backend", "abacus")
        self.fails(2, "'kmean' is none of them", "fit", "a.csv", "--init", "kmean", "-o", "m.json")
        self.fails(2, "'ring' is none of them", "fit", "a.csv", "--topology", "ring", "-o", "m.json")
        self.fails(2, "--id needs a COL[,COL], not an empty text", "fit", "a.csv", "--id", "")

    def test_twice(self):
        self.fails(2, "vhem fit: --where is given twice", "fit", "d.csv", "--where", "a=1", "-w", "b=2")
        self.fails(2, "--seed is given twice", "cluster", "m.json", "-k", "2", "--seed", "1", "--seed", "1")

    def test_arguments(self):
        self.fails(2, "too few arguments; the command is: vhem fit DATA -o MODELS", "fit")
        self.fails(2, "too few arguments", "score", "a.json")
        self.fails(2, "unexpected argument 'b'", "info", "a", "b")
        self.write("b.json", "")
        self.fails(2, "one file at a time; to take several together, merge them: vhem convert a.json b.json -o all.h5",
                   "cluster", "a.json", "b.json", "-k", "2")
        self.fails(2, "unexpected argument '3'", "cluster", "a.json", "3")
        self.fails(2, "which of them is the output?", "convert", "a", "b", "c")
        self.fails(2, "--output needs its argument, MODELS", "fit", "a.csv", "-o")
        self.fails(2, "--json takes no argument", "fit", "a.csv", "--json=yes")
        self.fails(2, "only one of the inputs can be standard input", "score", "-", "-")

    def test_json_and_result_both_on_stdout(self):
        self.fails(2, "give the result a file with -o FILE", "fit", "a.csv", "--json")
        self.fails(2, "give the result a file", "sample", "m.json", "--json", "-o", "-")
        self.fails(2, "give the result a file", "convert", "m.json", "-", "--json")

    def test_output_is_tried_before_the_work(self):
        self.write("d.csv", "id,x\na,1\na,2\n")
        self.fails(1, "/proc/m.json: cannot write", "fit", "d.csv", "-o", "/proc/m.json")
        self.leftovers("d.csv")

    def test_order_does_not_matter(self):
        for env in ({}, {"POSIXLY_CORRECT": "1"}):
            self.fails(1, "nowhere.json", "info", "nowhere.json", "--json", env=env)
            self.fails(1, "--odd", "info", "--", "--odd", env=env)

    def test_wrong_endings(self):
        self.fails(2, "m.txt: models are written as .json or .h5", "fit", "a.csv", "-o", "m.txt")
        self.fails(2, "d.json: sequences are written as .csv", "sample", "m.json", "-o", "d.json")


class Pages(Case):
    def test_man_page_has_every_command_and_option(self):
        page = (SOURCE / "man/vhem.1").read_text().replace("\\-", "-")
        for command in COMMANDS:
            self.assertIn(f".SS {command}\n", page)
        for name in {o for options in OPTIONS.values() for o in options} | set(COMMON + FORCE):
            self.assertRegex(page, rf"--{name}(?![a-z-])", name)
        known = {o for options in OPTIONS.values() for o in options} | set(COMMON + FORCE) | {"version"}
        self.assertEqual(set(re.findall(r"--([a-z][a-z-]*[a-z])", page)) - known, set())
        self.assertIn(self.ok("--version").out.splitlines()[0], page)

    def test_completion(self):
        script = SOURCE / "share/bash-completion/completions/vhem"
        ask = ('source "$1"; PATH="$(dirname "$2"):$PATH"; eval "COMP_WORDS=($3)"; COMP_CWORD=$4; _vhem; '
               'printf "%s\\n" "${COMPREPLY[@]}"')

        def complete(words, n):
            return subprocess.run(["bash", "-c", ask, "bash", script, VHEM, words, str(n)], capture_output=True,
                                  text=True, check=True, cwd=self.dir).stdout.split()
        self.assertEqual(complete("vhem s", 1), ["score", "sample", "stats"])
        self.assertEqual(complete("vhem fit --st", 2), ["--states", "--store"])
        self.assertEqual(complete("vhem fit --cov f", 3), ["full"])
        self.assertEqual(complete("vhem c", 1), ["cluster", "choose", "compare", "classify", "convert"])
        self.assertEqual(complete("vhem cluster --preset ''", 3), ["paper", "emhmm"])
        self.assertEqual(complete("vhem tree --init p", 3), ["pooled"])
        self.assertEqual(complete("vhem fit --init k", 3), ["kmeans"])
        self.assertEqual(complete("vhem annotate s", 2), ["search"])
        self.assertEqual(complete("vhem classify train --est", 3), ["--estimator"])
        self.assertEqual(complete("vhem classify train --prior c", 4), ["counts"])
        self.assertIn("ref", complete("vhem fit --backend ''", 3))
        self.assertEqual(complete("vhem cluster --method hem", 3), ["hem-gmm", "hem-dtm"])

    def test_pages_are_current(self):
        done = subprocess.run([SOURCE / "scripts/pages", "--check", VHEM], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
