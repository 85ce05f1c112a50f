"""What the experiments share: the command, the data folder, tables on the screen and on disk."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
DATA = pathlib.Path(os.environ.get("VHEM_DATA", SOURCE / ".." / "shared" / "data")).resolve()


def vhem(*args):
    """Runs the command; returns what --json printed, and the seconds it took."""
    begin = time.perf_counter()
    done = subprocess.run([VHEM, *map(str, args), "--json", "--quiet"], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"vhem {' '.join(map(str, args))}: exit status {done.returncode}")
    return json.loads(done.stdout), time.perf_counter() - begin


def find_data(name, hint):
    """A file below VHEM_DATA, or None and a sentence that says where it comes from."""
    path = DATA / name
    if path.exists():
        return path
    print(f"skipped: {path} is not there. {hint}")
    return None


def number(x):
    """To three digits after the point, or to four digits in all where that says too much or too little."""
    return "-" if x is None else f"{x:.3f}" if x == 0 or 0.001 <= abs(x) < 1000 else f"{x:.4g}"


def show(rows, columns):
    """A table of text and numbers."""
    cells = [[c if isinstance(c, str) else number(c) for c in row] for row in rows]
    width = [max(len(r[k]) for r in [list(columns), *cells]) for k in range(len(columns))]
    for row in [list(columns), *cells]:
        print("  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, width))))


def mean(values):
    """The mean of those that are there; None when there are none."""
    known = [v for v in values if v is not None]
    return statistics.fmean(known) if known else None


def save(name, results):
    """results/NAME.json beside the experiments: machine-readable, with the version that made it."""
    folder = pathlib.Path(os.environ.get("VHEM_RESULTS", SOURCE / "experiments" / "results"))
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([VHEM, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"version": version, **results}, indent=1) + "\n")
    print(f"numbers in {path}")
