# SPDX-License-Identifier: BSD-3-Clause
"""No name, label, column, title, file name or option sends a command to the terminal."""
import json
import os
import pathlib
import pty
import shlex
import subprocess
import unittest

from support import HANGS, VHEM, Case, flock, model

# ESC, BEL, a line end, a tab, DEL, C1 in UTF-8 (CSI), and something for a shell.
BAD = "\x1b]0;no\x07\x1b[31m\nvhem: forged\t\x7f\u009b1m$(touch PWNED)'"
FILE = BAD.replace("\n", "\x85") + "q"       # of a file name, and of a column; \x85 is NEL in UTF-8
RAW = FILE.encode() + b"\x9b\xff"            # bytes that are not UTF-8


def commands_in(text):
    """Characters that a terminal may take for the beginning of a command."""
    return [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]


class Terminal(Case):
    def hostile(self):
        """Model files, a table and tables of tags and classes whose every name is hostile."""
        h3m = json.loads(flock(kinds=2, per_kind=3))
        for i, h in enumerate(h3m["hmms"]):
            h["name"], h["label"] = f"{BAD}{i}", f"{BAD}{h['label']}"
        h3m["columns"] = [FILE]
        h3m["provenance"] = {"program": BAD, "command": BAD, "input": BAD, "options": {BAD: BAD}}
        self.write("m.json", json.dumps(h3m))
        self.tag = BAD.replace("\n", "\r").replace("\t", " ")
        self.write("tags.tsv", "item\ttag\n" + "".join(f'"{BAD}{n}"\t"{self.tag}"\n'.replace("\nvhem", "\rvhem") for n in range(6)))
        name = '"' + BAD.replace("\n", "\r") + '{}"'
        head = f'id,label,group,"{FILE}"\n'
        self.write("d.csv", head + "".join(f"{name.format(n)},{name.format(n % 2)},{name.format('g' + str(n % 3))},{10 * (n % 2) + t % 4}\n"
                                           for n in range(6) for t in range(12)))

    def check(self, *args, stdout=False, code=None):
        """Runs it with a pipe, and looks at standard error; then on a terminal, and looks at both."""
        args = list(args)
        if any(os.fsencode(a).endswith(b".csv") for a in args):     # control characters make it look like no text
            args += ["--format", "csv"]
        done = subprocess.run([VHEM, *args], cwd=self.dir, capture_output=True, timeout=HANGS)
        self.assertGreaterEqual(done.returncode, 0, args)
        if code is not None:
            self.assertEqual(done.returncode, code, (args, done.stderr))
        err = done.stderr.decode("utf-8")    # it is UTF-8
        self.assertEqual(commands_in(err), [], (args, err))
        self.assertEqual(err.count("\nvhem: forged"), 0, err)
        self.assertNotIn("\t", err)
        if not stdout:
            return err
        ours, theirs = pty.openpty()
        with subprocess.Popen([VHEM, *args], cwd=self.dir, stdout=theirs, stderr=subprocess.DEVNULL) as run:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    more = os.read(ours, 65536)
                except OSError:      # the end
                    break
                shown += more
        os.close(ours)
        text = shown.replace(b"\r\n", b"\n").decode("utf-8")
        self.assertEqual(run.returncode, done.returncode)
        self.assertEqual(commands_in(text), [], (args, text))
        if not commands_in(done.stdout.decode("utf-8")):     # else nothing is changed on its way
            self.assertEqual(text, done.stdout.decode("utf-8"))
        return err

    def test_names(self):
        self.hostile()
        self.check("info", "m.json", "--all", stdout=True, code=0)
        self.check("info", "d.csv", "--all", stdout=True, code=0)
        err = self.check("cluster", "m.json", "-k", "2", "--restarts", "3", "-o", "c.json", code=0)
        self.assertIn("?]0;no??[31m?vhem: forged???1m$(touch PWNED)'", err)
        self.check("tree", "m.json", "-k", "3,2", "--restarts", "3", "-o", "t.json", code=0)
        self.check("cluster", "m.json", "-k", "2", "--restarts", "3", stdout=True, code=0)       # JSON on the terminal
        self.check("info", "c.json", "--all", stdout=True, code=0)
        for f in ("c.json", "t.json"):
            self.check("assign", f, "m.json", stdout=True, code=0)
            self.check("assign", f, "d.csv", stdout=True, code=0)
            self.check("eval", f, "--models", "m.json", "--data", "d.csv", stdout=True)
            self.check("report", f, "-m", "m.json", "--title", BAD, "-o", "r.html", code=0)
        self.check("stats", "c.json", "d.csv", "--group", "group", stdout=True)
        self.check("score", "m.json", "d.csv", "--all", stdout=True, code=0)
        self.check("decode", "m.json", "d.csv", stdout=True, code=0)
        self.check("compare", "m.json", stdout=True, code=0)
        self.check("sample", "m.json", "-n", "2", "-T", "3", stdout=True, code=0)
        self.check("choose", "m.json", "-k", "1..2", "--restarts", "2", stdout=True, code=0)
        self.check("convert", "d.csv", "-", stdout=True)
        self.check("fit", "d.csv", "--states", "1", "-o", "f.json", code=0)
        self.check("fit", "d.csv", "--states", "1", "--group", "group", stdout=True, code=0)
        self.check("background", "d.csv", "-g", "1", "-o", "b.json", code=0)

    def test_classes(self):
        self.hostile()
        for kind in ("classify", "annotate"):
            out = f"{kind}.json"
            tags = ["--tags", "tags.tsv"] if kind == "annotate" else []
            self.check(kind, "train", "d.csv", *tags, "--states", "1", "-o", out, code=0)
            self.check("info", out, stdout=True, code=0)
            self.check(kind, "predict", out, "d.csv", stdout=True, code=0)
            self.check(kind, "eval", out, "d.csv", *tags, stdout=True, code=0)
        self.check("annotate", "search", "annotate.json", "d.csv", self.tag, stdout=True, code=0)
        self.assertIn("has no tag", self.check("annotate", "search", "annotate.json", "d.csv", BAD, code=1))

    def test_errors(self):
        """Names of two files, of a file that is not there, of commands, options and choices."""
        self.hostile()
        self.check("cluster", "m.json", "-k", "2", "--restarts", "2", "-o", "c.json", code=0)
        other = json.loads(self.path("m.json").read_text())
        other["hmms"][0]["name"] = BAD + "other"
        self.write("o.json", json.dumps(other))
        self.assertIn("other", self.check("report", "c.json", "-m", "o.json", "-o", "r.html", code=1))
        self.assertIn("other", self.check("eval", "c.json", "--models", "o.json", code=1))
        self.write("broken.csv", f'id,"{FILE}"\na,1\na,"{FILE}"\n')
        self.check("fit", "broken.csv", "--states", "1", "-o", "n.json", code=1)
        self.write("short.csv", f'id,"{FILE}"\na,1\na\n')
        self.check("fit", "short.csv", "--states", "1", "-o", "n.json", code=1)
        for args in ([BAD], ["fit", BAD], ["fit", RAW], ["fit", "d.csv", "--" + BAD], ["fit", "d.csv", "--columns", BAD],
                     ["fit", "d.csv", "--emission", BAD], ["fit", "d.csv", "--states", BAD], ["cluster", "m.json", "-k", BAD],
                     ["cluster", "m.json", "-k", "2", "--method", BAD], ["cluster", "m.json", "-k", "2", "--preset", BAD],
                     ["fit", "d.csv", "--states", "1", "-o", BAD + "/x.json"], ["info", RAW], ["stats", RAW, RAW], ["report", RAW],
                     ["cluster", "m.json", "-k", "2", "--init", BAD], ["convert", "d.csv", FILE + ".zzz"], ["fit", "d.csv", "--where", BAD],
                     ["score", BAD, "d.csv"], ["eval", "c.json", "--truth", BAD], ["report", "c.json", "--image", BAD]):
            self.assertNotEqual(self.check(*args), "")

    def test_file_names_and_what_to_type_next(self):
        self.hostile()
        os.rename(self.path("d.csv"), os.path.join(bytes(self.dir), RAW + b".csv"))
        self.check("fit", RAW + b".csv", "--states", "1", "-o", RAW + b".json", code=0)
        self.check("cluster", RAW + b".json", "-k", "2", "--restarts", "2", "-o", RAW + b"c.json", code=0)
        self.check("info", RAW + b"c.json", stdout=True, code=0)
        self.check("report", RAW + b"c.json", "-m", RAW + b".json", "-o", RAW + b".html", code=0)
        self.write("m.json", model())
        name = "my $(touch PWNED)'s \"file\" ü;.json"
        err = self.check("cluster", "m.json", "-k", "2", "-o", name, code=0)
        typed = err[err.index("'vhem info ") + 1:err.index("' shows")]
        self.assertEqual(shlex.split(typed), ["vhem", "info", name])
        subprocess.run(["bash", "-c", f'vhem() {{ test "$2" = "$NAME"; }}; {typed}'], check=True, cwd=self.dir,
                       env={**os.environ, "NAME": name})
        self.assertFalse(pathlib.Path(self.dir, "PWNED").exists())


if __name__ == "__main__":
    unittest.main()
