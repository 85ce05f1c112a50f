# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 at random moments: outputs are the old ones or the whole new ones, and a run with a store goes on from what is
in it to the same bytes.  A file that a killed run left behind (HDF5 needs a name to write to) is gone after the next."""
import collections
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

from faults import environment

# name: (arguments, output, store or None).  "{in}" is the folder of the inputs.
COMMANDS = {
    "fit": ("fit {in}/d.csv -S 3 -r 2 -o o.json", "o.json", None),
    "fit-hdf5": ("fit {in}/d.csv -S 2 -r 1 -o o.h5", "o.h5", None),
    "fit-store": ("fit {in}/d.csv -S 3 -r 2 --store o.store -o o.json", "o.json", "o.store"),
    "cluster": ("cluster {in}/m.json -k 2 -r 4 -o o.json", "o.json", None),
    "checkpoint": ("cluster {in}/m.json -k 3 -r 30 --tau 40 --search restarts --checkpoint o.store -o o.json", "o.json", "o.store"),
    "train": ("classify train {in}/d.csv --label label -S 3 -r 2 --store o.store -o o.json", "o.json", "o.store"),
    "convert": ("convert {in}/big.csv o.npz", "o.npz", None),
    "convert-hdf5": ("convert {in}/big.csv o.h5", "o.h5", None),
    "sample": ("sample {in}/m.json -n 400 -T 200 -o o.csv", "o.csv", None),
    "search": ("cluster {in}/m.json -k 3 --search thorough --checkpoint o.store -o o.json", "o.json", "o.store"),
    "textures": ("fit {in}/d.csv --model dtm -S 2 --max-iter 20 -o o.json", "o.json", None),
    "annotate": ("annotate train {in}/d.csv --tags {in}/tags.csv -S 2 -r 1 -k 1 --store o.store -o o.json", "o.json", "o.store"),
}


def prepare(vhem, folder):
    rng = random.Random(5)
    lines = ["id,label,x"]
    for n in range(12):
        for t in range(60):
            lines.append(f"s{n},{'ab'[n % 2]},{rng.gauss(3 * (t // 10 % 2), 1):.6f}")
    (folder / "d.csv").write_text("\n".join(lines) + "\n")
    (folder / "tags.csv").write_text("song,tag\n" + "".join(f"s{n},{'uv'[n % 2]}\n" for n in range(12)))
    for args in ["fit d.csv -S 2 -r 1 -o m.json", "sample m.json -n 400 -T 200 -o big.csv"]:
        subprocess.run([vhem, *args.split(), "-q", "-t", "1"], cwd=folder, check=True, env=environment())


class Victim:
    def __init__(self, vhem, name, inputs, folder):
        args, self.output, self.store = COMMANDS[name]
        self.name, self.folder, self.seconds = name, folder, 0.0
        self.command = [vhem, *[w.replace("{in}", str(inputs)) for w in args.split()], "-t", "1", "-q"]
        self.finish()
        self.good = (folder / self.output).read_bytes()
        self.clear()

    def finish(self):
        """A whole run, which tells over what time the next kill is drawn."""
        begin = time.monotonic()
        subprocess.run(self.command, cwd=self.folder, check=True, env=environment(), stdout=subprocess.DEVNULL)
        self.seconds = max(time.monotonic() - begin, 0.9 * self.seconds)     # one that goes on is shorter

    def clear(self):
        for path in self.folder.iterdir():
            path.unlink()
        (self.folder / self.output).write_bytes(b"old")

    def kill(self, rng):
        """(was it killed, what is wrong or None)"""
        p = subprocess.Popen(self.command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, self.seconds))
        p.kill()
        killed = p.wait() != 0
        found = (self.folder / self.output).read_bytes()
        if found not in (b"old", self.good) or (not killed and found != self.good):
            return killed, f"{self.name}: after the kill {self.output} has {len(found)} bytes, neither old nor new"
        left = {q.name for q in self.folder.iterdir()} - {self.output, self.store}
        if left - {f"{self.output}.vhem-tmp-0"}:
            return killed, f"{self.name}: left behind: {sorted(left)}"
        self.finish()
        found = (self.folder / self.output).read_bytes()
        left = {q.name for q in self.folder.iterdir()} - {self.output, self.store}
        if found != self.good or left:
            return killed, f"{self.name}: the next run gave {'other' if found != self.good else 'the same'} bytes, left {left}"
        return killed, None


def run(vhem, kills, minutes, seed=1):
    """(kills survived, of each command, and runs; what is wrong)"""
    rng = random.Random(seed)
    deadline = time.monotonic() + 60 * minutes
    killed, runs, wrong = collections.Counter(), 0, []
    with tempfile.TemporaryDirectory(prefix="vhem-kill-") as top:
        inputs = pathlib.Path(top, "in")
        inputs.mkdir()
        prepare(vhem, inputs)
        victims = []
        version = subprocess.run([vhem, "--version"], check=True, env=environment(), capture_output=True, text=True).stdout
        hdf5 = "HDF5" not in version.partition("built without: ")[2]
        for name in COMMANDS if hdf5 else [name for name in COMMANDS if "hdf5" not in name]:
            folder = pathlib.Path(top, name)
            folder.mkdir()
            victims.append(Victim(vhem, name, inputs, folder))
        while killed.total() < kills and time.monotonic() < deadline:
            victim = victims[runs % len(victims)]
            victim.clear()
            was, bad = victim.kill(rng)
            killed[victim.name] += was
            runs += 1
            if bad:
                wrong.append(bad)
        for victim in victims:
            shutil.rmtree(victim.folder)
    return killed, runs, wrong
