# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments share: the command and its processor time, the data folder, trials side by side, tables with the
paper's numbers beside ours, the paper's claims, results on disk.

An experiment is a folder: run.py, config.json (its settings, and under "quick" those of the short form), expected.json
(the results of a full run, from which docs/reproduction.md is made).  run.py looks like this:

    def trial(job): ...                        one trial, in a process of its own; returns numbers
    def main():
        x = Experiment("mocap", __doc__)
        data = x.data("cmu_mocap/mocap_xyz_local.npy", "where it comes from")
        x.table("rand", "title", ["method", "level 2"], rows)
        x.claim("VHEM above PPK-SC at level 3", ours > theirs, f"{ours:.3f} against {theirs:.3f}")
        x.finish()
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
DATA = pathlib.Path(os.environ.get("VHEM_DATA") or SOURCE / ".." / "shared" / "data").resolve()
RESULTS = pathlib.Path(os.environ.get("VHEM_RESULTS") or SOURCE / "experiments" / "results")
SKIPPED = 77                             # exit status when data is not there

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")       # its idle threads would count as time of the command


def vhem(*args, threads=1):
    """Runs the command; returns what --json printed, and the seconds of processor time it took."""
    command = [VHEM, *map(str, args), "--json", "--quiet", "--threads", str(threads)]
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"vhem {' '.join(map(str, args))}: exit status {child.returncode}")
        out.seek(0)
        text = out.read()
    return json.loads(text) if text.strip() else None, used.ru_utime + used.ru_stime


def words(options):
    """Options by name as the command takes them."""
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def mean(values):
    """The mean of those that are there; None when there are none."""
    known = [v for v in values if v is not None]
    return statistics.fmean(known) if known else None


def paired(a, b):
    """The mean of a - b, pair by pair, and the two-sided p of Student's t-test; p is None where all differ alike, or
    there is one."""
    d = [x - y for x, y in zip(a, b, strict=True)]
    n, spread = len(d) - 1, statistics.stdev(d) if len(d) > 1 else 0
    if spread < 1e-12:
        return mean(d), None
    t = abs(mean(d)) / spread * math.sqrt(n + 1)
    # With x = sqrt(n) tan(u) the density of t becomes cos(u)^(n-1): the tail by the midpoint rule.
    top, steps = math.pi / 2, 20000
    def area(low):
        width = (top - low) / steps
        return sum(math.cos(low + (k + 0.5) * width) ** (n - 1) for k in range(steps)) * width
    return mean(d), area(math.atan(t / math.sqrt(n))) / area(0)


def with_spread(values):
    """The mean and, of two or more, the standard deviation, as text; None when there are none."""
    known = [v for v in values if v is not None]
    if len(known) < 2:
        return mean(known)
    return f"{statistics.fmean(known):.3f} ± {statistics.stdev(known):.3f}"


def number(x, digits=3):
    """So many digits after the point, or in all of a small number; four of a large one."""
    if x is None:
        return "-"
    if isinstance(x, str):
        return x
    if isinstance(x, int):
        return str(x)
    if x == 0 or 0.1 <= abs(x) < 1000:
        return f"{x:.{digits}f}"
    return f"{x:.{digits}g}" if abs(x) < 1 else f"{x:.4g}"


def cell(c):
    """A number, a text, or a pair of ours and the paper's: 0.878 (0.937)."""
    if isinstance(c, (list, tuple)):
        return number(c[0]) if c[1] is None else f"{number(c[0])} ({number(c[1])})"
    return number(c)


