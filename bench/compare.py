# SPDX-License-Identifier: BSD-3-Clause
"""vhem against other programs that fit HMMs: the same data, the same start, five Baum-Welch iterations, one thread each.

    compare.py BUILD [--quick]

Makes BUILD/venv, installs the other programs into it from the package index, and prints one table.  A program that
cannot be installed is named with the reason.  The programs take turns, and the best of all turns counts, so a
busy machine disturbs all of them alike.  `x` is how many times longer than vhem; `off` the largest difference from vhem's
result, relative to the larger of 1 and the number.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
INSTALL_SECONDS = 300
ONE_THREAD = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")}
ONE_THREAD["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
ONE_THREAD["JAX_PLATFORMS"] = "cpu"
# Program: packages, how to install.  Pomegranate needs PyTorch, which is large; the rest are small.
PACKAGES = {"hmmlearn": ["numpy", "hmmlearn"], "dynamax": ["dynamax"], "pomegranate": ["pomegranate"]}
ORDER = ["hmmlearn-log", "hmmlearn-scaling", "dynamax", "pomegranate"]


# ---- outside the virtual environment: install ---------------------------------------------------------------------

def install(build):
    """The programs that are there afterwards, and why the others are not."""
    home = build / "venv"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    missing = {}
    for program, packages in PACKAGES.items():
        mark = home / (program + ".installed")
        if mark.exists():
            continue
        try:
            done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], timeout=INSTALL_SECONDS,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode == 0:
                mark.touch()
            else:
                missing[program] = (done.stdout.strip().splitlines() or ["pip failed"])[-1]
        except subprocess.TimeoutExpired:
            missing[program] = f"installing it took more than {INSTALL_SECONDS} seconds"
    return python, missing


# ---- inside: data, runs, table ------------------------------------------------------------------------------------

def make_case(N, T, d, S, M, seed):
    """Sequences of a random HMM, and a start near it."""
    import numpy as np
    rng = np.random.default_rng(seed)
    A = rng.dirichlet(np.ones(S), size=S) * 0.3 + 0.7 * np.eye(S)
    mu = rng.normal(size=(S, M, d)) * (3.0 if d == 1 else 1.0)
    sd = rng.uniform(0.5, 1.5, size=(S, M, d))
    y = np.empty((N, T, d))
    for n in range(N):
        s = rng.integers(S)
        for t in range(T):
            m = rng.integers(M)
            y[n, t] = mu[s, m] + sd[s, m] * rng.normal(size=d)
            s = rng.choice(S, p=A[s])
    return dict(y=y, pi=np.full(S, 1 / S), A=0.5 * np.eye(S) + 0.5 / S, c=np.full((S, M), 1 / M),
                mu=mu + 0.3 * rng.normal(size=mu.shape), cov=np.full((S, M, d), 1.5))


def write_case(case, folder):
    """For the others an .npz; for vhem a start model, an array and its index."""
    import numpy as np
    N, T, d = case["y"].shape
    S, M = case["c"].shape
    np.savez(folder / "case.npz", **case)
    np.save(folder / "data.npy", case["y"].reshape(N * T, d))
    (folder / "data_index.csv").write_text(
        "id,group,start,length\n" + "".join(f"s{n},all,{n * T},{T}\n" for n in range(N)))
    hmm = {"name": "start", "S": S, "M": M} | {k: case[k].tolist() for k in ("pi", "A", "c", "mu", "cov")}
    (folder / "start.json").write_text(json.dumps(
        {"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": d, "omega": [1], "hmms": [hmm]}))


def run_vhem(build, folder, repeat):
    out = folder / "vhem.json"
    text = subprocess.run([build / "bench" / "bench_fit", "--repeat", str(repeat), folder / "start.json",
                           folder / "data.npy", out], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text)["best"], json.loads(out.read_text())["hmms"][0]


def run_other(program, folder, repeat):
    import numpy as np
    out = folder / (program + ".npz")
    done = subprocess.run([sys.executable, HERE / "others.py", program, folder / "case.npz", out, str(repeat)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["failed"])[-1]
    with np.load(out) as f:
        return float(done.stdout), {k: f[k] for k in f.files}


def apart(a, b):
    """Largest difference of two models; like vhem_h3m_compare."""
    import numpy as np
    worst = 0.0
    for k in ("pi", "A", "c", "mu", "cov"):
        x, y = np.asarray(a[k], dtype=float), np.asarray(b[k], dtype=float)
        worst = max(worst, float(np.max(np.abs(x - y) / np.maximum(1, np.maximum(np.abs(x), np.abs(y))))))
    return worst


def measure(build, name, shape, turns, missing):
    folder = build / "compare" / name
    folder.mkdir(parents=True, exist_ok=True)
    case = make_case(*shape)
    write_case(case, folder)
    best, result, broken = {}, {}, {}
    frames = shape[0] * shape[1] * shape[2] * shape[4]
    for turn in range(turns):
        seconds, result["vhem"] = run_vhem(build, folder, 40 if frames < 1e5 else 5)
        best["vhem"] = min(seconds, best.get("vhem", seconds))
        for program in ORDER:
            slow_start = program in ("dynamax", "pomegranate")
            if program.split("-")[0] in missing or program in broken or (slow_start and turn > 0):
                continue
            seconds, answer = run_other(program, folder, 3)
            if seconds is None:
                broken[program] = answer
                continue
            best[program] = min(seconds, best.get(program, seconds))
            result[program] = answer
    row = f"{name:<22}"
    for program in ORDER:
        if program in best:
            row += f"{best[program] / best['vhem']:>9.1f} {apart(result['vhem'], result[program]):<8.0e}"
        else:
            row += f"{'-':>9} {'-':<8}"
    print(row, flush=True)
    return broken


def table(build, quick, missing):
    sizes = [(50, 100, 1, S, 1, S) for S in ([2, 5, 10] if quick else range(2, 11))] + [(200, 125, 39, 5, 8, 1)]
    print("times longer than vhem (x), and largest difference from its result (off); one thread each")
    print(f"{'5 iterations':<22}" + "".join(f"{p:>18}" for p in ORDER))
    print(f"{'':<22}" + f"{'x':>9} {'off':<8}" * len(ORDER))
    trouble = {}
    for shape in sizes:
        N, T, d, S, M, _ = shape
        broken = measure(build, f"{N}x{T} d={d} S={S} M={M}", shape, 2 if quick or d > 1 else 3, missing)
        trouble.update(broken)
    for program, why in {**missing, **trouble}.items():
        print(f"{program}: not measured: {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and turns")
    parser.add_argument("--missing", type=json.loads, help=argparse.SUPPRESS)
    a = parser.parse_args()
    build = a.build.resolve()
    if a.missing is not None:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})         # all programs on the same core
        table(build, a.quick, a.missing)
        return
    python, missing = install(build)
    if "hmmlearn" in missing:
        print(f"comparison with other programs skipped: {missing['hmmlearn']}")
        return
    command = [python, __file__, str(build), "--missing", json.dumps(missing)] + ["--quick"] * a.quick
    sys.exit(subprocess.run(command, env={**os.environ, **ONE_THREAD}).returncode)


main()
