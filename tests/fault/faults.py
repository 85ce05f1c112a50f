# SPDX-License-Identifier: BSD-3-Clause
"""Small runs of every command, with one call failing at a time.

    faults.py --vhem BIN [--shim LIB] [--points N] [--full] [--minutes M] [--only NAME]

After each run with a failing call either the command succeeded, and its output is the same bytes as without the fault;
or it failed with status 1 and a sentence (that says memory, or the error of the call), the old output is as it was, and
nothing else lies in the folder.  --points N tries about N allocations of a command, evenly spread, and each of the
other calls; --full tries every one, as far as the minutes go.

Some libraries do not survive every failing allocation.  A fatal signal counts as theirs only when both the allocation
that failed was asked for inside HDF5 1.10 or Jansson and the signal struck, or the program was ended, inside the same
library; a signal anywhere else is a failure of vhem.  OpenMP ends the program with a sentence of its own when it cannot start a team.
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

CALLS = ["malloc", "write", "fsync", "rename", "linkat", "mmap", "read", "ftruncate"]
COUNTED = CALLS + ["stop"]     # by the shim; see stops.py
ERRORS = {"malloc": ["memory"], "mmap": ["Cannot allocate memory"], # of a write that only later is found to have failed
          "write": ["No space left on device", "Input/output error"]}
FRAGILE = ("libhdf5", "libjansson")
LIMIT = 60  # seconds of a run

# name: (arguments, files it writes).  "{in}" is the folder of the inputs.
COMMANDS = {
    "fit": ("fit {in}/d.csv -S 2 -r 1 --max-iter 3 -o o.json", ["o.json"]),
    "fit-hdf5": ("fit {in}/d.npz -S 2 -r 1 --max-iter 2 -o o.h5", ["o.h5"]),
    "fit-prior": ("fit {in}/d.csv -S 2 -r 1 --max-iter 2 --prior vb -o o.json", ["o.json"]),
    "fit-spill": ("fit {in}/d.h5 -S 1 -r 1 --max-iter 2 --memory 256 -o o.json", ["o.json"]),
    "fit-textures": ("fit {in}/d.csv --model dtm -S 1 --max-iter 2 -o o.json", ["o.json"]),
    "fit-mixture": ("fit {in}/d.csv -S 2 -r 1 --max-iter 2 -k 2 -o o.json", ["o.json"]),
    "fit-states": ("fit {in}/d.csv --states 1..2 -r 1 --max-iter 3 -o o.json", ["o.json"]),
    "fit-poisson": ("fit {in}/n.csv -S 2 -r 2 --max-iter 3 --emission poisson -o o.json", ["o.json"]),
    "fit-product": ("fit {in}/d.csv -S 2 -r 1 --max-iter 2 --emission x:gaussian-full,y:gaussian-diag,label:categorical "
                    "-o o.json", ["o.json"]),
    "background": ("background {in}/d.csv -g 2 --max-iter 2 -o o.json", ["o.json"]),
    "cluster": ("cluster {in}/m.json -k 2 -r 1 --max-iter 3 -o o.json", ["o.json"]),
    "cluster-checkpoint": ("cluster {in}/m.json -k 2 -r 2 --max-iter 3 --checkpoint o.store -o o.json", ["o.json", "o.store"]),
    "cluster-textures": ("cluster {in}/x.json -k 2 -r 1 --max-iter 2 --tau 5 -o o.json", ["o.json"]),
    "cluster-ppk": ("cluster {in}/m.h5 -k 2 --method ppk-sc -o o.json", ["o.json"]),
    "cluster-vbhem": ("cluster {in}/m.json -k 2 -r 2 --max-iter 3 --method vbhem -o o.json", ["o.json"]),
    "cluster-auto": ("cluster {in}/d.csv -o o.json", ["o.json"]),
    "cluster-shape": ("cluster {in}/d.csv -k 2 -S 2 --models p.h5 -o o.json", ["o.json", "p.h5"]),
    "cluster-fitted": ("cluster {in}/d.csv -k 2 -S 2 --method vhem -r 1 --max-iter 3 --models p.json -o o.json", ["o.json", "p.json"]),
    "tree-auto": ("tree {in}/d.csv -k 3,2 -S 2 -o o.json", ["o.json"]),
    "choose-auto": ("choose {in}/d.csv -k 2,3 -S 2 -o o.tsv", ["o.tsv"]),
    "tree": ("tree {in}/m.json -k 3,2 -r 1 --max-iter 2 -o o.json", ["o.json"]),
    "choose": ("choose {in}/m.json -k 2,3 -r 1 --max-iter 2 -o o.tsv", ["o.tsv"]),
    "compare": ("compare {in}/m.json -o o.csv", ["o.csv"]),
    "compare-ppk": ("compare {in}/m.json --kind ppk --json -o o.json", ["o.json"]),
    "assign": ("assign {in}/t.json {in}/d.csv -o o.tsv", ["o.tsv"]),
    "score": ("score {in}/m.h5 {in}/d.h5 -o o.tsv", ["o.tsv"]),
    "decode": ("decode {in}/m.json {in}/d.csv --posterior -o o.csv", ["o.csv"]),
    "sample": ("sample {in}/m.json -n 2 -T 5 -o o.csv", ["o.csv"]),
    "demo": ("demo courses --force", ["courses.csv"]),
    "classify-train": ("classify train {in}/d.csv --label label -S 2 -r 1 -k 1 --store o.store -o o.json",
                       ["o.json", "o.store"]),
    "classify-predict": ("classify predict {in}/c.json {in}/d.csv -o o.tsv", ["o.tsv"]),
    "annotate-train": ("annotate train {in}/d.csv --tags {in}/tags.csv -S 2 -r 1 -k 1 --no-store -o o.json", ["o.json"]),
    "convert": ("convert {in}/d.csv o.npz", ["o.npz"]),
    "convert-xlsx": ("convert {in}/d.xlsx o.csv", ["o.csv"]),
    "convert-hdf5": ("convert {in}/d.ts o.h5", ["o.h5"]),
    "convert-npy": ("convert {in}/d.npz o.npy", ["o.npy", "o_index.csv"]),
    "merge": ("convert {in}/m.json {in}/m.h5 -o o.h5", ["o.h5"]),
    "stats": ("stats {in}/t.json {in}/d.csv -o o.tsv", ["o.tsv"]),
    "report": ("report {in}/t.json -m {in}/m.json -d {in}/d.csv -o o.html", ["o.html"]),
    "info": ("info {in}/t.json", []),
    "eval": ("eval {in}/t.json --models {in}/m.json --data {in}/d.csv -o o.tsv", ["o.tsv"]),
}


def environment():
    keep = {k: v for k, v in os.environ.items() if not k.startswith("LD_")}
    return {**keep, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def prepare(vhem, folder):
    """The inputs of all commands."""
    rng = random.Random(3)
    lines = ["id,label,x,y"]
    for n in range(5):
        for t in range(12):
            up = (t // 3 + n) % 2
            lines.append(f"s{n},{'ab'[n % 2]},{rng.gauss(4 * up, 1):.12f},{rng.gauss(0, 1):.12f}")
    (folder / "d.csv").write_text("\n".join(lines) + "\n")
    workbook(folder / "d.xlsx", "\n".join(lines))
    (folder / "n.csv").write_text("id,x\n" + "".join(f"s{n},{rng.randrange(9)}\n" for n in range(4) for _ in range(10)))
    (folder / "tags.csv").write_text("song,tag\n" + "".join(f"s{n},{'uv'[n % 2]}\n" for n in range(5)))
    for args in ["convert d.csv d.npz --label label", "convert d.csv d.h5 --label label",
                 "convert d.csv d.ts --label label",
                 "fit d.csv -S 2 -r 1 --max-iter 3 --label label -o m.json", "convert m.json m.h5",
                 "fit d.csv --model dtm -S 1 --max-iter 2 -o x.json",
                 "tree m.json -k 3,2 -r 1 --max-iter 3 -o t.json",
                 "classify train d.csv --label label -S 2 -r 1 -k 1 --no-store -o c.json"]:
        subprocess.run([vhem, *args.split(), "-q", "-t", "1"], cwd=folder, check=True, env=environment(),
                       stdout=subprocess.DEVNULL)
    deflate(folder / "d.npz")


def workbook(path, text):
    """The table as a workbook: numbers in place, other words among the shared strings."""
    rows = [line.split(",") for line in text.splitlines()]
    words = sorted({w for row in rows for w in row if w[0].isalpha()})
    cells = ["".join(f'<c t="s"><v>{words.index(w)}</v></c>' if w[0].isalpha() else f"<c><v>{w}</v></c>" for w in row)
             for row in rows]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("xl/workbook.xml", '<workbook><sheets><sheet name="a" id="r1"/></sheets></workbook>')
        z.writestr("xl/_rels/workbook.xml.rels", '<Relationships><Relationship Id="r1" Target="s.xml"/>'
                   '<Relationship Id="r2" Type="/sharedStrings" Target="t.xml"/></Relationships>')
        z.writestr("xl/t.xml", "<sst>" + "".join(f"<si><t>{w}</t></si>" for w in words) + "</sst>")
        z.writestr("xl/s.xml", "<worksheet>" + "".join(f"<row>{c}</row>" for c in cells) + "</worksheet>")


def deflate(path):
    """The same archive with its members packed, as numpy.savez_compressed has them."""
    with zipfile.ZipFile(path) as z:
        members = {name: z.read(name) for name in z.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in members.items():
            z.writestr(name, data)


class Server:
    """One command, loaded once, that runs whenever it is told which call fails."""

    def __init__(self, vhem, shim, args, inputs, folder):
        words = [w.replace("{in}", str(inputs)) for w in args.split()]
        self.folder = folder
        self.process = subprocess.Popen([vhem, *words, "-t", "1", *(["-q"] if words[0] != "info" else [])],
                                        env={**environment(), "LD_PRELOAD": shim}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, call, n=0, rest=False):
        self.process.stdin.write(f"{call} {n} {int(rest)} {LIMIT} {self.folder}\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        assert len(words) == 4 + len(COUNTED), f"the shim did not answer: {words}"
        return int(words[0]), int(words[1]), words[2], words[3], dict(zip(COUNTED, map(int, words[4:])))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Trial:
    """All faults of one command."""

    def __init__(self, vhem, shim, name, inputs, folder, commands=COMMANDS):
        self.name, self.folder = name, folder
        args, self.outputs = commands[name]
        self.server = Server(vhem, shim, args, inputs, folder)
        self.counts = collections.Counter()
        self.wrong = []
        self.theirs = collections.Counter()
        self.clear()
        code, signal, _, _, self.calls = self.server.run("none")
        if code != 0 or signal != 0:
            raise SystemExit(f"{name}: without a fault: status {code}, {(folder / '.err').read_text()}")
        self.good = self.files()

    def clear(self):
        """An old output stands there, but for a store, which would be used."""
        for path in self.folder.iterdir():
            path.unlink()
        for name in self.outputs:
            if not name.endswith(".store"):
                (self.folder / name).write_bytes(b"old")

    def files(self):
        return {p.name: p.read_bytes() for p in self.folder.iterdir() if p.name != ".err"}

    def complaint(self, call, code, signal, where, died):
        """What is wrong with the run, or None."""
        error = (self.folder / ".err").read_text(errors="replace")
        found = self.files()
        if signal or code not in (0, 1):
            if call == "malloc" and any(where.startswith(x) and died.startswith(x) for x in FRAGILE):
                self.theirs[died] += 1
                return None
            return f"ended by signal {signal}, status {code}, in {died}: {error}"
        if code == 0:
            different = [k for k in set(found) | set(self.good) if found.get(k) != self.good.get(k)]
            return f"succeeded, but {', '.join(different)} differ" if different else None
        self.counts["told"] += 1
        last = error.strip().splitlines()[-1] if error.strip() else ""
        if call == "malloc" and last.startswith("libgomp: Out of memory"):
            self.theirs["libgomp"] += 1
        elif not last.startswith("vhem "):
            return f"no sentence: {error!r}"
        told = any(x in last for x in ERRORS.get(call, ["Input/output error"]))
        if not told:
            return f"the sentence does not say why: {last}"
        for name in self.outputs:
            if not name.endswith(".store") and found.get(name) not in (b"old", self.good[name] if len(self.outputs) > 1 else b"old"):
                return f"the old {name} is not as it was: {last}"
        extra = set(found) - set(self.outputs) - {".out"}
        return f"left behind: {', '.join(sorted(extra))}" if extra else None

    def try_one(self, call, n, rest):
        self.clear()
        code, signal, where, died, _ = self.server.run(call, n, rest)
        self.counts["runs"] += 1
        self.counts[call] += 1
        bad = self.complaint(call, code, signal, where, died)
        if bad:
            self.wrong.append(f"{self.name}: {call} {n}{'+' if rest else ''} (asked for by {where}): {bad}")

    def points(self, call, limit):
        """(n, and later ones too): all in random order, or about limit of them, evenly spread."""
        total = self.calls[call]
        if limit is None:
            both = [(n, rest) for n in range(1, total + 1) for rest in (False, True)]
            random.shuffle(both)
            return both
        once = list(range(1, total + 1)) if total <= limit else [1 + k * total // limit for k in range(limit)]
        return [(n, False) for n in once] + [(n, True) for n in once[::3]]

    def run(self, calls, limit, deadline):
        for call in calls:
            for n, rest in self.points(call, limit):
                if time.monotonic() > deadline:
                    return
                self.try_one(call, n, rest)


def trials(vhem, shim, kind, names):
    """A trial of each command, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="vhem-faults-") as top:
        inputs = pathlib.Path(top, "in")
        inputs.mkdir()
        prepare(vhem, inputs)
        for name in names:
            folder = pathlib.Path(top, name)
            folder.mkdir()
            trial = kind(vhem, shim, name, inputs, folder)
            yield trial
            trial.server.close()
            shutil.rmtree(folder)


