#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How tight is the bound, and how much tighter does `--refine Q` make it?

The bound L_hmm that VHEM climbs lies below the expected log-likelihood, because its variational distributions see which
state made a frame but not the frame.  `--refine Q` cuts overlapping base Gaussians into Q slabs.  For random pairs of
HMMs with overlapping states the gap to the expected log-likelihood, found by sampling, is measured for several Q; and
for a single HMM with overlapping states, where its own centre comes to rest when VHEM starts at the truth.
"""
import json
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from common import Experiment, vhem

STATES = 3


def row(rng, n):
    """A random distribution."""
    w = [0.05 + rng.expovariate(1) for _ in range(n)]
    return [x / sum(w) for x in w]


def covariance(rng, d, full):
    """Variances near 1, or a full covariance with them on its diagonal."""
    var = [rng.uniform(0.5, 1.5) for _ in range(d)]
    if not full:
        return var
    return [[var[i] if i == j else 0.4 for j in range(d)] for i in range(d)]


def random_hmm(rng, d, M, cov):
    """Three states whose means are about one deviation apart."""
    return {"S": STATES, "M": M, "pi": row(rng, STATES), "A": [row(rng, STATES) for _ in range(STATES)],
            "c": [row(rng, M) for _ in range(STATES)],
            "mu": [[[rng.gauss(0, 1) for _ in range(d)] for _ in range(M)] for _ in range(STATES)],
            "cov": [[covariance(rng, d, cov == "full") for _ in range(M)] for _ in range(STATES)]}


def save(path, d, cov, hmm):
    path.write_text(json.dumps({"format": "vhem-h3m", "version": 1, "emission": f"gaussian-{cov}", "d": d,
                                "omega": [1.0], "hmms": [hmm]}))
    return path


def reduce(folder, base, start, tau, slabs, iterations):
    """A run of VHEM with K = 1, and nothing but its equations; the clustering file."""
    out = folder / "out.json"
    vhem("cluster", base, "-k", 1, "--init", start, "--tau", tau, "--refine", slabs, "--restarts", 1, "--tol", 0,
         "--cov-floor", 0, "--max-iter", iterations, "-o", out)
    return json.loads(out.read_text())


def sampled(folder, base, center, tau, samples, seed):
    """The expected log-likelihood of tau frames of base under center, and its standard error."""
    frames = folder / "frames.npz"
    vhem("sample", base, "-n", samples, "-T", tau, "--seed", seed, "-o", frames)
    found, _ = vhem("score", center, frames)
    loglik = [sequence["loglik"] for sequence in found["sequences"]]
    return statistics.fmean(loglik), statistics.stdev(loglik) / len(loglik) ** 0.5


def gaps(x, shape):
    """The mean gap over pairs for each Q, and the mean standard error of the truth."""
    rng, found, errors = random.Random(1), {q: [] for q in x.config["slabs"]}, []
    for n in range(x.config["pairs"]):
        base, center = (save(x.scratch / f"{role}.json", shape["d"], shape["cov"],
                             random_hmm(rng, shape["d"], shape["M"], shape["cov"])) for role in ("base", "center"))
        truth, error = sampled(x.scratch, base, center, x.config["tau"], x.config["samples"], n)
        errors.append(error)
        bounds = [reduce(x.scratch, base, center, x.config["tau"], q, 0)["L_hmm"][0][0] for q in x.config["slabs"]]
        for q, bound in zip(x.config["slabs"], bounds, strict=True):
            found[q].append(truth - bound)
        x.must("a finer cut never loosens the bound", all(b >= bounds[0] - 1e-9 for b in bounds))
        x.must("the bound stays a bound", max(bounds) <= truth + 5 * error)
    return [statistics.fmean(found[q]) for q in x.config["slabs"]], statistics.fmean(errors)


def centers(x):
    """Where the centre of one HMM comes to rest, started at the truth."""
    c, rows = x.config["centers"], []
    for means in c["means"]:
        A = [[0.8 if i == j else 0.1 for j in range(STATES)] for i in range(STATES)]
        base = save(x.scratch / "truth.json", 1, "diag",
                    {"S": STATES, "M": 1, "pi": [1 / STATES] * STATES, "A": A, "c": [[1.0]] * STATES,
                     "mu": [[[float(m)]] for m in means], "cov": [[[1.0]]] * STATES})
        truth, _ = sampled(x.scratch, base, base, c["tau"], c["samples"], 1)
        for q in c["slabs"]:
            found = reduce(x.scratch, base, base, c["tau"], q, c["iterations"])
            (x.scratch / "center.json").write_text(json.dumps(found["centers"]))
            mean, _ = sampled(x.scratch, base, x.scratch / "center.json", c["tau"], c["samples"], 1)
            mu = sorted(m[0][0] for m in found["centers"]["hmms"][0]["mu"])
            rows.append([", ".join(map(str, means)), q, ", ".join(f"{m:.2f}" for m in mu), mean, truth])
    return rows


def main():
    x = Experiment("refine", __doc__)
    rows, kept = [], {}
    for shape in x.config["shapes"]:
        found, error = gaps(x, shape)
        kept[shape["name"]] = found
        rows.append([shape["name"], *found, error])
    x.table("gap", f"Gap between the bound and the expected log-likelihood, in nats per {x.config['tau']} frames",
            ["HMMs", *(f"Q = {q}" for q in x.config["slabs"]), "standard error"], rows)
    x.table("centers", f"The centre of one HMM with variances 1, after {x.config['centers']['iterations']} iterations "
            "from the truth", ["its means", "Q", "means of the centre", "expected log-likelihood", "of the truth"],
            centers(x))
    x.keep("slabs", x.config["slabs"])
    x.keep("gaps", kept)
    first = next(iter(kept.values()))
    x.must("two slabs close a good part of the gap", first[1] < 0.6 * first[0])
    x.finish()


if __name__ == "__main__":
    main()
