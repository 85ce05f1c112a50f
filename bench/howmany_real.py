#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many clusters and states does variational Bayes find in real data, over numbers of virtual frames and seeds?

    bench/defaults.py --prepare FOLDER            writes the sets with known classes from the folder VHEM_DATA
    bench/howmany_real.py FOLDER [--only basic,mocap,eyes-jov,paper-a] [--seeds 1,2,3] [--states 1..5]
                          [--factors 0.1,1,10]

Every seed fits its own models, of --states states, and clusters them with --method vbhem, at most --most times as many
clusters as there are classes (eye movements, which have none: 6).  A line for each set, seed and number of virtual
frames: clusters found, states of their centres, and the adjusted Rand index with the classes.  The command is the
variable VHEM, or build/vhem; eye movements are read from the folder VHEM_DATA.  paper-a and paper-b are the synthetic
sets of the paper (experiments/synthetic): 16 noisy sequences of each of four HMMs, drawn anew for every seed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "experiments" / "synthetic"))
import hmms  # noqa: E402

VHEM = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
CLASSES = {"basic": 4, "mocap": 8, "digits-george": 10, "digits-theo": 10, "chars": 20, "paper-a": 4,
           "paper-b": 4}
EYES = {"eyes-jov": "jov_fixations.csv", "eyes-demo": "demo_fixations.csv"}


def run(*args):
    done = subprocess.run([VHEM, *map(str, args), "--threads", "1"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in args else None


def fit(name, folder, states, seed, out):
    if name in EYES:
        data = pathlib.Path(os.environ["VHEM_DATA"], "eye_fixations", EYES[name])
        more = ["--id", "subject,trial", "--group", "subject", "--columns", "x,y", "--cov", "full"]
    elif name.startswith("paper-"):
        data, more = out.with_name(name + ".csv"), []
        hmms.write_noisy(name[-1], 16, 0.1, seed, data)
    else:
        data, more = pathlib.Path(folder, name + ".npy"), []
    run("fit", data, *more, "--states", states, "--seed", seed, "-o", out, "-q")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only", default=",".join([*CLASSES, *EYES]))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--states", default="1..5")
    parser.add_argument("--most", type=float, default=1.5)
    parser.add_argument("--factors", default="0.1,0.316,1,3.16")
    given = parser.parse_args()
    print("set\tseed\tmodels\tclasses\tframes\tK\tS\tARI")
    with tempfile.TemporaryDirectory() as work:
        models, out = pathlib.Path(work, "m.json"), pathlib.Path(work, "c.json")
        for name in given.only.split(","):
            for seed in given.seeds.split(","):
                fit(name, given.folder, given.states, seed, models)
                known = CLASSES.get(name)
                most = int(given.most * known) if known else 6
                tau = 3 if name in EYES else 10
                lengths = json.loads(models.read_text())["lengths"]
                frames = lengths.get("frames", lengths["median"])
                for factor in map(float, given.factors.split(",")):
                    facts = run("cluster", models, "--method", "vbhem", "-k", most, "--tau", tau, "--nv",
                                factor * frames / tau, "--seed", seed, "-o", out, "--json")
                    states = sorted(c["S"] for c in facts["clusters"])
                    ari = (facts.get("agreement") or {}).get("adjusted_rand")
                    print(name, seed, facts["Kb"], known or "-", f"{factor * frames:.3g}", facts["K"],
                          f"{states[0]}..{states[-1]}", "-" if ari is None else f"{ari:.2f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