def show(rows, columns):
    """A table on the screen."""
    cells = [[cell(c) for c in row] for row in rows]
    width = [max(len(r[k]) for r in [list(columns), *cells]) for k in range(len(columns))]
    for row in [list(columns), *cells]:
        print("  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, width))).rstrip())


def at_least_1(text):
    """A number of trials or jobs."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return int(text)


def _clean(x):
    """JSON has no NaN."""
    if isinstance(x, dict):
        return {k: _clean(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [_clean(v) for v in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x


class Experiment:
    """One run: its settings, and what it found."""

    def __init__(self, name, doc):
        parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--quick", action="store_true", help="the short form: few trials, a part of the data")
        parser.add_argument("--trials", type=at_least_1, help="instead of those in config.json")
        parser.add_argument("--jobs", type=at_least_1, default=os.cpu_count(),
                            help="trials side by side (default: all cores)")
        parser.add_argument("--accept", action="store_true", help="what is found becomes expected.json")
        self.args = parser.parse_args()
        if not shutil.which(VHEM):
            sys.exit(f"{VHEM}: there is no such command; the variable VHEM names it, `make` builds it")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))          # temporary files go
        self.name, self.folder = name, SOURCE / "experiments" / name
        config = json.loads((self.folder / "config.json").read_text())
        quick = config.pop("quick", {})
        self.config = {**config, **(quick if self.args.quick else {})}
        if self.args.trials and "trials" not in config:
            parser.error("this experiment has folds, not trials")
        if self.args.accept and self.args.quick:
            parser.error("--accept needs the full form")
        if self.args.trials:
            self.config["trials"] = self.args.trials
        self.results = {"tables": [], "claims": [], "numbers": {}}
        self.missed = []
        self.begin = time.monotonic()
        self._scratch = tempfile.TemporaryDirectory(prefix=f"vhem-{name}-")
        self.scratch = pathlib.Path(self._scratch.name)

    @property
    def quick(self):
        """Is this the short form?"""
        return self.args.quick

    def data(self, path, hint):
        """A file below VHEM_DATA.  Ends the run, as skipped, when it is not there; hint says how to get it."""
        found = DATA / path
        if not found.exists():
            print(f"skipped: {found} is not there. {hint}")
            sys.exit(SKIPPED)
        return found

    def check(self, what, found, expected):
        """Ends the run when the data is not what the experiment was made for."""
        if found != expected:
            sys.exit(f"{self.name}: {what}: {found}, must be {expected}")

    def map(self, function, jobs):
        """function(job) for each job, side by side, in order; progress on stderr."""
        jobs = list(jobs)
        result = [None] * len(jobs)
        with concurrent.futures.ProcessPoolExecutor(min(self.args.jobs, len(jobs))) as pool:
            todo = {pool.submit(function, job): k for k, job in enumerate(jobs)}
            try:
                for n, done in enumerate(concurrent.futures.as_completed(todo), 1):
                    result[todo[done]] = done.result()
                    if sys.stderr.isatty():
                        print(f"\r{self.name}: {n} of {len(jobs)}, {time.monotonic() - self.begin:.0f} s", end="",
                              file=sys.stderr, flush=True)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            finally:
                if sys.stderr.isatty():
                    print(file=sys.stderr)
        return result

    def table(self, key, title, columns, rows, note=""):
        """Prints and keeps a table; rows of texts, numbers, None, and pairs (ours, the paper's)."""
        if self.quick:
            title += " (the short form: a part of the data, not to be held against the paper)"
        print(f"\n{title}")
        show(rows, columns)
        if note:
            print(note)
        self.results["tables"].append({"key": key, "title": title, "columns": columns, "rows": rows, "note": note})

    def claim(self, text, holds, measured, timed=False):
        """Something the paper says, whether it holds here, and the numbers that show it; timed: it depends on the
        machine and on what else that does."""
        self.results["claims"].append({"text": text, "holds": bool(holds), "measured": measured, "timed": timed})

    def must(self, what, holds):
        """What no run may miss, the short form included: exit status 1 at the end."""
        if not holds:
            self.missed.append(what)

    def keep(self, key, value):
        """Any numbers the page or its figures need: lists, dicts."""
        self.results["numbers"][key] = value

    def _compare(self):
        """Claims that held when expected.json was made and do not now."""
        path = self.folder / "expected.json"
        if self.quick or not path.exists():
            return []
        held = {c["text"] for c in json.loads(path.read_text())["claims"] if c["holds"] and not c.get("timed")}
        return [c["text"] for c in self.results["claims"] if c["text"] in held and not c["holds"]]

    def finish(self):
        """Prints the claims, writes results/NAME.json, and says what is not as it was; exit status 1 then."""
        for c in self.results["claims"]:
            print(f"{'holds' if c['holds'] else 'FAILS':6s} {c['text']}: {c['measured']}")
        version = subprocess.run([VHEM, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
        whole = _clean({"name": self.name, "version": version, "quick": self.quick, "config": self.config,
                        "minutes": round((time.monotonic() - self.begin) / 60, 1), **self.results})
        text = json.dumps(whole, indent=1) + "\n"
        RESULTS.mkdir(parents=True, exist_ok=True)
        path = RESULTS / f"{self.name}{'-quick' if self.quick else ''}.json"
        path.write_text(text)
        print(f"numbers in {path}")
        lost = self.missed + self._compare()
        if self.args.accept and not self.missed:
            (self.folder / "expected.json").write_text(text)
            lost = []
        for claim in lost:
            print(f"not as expected: {claim}", file=sys.stderr)
        sys.exit(1 if lost else 0)