def run_all(vhem, shim, limit, minutes=1e6, only=None, calls=CALLS, say=print):
    """(counts, faults that were wrong): prints a line for each command, which gets its share of the minutes."""
    names = [n for n in COMMANDS if not only or n in only]
    total, wrong, theirs = collections.Counter(), [], collections.Counter()
    for trial in trials(vhem, shim, Trial, names):
        begin = time.monotonic()
        trial.run(calls, limit, begin + 60 * minutes / len(names))
        say(f"{trial.name:18} {trial.calls['malloc']:6} allocations, {trial.counts['runs']:5} faults, "
            f"{trial.counts['told']:5} sentences, {sum(trial.theirs.values()):4} deaths inside libraries, "
            f"{len(trial.wrong):4} wrong, {time.monotonic() - begin:.1f} s")
        total += trial.counts
        theirs += trial.theirs
        wrong += trial.wrong
    say(f"{total['runs']} faults (" + ", ".join(f"{c} {total[c]}" for c in calls) + f"), {total['told']} sentences, "
        f"{sum(theirs.values())} deaths inside libraries {dict(theirs)}, {len(wrong)} failures")
    return total, wrong


def default_shim(vhem):
    return str(pathlib.Path(vhem).resolve().parent / "tests" / "libfault_shim.so")


def torture(area, calls):
    """An area of scripts/torture."""
    p = argparse.ArgumentParser()
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--vhem", required=True)
    a = p.parse_args()
    vhem = str(pathlib.Path(a.vhem).resolve())
    lines = []
    _, wrong = run_all(vhem, default_shim(vhem), None, a.minutes, calls=calls, say=lines.append)
    print("\n".join(lines[:-1] + wrong[:200]))
    print(f"{area}: {lines[-1]}")
    return 1 if wrong else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--vhem", required=True)
    p.add_argument("--shim")
    p.add_argument("--points", type=int, default=40)
    p.add_argument("--full", action="store_true")
    p.add_argument("--minutes", type=float, default=1e6)
    p.add_argument("--only", nargs="*")
    a = p.parse_args()
    vhem = str(pathlib.Path(a.vhem).resolve())
    shim = str(pathlib.Path(a.shim).resolve()) if a.shim else default_shim(vhem)
    total, wrong = run_all(vhem, shim, None if a.full else a.points, a.minutes, a.only)
    print("\n".join(wrong[:200]))
    return 1 if wrong or not total["runs"] else 0


if __name__ == "__main__":
    sys.exit(main())
