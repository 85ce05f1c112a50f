#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Peak memory and time of whole commands, with all frames in memory and with a limit.

  python3 bench/memory.py BUILD [--gigabytes 2] [--memory 64M] [--threads 2] [--frames 1000]

BUILD is the folder with the command.  The data is made here: labelled sequences that go between two levels, in 32
columns, as one .npy file of doubles in TMPDIR, which needs room for it twice.  Memory is the peak of the resident set
(ru_maxrss), pages of files included; times are processor time, that of the system included.
"""
import argparse
import csv
import multiprocessing
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

D, CLASSES = 32, 16
FIT = ["--states", "2", "--restarts", "1", "--seed", "1", "--quiet"]
SHORT = ["--fit-restarts", "1", "--fit-max-iter", "5", "-k", "2", *FIT]


def make(path, gigabytes, frames):
    """About so much data, in sequences of so many frames."""
    import numpy as np
    n = max(CLASSES, int(gigabytes * 2**30 / (8 * D * frames)))
    rng = np.random.default_rng(1)
    with open(path, "wb") as f:
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n * frames}, {D}), }}".ljust(117).encode() + b"\n"
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        for s in range(n):
            level = np.cumsum(rng.random(frames) < 0.1) % 2
            f.write((rng.standard_normal((frames, D)) + (2 + s % CLASSES) * level[:, None]).tobytes())
    with open(path.with_name(path.stem + "_index.csv"), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["seq", "start", "length", "label"])
        out.writerows([f"s{s}", s * frames, frames, f"class{s % CLASSES}"] for s in range(n))
    print(f"{n} sequences, {os.path.getsize(path) / 2**20:.0f} MB")


def run(command):
    """Seconds and peak megabytes of a command; this program must be small, a child begins with its peak."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--memory", default="64M")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--frames", type=int, default=1000)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vhem-memory-"))
    try:
        data, store, model = (str(folder / name) for name in ("y.npy", "y.store", "model.json"))
        maker = multiprocessing.Process(target=make, args=(folder / "y.npy", args.gigabytes, args.frames))
        maker.start()
        maker.join()
        print(f"{'':24}  {'--memory 0':>17}  {'--memory ' + args.memory:>17}")
        commands = {
            "fit --store": ["fit", data, "--store", store, "--max-iter", "5", "-o", model, *FIT],
            "classify train": ["classify", "train", data, "--no-store", "-o", model, *SHORT],
            "classify predict": ["classify", "predict", model, data, "-o", str(folder / "p.tsv"), "--quiet"],
            "train by em-h3m": ["classify", "train", data, "--no-store", "-o", str(folder / "em.json"),
                                "--estimator", "em-h3m", "--max-iter", "5", *SHORT],
        }
        for name, command in commands.items():
            cells = []
            for memory in ("0", args.memory):
                pathlib.Path(store).unlink(missing_ok=True)
                seconds, peak = run([str(args.build / "vhem"), *command, "--memory", memory, "--threads", args.threads])
                cells.append(f"{seconds:7.1f} s {peak:5.0f} MB")
            print(f"{name:24}  {cells[0]:>17}  {cells[1]:>17}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
