# SPDX-License-Identifier: BSD-3-Clause
"""What the documents promise: the demo, the examples, every command of README and tutorials, the installation."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import pages
from support import HANGS, SOURCE, VHEM, Case, flock, two_level


class Documents(Case):
    def run_page(self, name):
        """Runs every line 'vhem ...' of a page, continued lines joined, and compares what a block prints with what the page
        shows: the arguments and the result of each."""
        done = []
        for block in pages.blocks((SOURCE / name).read_text()):
            lines = block.code.replace("\\\n", " ").splitlines() if block.language == "sh" else []
            told = [(args, self.ok(*args)) for args in (shlex.split(line, comments=True)[1:] for line in lines
                                                        if line.startswith("vhem "))]
            if block.language == "sh" and block.shown:
                wrong = pages.differs(block.shown, "".join(r.out + r.err for _, r in told))
                self.assertIsNone(wrong, f"{name}: {block.code}{wrong}")
            done += told
        return done

    def test_readme(self):
        self.assertEqual([args[0] for args, _ in self.run_page("README.md")], ["demo", "cluster", "report"])
        prose = re.sub(r"```.*?```|\]\([^)]*\)", "", (SOURCE / "README.md").read_text(), flags=re.S)
        self.assertLessEqual(len(re.findall(r"[\w'-]+", prose)), 700)

    def test_quick_start(self):
        commands = {args[0] for args, _ in self.run_page("docs/quickstart.md")}
        self.assertLessEqual({"fit", "cluster", "tree", "assign", "choose"}, commands)
        self.assertEqual(len(self.path("drawn.csv").read_text().splitlines()), 501)

    def test_blocks_show_output(self):
        text = "```sh\na\n```\n\n```text\nx 1\n```\n\n```python\nb\n```\n\n    2\n\nand\n\n```sh\nc\n```\n\nd\n"
        self.assertEqual([tuple(b) for b in pages.blocks(text)],
                         [("sh", "a\n", "x 1\n"), ("python", "b\n", "    2\n"), ("sh", "c\n", None)])
        for shown, printed, same in (("a 0.59\n b", "a 0.594 b", True), ("a 0.59", "a 0.597", False), ("a 3", "a 4", False),
                                     ("a 3", "a 3.4", True), ("a\n...\nz", "a\nb\nz", True), ("a\n...", "b", False),
                                     ("in [...] s", "in 0.1 s", True), ("a\nb", "a\nvhem x: next: c\nb", True),
                                     ("1.5e-05", "1.52e-05", True), ("a, ...", "a, b", False)):
            self.assertEqual(pages.differs(shown, printed) is None, same, (shown, printed))

    def test_readme_links(self):
        for path in [*SOURCE.glob("*.md"), *(SOURCE / "docs").glob("*.md")]:
            for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
                if "://" not in target:
                    self.assertTrue((path.parent / target).exists(), f"{path.name}: {target}")

    def test_citation_is_of_this_version(self):
        version = re.search(r'VHEM_VERSION "([^"]+)"', (SOURCE / "include/vhem.h").read_text())[1]
        self.assertIn(f"\nversion: {version}\n", (SOURCE / "CITATION.cff").read_text())

    def test_make_without_tests(self):
        """`make` and `make demo` build the library and the command alone; `make test` everything."""
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["buildPresets"]
        targets = {p["name"]: p.get("targets") for p in presets}
        self.assertEqual(set(targets["cpu"]), {"vhem_command", "vhem_static", "vhem_shared"})
        self.assertIsNone(targets["test"])

    def test_readme_names_no_missing_command(self):
        known = set(re.findall(r"^  ([a-z]+) ", self.ok("--help").out, re.M)) | {"help"}
        for name in ("README.md", "CHANGELOG.md", "docs/tutorial-eye-movements.md", "docs/algorithm.md"):
            for word in re.findall(r"`vhem ([a-z]+)", (SOURCE / name).read_text()):
                self.assertIn(word, known, name)

    def test_tutorial_eye_movements(self):
        subprocess.run(["python3", SOURCE / "examples/data/tutorials.py", self.dir], check=True)
        lines = self.path("fixations.csv").read_text().splitlines()
        done = self.run_page("docs/tutorial-eye-movements.md")
        self.assertGreaterEqual(len(done), 4)
        for args, r in done:
            if args[0] == "decode":
                self.assertIn("matched by name", r.err)
        self.assertEqual(self.ok("info", "subjects.json", "--json").json()["K"], 16)
        for name in ("groups.json", "strategies.json"):
            labels = json.loads(self.path(name).read_text())["labels"]
            self.assertEqual([labels[n] == labels[0] for n in range(16)], [True, False] * 8, name)   # strategies take turns
        self.assertEqual(self.ok("info", "strategies.json", "--json").json()["levels"][0]["options"]["preset"], "emhmm")
        self.assertEqual(len(self.path("groups.tsv").read_text().splitlines()), 17)
        regions = self.path("regions.tsv").read_text().splitlines()
        self.assertEqual(len(regions), len(lines))
        row = dict(zip(regions[0].split("\t"), regions[1].split("\t")))
        self.assertEqual(row["hmm"], "s1")

    def test_tutorial_data(self):
        subprocess.run(["python3", SOURCE / "examples/data/kinds_of_data.py", self.dir], check=True)
        done = self.run_page("docs/tutorial-data.md")
        self.assertGreaterEqual(len(done), 12)
        agreement = {}
        for args, r in done:
            found = re.search(r"Rand index (\S+),", r.err)
            if found and args[0] == "cluster":
                agreement[args[-1]] = float(found[1])
        self.assertEqual(len(agreement), 7)
        for name, rand in agreement.items():
            self.assertGreaterEqual(rand, 0.9 if "courses" in name else 1, name)
        lacking = [h["mu"][0][0][1] is None for h in json.loads(self.path("gaze.json").read_text())["hmms"]]
        self.assertEqual(sum(lacking), 4)

    def test_scripts_take_the_systems_own_packages(self):
        """A machine behind a mirror reaches no other host."""
        for path in sorted((SOURCE / "scripts").iterdir()):
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"https?://[a-z.]*(debian|ubuntu)\.(org|com|net)", path.name)

    def test_no_path_of_one_machine(self):
        for path in [*SOURCE.glob("*.md"), *(SOURCE / "docs").glob("*.md"), *(SOURCE / "cli").glob("*.[ch]")]:
            self.assertNotRegex(path.read_text(), r"/(home|root|work)/", path.name)


class Programs(Case):
    def test_demo(self):
        done = subprocess.run([SOURCE / "scripts/demo", VHEM, "out"], cwd=self.dir, capture_output=True, text=True,
                              timeout=HANGS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        for text in ("$ vhem cluster motions.csv --seed 1", "motions.csv: 60 sequences (csv)", "recommended: 6 clusters",
                     "6 clusters of 60 sequences in clusters.json, by auto", "level 2, 3 clusters of 6 clusters",
                     "60 HMMs from 60 sequences", "Next:"):
            self.assertIn(text, done.stdout)
        rand = [float(x) for x in re.findall(r"agreement with the labels: Rand index (\S+),", done.stdout)]
        self.assertEqual(len(rand), 4)               # of the groups, of the new drawings, of both levels of the tree
        self.assertGreater(min(rand[:3]), 0.95)
        made = {p.name for p in self.path("out").iterdir()}
        self.assertEqual(made, {"motions.csv", "new", "motions.json", "clusters.json", "tree.json", "invented.csv",
                                "choice.tsv", "distances.tsv", "report.html", "numbers"})
        self.assertEqual(len(json.loads(self.path("out/motions.json").read_text())["hmms"]), 60)
        self.assertEqual(len(json.loads(self.path("out/tree.json").read_text())["levels"]), 2)

    def test_example_of_the_command(self):
        self.write("d.csv", two_level())
        done = subprocess.run([SOURCE / "examples/cli/fit.sh", "d.csv"], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "VHEM": VHEM})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"models.json: 4 HMMs\n(.*\n)+.*==> example-fit/scores.tsv <==\nsequence\tlabel\tframes")

    def test_install_and_example_in_c(self):
        build = pathlib.Path(VHEM).resolve().parent
        if not (build / "cmake_install.cmake").exists() or not shutil.which("cmake"):
            self.skipTest("not run from a build folder")
        prefix = self.path("prefix")
        done = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("bin/vhem", "include/vhem.h", "include/vhem/types.h", "include/vhem/vhem.h", "share/man/man1/vhem.1",
                     "share/bash-completion/completions/vhem"):
            self.assertTrue((prefix / name).exists(), name)
        [pc] = prefix.glob("lib*/**/vhem.pc")
        env = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "LD_LIBRARY_PATH": str(pc.parent.parent)}
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "vhem"], capture_output=True, text=True,
                               env=env, check=True).stdout.split()
        cache = (build / "CMakeCache.txt").read_text()
        sanitize = ["-fsanitize=address,undefined"] if "VHEM_SANITIZE:BOOL=ON" in cache else []
        compiler = os.environ.get("CC", "cc")
        for name in ("fit", "cluster"):
            subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", SOURCE / f"examples/c/{name}.c", "-o", name,
                            *flags, *sanitize], cwd=self.dir, env=env, check=True)
        self.write("d.csv", two_level())
        done = subprocess.run(["./fit", "d.csv", "m.json"], cwd=self.dir, env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 8)
        shape = re.compile(r"seq\d state \d: mean of the first column (\S+)")
        means = sorted(float(shape.fullmatch(line)[1]) for line in lines)
        self.assertTrue(all(abs(m) < 1 for m in means[:4]) and all(abs(m - 5) < 1 for m in means[4:]), means)
        self.assertEqual(len(json.loads(self.path("m.json").read_text())["hmms"]), 4)
        self.write("f.json", flock())
        done = subprocess.run(["./cluster", "f.json", "3", "c.json"], cwd=self.dir, env=env, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        groups = [set(re.findall(r"k\d", line)) for line in done.stdout.splitlines()[:3]]
        self.assertEqual(sorted(map(sorted, groups)), [["k0"], ["k1"], ["k2"]])
        self.assertRegex(done.stdout.splitlines()[3], r"bound after \d+ iterations: -\d+\.\d\d nats")
        self.assertEqual(self.ok("info", "c.json", "--json").json()["kind"], "clustering")


if __name__ == "__main__":
    unittest.main()
