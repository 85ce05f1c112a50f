# SPDX-License-Identifier: BSD-3-Clause
"""Every command with standard streams closed, in every combination:  descriptors.py --minutes N --vhem BIN"""
import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))
import faults  # noqa: E402

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--minutes", type=float, default=1, help="not used: it takes about a minute")
p.add_argument("--vhem", required=True)
a = p.parse_args()
vhem = str(pathlib.Path(a.vhem).resolve())
runs, wrong = 0, []
with tempfile.TemporaryDirectory(prefix="vhem-closed-") as top:
    inputs, folder = pathlib.Path(top, "in"), pathlib.Path(top, "out")
    inputs.mkdir()
    folder.mkdir()
    faults.prepare(vhem, inputs)
    for name, (args, outputs) in faults.COMMANDS.items():
        if not outputs:
            continue
        good = None
        for closed in [c for k in range(4) for c in itertools.combinations("012", k)]:
            for path in folder.iterdir():
                path.unlink()
            command = [vhem, *args.replace("{in}", str(inputs)).split(), "-t", "1"]
            redirect = " ".join(f"{fd}{'<' if fd == '0' else '>'}&-" for fd in closed)
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            done = subprocess.run(["sh", "-c", f'exec "$@" {redirect}', "sh", *command], cwd=folder,
                                  env=faults.environment(), **streams)
            found = {q.name: q.read_bytes() for q in folder.iterdir()}
            good = good or found
            runs += 1
            wanted = 1 if name == "eval" and "1" in closed else 0 # it prints its table, too
            if done.returncode != wanted or found != good or set(found) != set(outputs):
                wrong.append(f"{name} without {','.join(closed)}: status {done.returncode}, files {sorted(found)}")
print("\n".join(wrong[:50]))
print(f"descriptors: {runs} runs, {len(wrong)} failures")
sys.exit(1 if wrong else 0)
