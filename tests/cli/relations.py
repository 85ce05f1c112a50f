# SPDX-License-Identifier: BSD-3-Clause
"""Random problems for `vhem cluster` from a given start, so that nothing is random but the input, and changes of the input
that must not change the answer.  tests/cli/test_invariance.py takes a few changes of each problem, tests/torture/relations.py all."""
import json
import math
import os
import pathlib
import random
import subprocess

FAMILIES = ["gaussian-diag", "gaussian-full", "poisson", "bernoulli", "gamma", "von-mises", "categorical", "product"]
UNITS = [2.0 ** 20, 2.0 ** -20, 1e6, 1e-6]
SYMBOLS = 4
AMBIGUOUS = 1e-3        # of a posterior: an item this close to two clusters may be in either
ROUNDING = 1e-7         # of the largest bound
SKIPPED = "repaired"    # a cluster was seeded anew, at random: another order is another answer


def simplex(rng, n):
    x = [rng.gammavariate(0.7, 1) + 1e-3 for _ in range(n)]
    return [v / sum(x) for v in x]


def full_covariance(rng, d):
    q = [[rng.gauss(0, 0.8) for _ in range(d)] for _ in range(d)]
    return [[sum(q[i][k] * q[j][k] for k in range(d)) + 0.1 * (i == j) for j in range(d)] for i in range(d)]


def component(rng, family, d):
    """Parameters of one component: a number for each column, or more."""
    if family == "gaussian-diag":
        return {"mu": [rng.gauss(0, 3) for _ in range(d)], "cov": [math.exp(rng.gauss(0, 1)) for _ in range(d)]}
    if family == "gaussian-full":
        return {"mu": [rng.gauss(0, 3) for _ in range(d)], "cov": full_covariance(rng, d)}
    if family == "poisson":
        return {"rate": [rng.expovariate(0.2) for _ in range(d)]}
    if family == "bernoulli":
        return {"p": [rng.random() for _ in range(d)]}
    if family == "gamma":
        return {"shape": [math.exp(rng.gauss(0, 1)) for _ in range(d)], "rate": [math.exp(rng.gauss(0, 1)) for _ in range(d)],
                "zero": [0.3 * rng.random() for _ in range(d)]}
    if family == "von-mises":
        return {"mean": [rng.uniform(-3, 3) for _ in range(d)], "kappa": [rng.expovariate(1 / 3) for _ in range(d)]}
    return {"p": simplex(rng, SYMBOLS)}


class Problem:
    """HMMs, centres to start from, and options.  An HMM holds its channels apart, each as channel[s][m] = parameters."""

    def __init__(self, number):
        rng = random.Random(number)
        self.number, self.family = number, FAMILIES[number % len(FAMILIES)]
        if self.family == "product":
            self.channels = [(f, 1 if f == "categorical" else rng.choice([1, 2])) for f in rng.sample(FAMILIES[:-1], rng.choice([2, 3]))]
        else:
            self.channels = [(self.family, 1 if self.family == "categorical" else rng.choice([1, 2, 3]))]
        self.M = rng.choice([1, 2]) if all(f != "categorical" for f, _ in self.channels) else 1
        self.S, self.K = rng.randint(1, 4), rng.randint(2, 12)
        self.base = [self.hmm(rng, f"m{i}", self.S if rng.random() < 0.7 else rng.randint(1, 4)) for i in range(self.K)]
        self.omega = simplex(rng, self.K) if rng.random() < 0.5 else [1 / self.K] * self.K
        self.start = [self.hmm(rng, f"c{j}", self.S) for j in range(min(self.K, rng.randint(1, 4)))]
        self.start_omega = simplex(rng, len(self.start))
        self.options = ["--tau", rng.choice([1, 2, 5, 10, 30]), "--nv", rng.choice([1, 10, 100, 10000]),
                        "--max-iter", rng.choice([1, 3, 10]), "--tol", 0, "-r", 1]
        for flag in (["--no-repair"], ["--cov-floor", 0], ["--weighted-omega"]):
            self.options += flag if rng.random() < 0.3 else []

    def hmm(self, rng, name, S):
        return {"name": name, "pi": simplex(rng, S), "A": [simplex(rng, S) for _ in range(S)], "c": [simplex(rng, self.M) for _ in range(S)],
                "channels": [[[component(rng, f, d) for _ in range(self.M)] for _ in range(S)] for f, d in self.channels]}

    def changed(self, **other):
        """A copy with other models, and so on."""
        q = object.__new__(Problem)
        q.__dict__.update(self.__dict__, **other)
        return q

    def each(self, change):
        """A copy with every HMM changed."""
        return self.changed(base=[change(h) for h in self.base], start=[change(h) for h in self.start])

    def document(self, hmms, omega):
        def arrays(channel):
            return {k: [[mix[k] for mix in state] for state in channel] for k in channel[0][0]}

        def written(h):
            head = {"name": h["name"], "S": len(h["pi"]), "M": self.M, "pi": h["pi"], "A": h["A"], "c": h["c"]}
            return {**head, **arrays(h["channels"][0])} if len(self.channels) == 1 else {**head, "channels": [arrays(c) for c in h["channels"]]}
        symbols = {"symbols": [f"s{v}" for v in range(SYMBOLS)]}
        more = {"emission": self.channels[0][0], **(symbols if self.channels[0][0] == "categorical" else {})}
        if len(self.channels) > 1:
            more = {"emission": "product", "channels": [
                {"emission": f, "columns": [f"{f}{k}" for k in range(d)], **(symbols if f == "categorical" else {})} for f, d in self.channels]}
        return {"format": "vhem-h3m", "version": 1, **more, "d": sum(d for _, d in self.channels), "omega": omega, "hmms": [written(h) for h in hmms]}


def components_changed(h, change):
    """The HMM with change(channel number, parameters) for each component."""
    return {**h, "channels": [[[change(c, p) for p in state] for state in channel] for c, channel in enumerate(h["channels"])]}


# ---- what must not change the answer: (changed problem, what to expect) ----------------------------------------------
# labels: item i of the changed problem is labels[i] of the other, clusters likewise; shift: bounds may move by a constant;
# times: they are so many times as large

def models(p, rng):
    order = rng.sample(range(p.K), p.K)
    return p.changed(base=[p.base[i] for i in order], omega=[p.omega[i] for i in order]), {"labels": order}


def clusters(p, rng):
    order = rng.sample(range(len(p.start)), len(p.start))
    return p.changed(start=[p.start[j] for j in order], start_omega=[p.start_omega[j] for j in order]), {"clusters": order}


def states(p, rng):
    def change(h):
        order = rng.sample(range(len(h["pi"])), len(h["pi"]))
        return {**h, "pi": [h["pi"][s] for s in order], "A": [[h["A"][s][q] for q in order] for s in order],
                "c": [h["c"][s] for s in order], "channels": [[c[s] for s in order] for c in h["channels"]]}
    return p.each(change), {}


def components(p, rng):
    if p.M == 1:
        return None

    def change(h):
        return {**h, "c": [row[::-1] for row in h["c"]], "channels": [[state[::-1] for state in c] for c in h["channels"]]}
    return p.each(change), {}


def columns(p, rng):
    orders = [rng.sample(range(d), d) for _, d in p.channels]

    def change(c, par):
        if p.channels[c][0] == "categorical":
            return par
        def at(v):
            return [v[k] for k in orders[c]]
        return {k: at([at(row) for row in v]) if isinstance(v[0], list) else at(v) for k, v in par.items()}
    turn = rng.sample(range(len(p.channels)), len(p.channels))
    q = p.each(lambda h: components_changed(h, change))
    q = q.each(lambda h: {**h, "channels": [h["channels"][c] for c in turn]})
    return q.changed(channels=[p.channels[c] for c in turn]), {}


def shift(p, rng):
    if not any(f.startswith("gaussian") or f == "von-mises" for f, _ in p.channels):
        return None
    by = [[rng.choice([0.25, 1.234, 64.0]) for _ in range(d)] for _, d in p.channels]

    def change(c, par):
        f = p.channels[c][0]
        if f.startswith("gaussian"):
            return {**par, "mu": [m + b for m, b in zip(par["mu"], by[c])]}
        if f == "von-mises":
            return {**par, "mean": [math.remainder(m + b, 2 * math.pi) for m, b in zip(par["mean"], by[c])]}
        return par
    return p.each(lambda h: components_changed(h, change)), {}


def units(p, rng):
    if not any(f.startswith("gaussian") or f == "gamma" for f, _ in p.channels):
        return None
    by = [[rng.choice(UNITS) for _ in range(d)] for _, d in p.channels]

    def change(c, par):
        f, b = p.channels[c][0], by[c]
        if f == "gamma":
            return {**par, "rate": [r / x for r, x in zip(par["rate"], b)]}
        if not f.startswith("gaussian"):
            return par
        cov = [v * x * x for v, x in zip(par["cov"], b)] if f == "gaussian-diag" else \
            [[v * x * y for v, y in zip(row, b)] for row, x in zip(par["cov"], b)]
        return {"mu": [m * x for m, x in zip(par["mu"], b)], "cov": cov}
    return p.each(lambda h: components_changed(h, change)), {"shift": True}


def twice(p, rng):
    base = [{**h, "name": h["name"] + s} for h in p.base for s in "ab"]
    return p.changed(base=base, omega=[w / 2 for w in p.omega for _ in "ab"], K=2 * p.K), \
        {"labels": [i // 2 for i in range(2 * p.K)], "times": 2}


def constant(p, rng):
    """One more column, the same in all states of all models."""
    c = next((c for c, (f, _) in enumerate(p.channels) if f != "categorical"), None)
    if c is None:
        return None
    f, d = p.channels[c]
    one = component(rng, f, 1)

    def change(at, par):
        if at != c:
            return par
        if f == "gaussian-full":
            return {"mu": par["mu"] + one["mu"], "cov": [row + [0.0] for row in par["cov"]] + [[0.0] * d + one["cov"][0]]}
        return {k: v + one[k] for k, v in par.items()}
    return p.each(lambda h: components_changed(h, change)).changed(channels=[*p.channels[:c], (f, d + 1), *p.channels[c + 1:]]), {"shift": True}


def backend(p, rng):
    return p.changed(options=[*p.options, "--backend", "ref"]), {}


CHANGES = [models, clusters, states, components, columns, shift, units, twice, constant, backend]


# ---- runs -----------------------------------------------------------------------------------------------------------

class Runner:
    """Runs the command in a folder."""

    def __init__(self, vhem, folder):
        self.vhem, self.folder, self.runs = vhem, pathlib.Path(folder), 0
        self.without = self.run("--version").stdout.partition("built without: ")[2]

    def run(self, *args):
        self.runs += 1
        return subprocess.run([self.vhem, *map(str, args)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=600, env={**os.environ, "OMP_NUM_THREADS": "4"})

    def cluster(self, p, tag, base=None, threads=1):
        """The result, or the sentence that says why there is none."""
        if base is None:
            base = f"{tag}.json"
            (self.folder / base).write_text(json.dumps(p.document(p.base, p.omega)))
            (self.folder / f"{tag}-start.json").write_text(json.dumps(p.document(p.start, p.start_omega)))
        out = self.folder / f"{tag}-out.json"
        out.unlink(missing_ok=True)
        done = self.run("cluster", base, "--init", f"{tag}-start.json", *p.options, "-t", threads, "-q", "-o", out.name)
        if done.returncode not in (0, 1):
            return f"status {done.returncode}: {done.stderr}"
        result = json.loads(out.read_text()) if done.returncode == 0 else done.stderr
        if isinstance(result, dict):
            result.pop("provenance", None)
        return result


def unclear(r, i):
    z = sorted(r["z"][i])
    return len(z) > 1 and z[-1] - z[-2] < AMBIGUOUS


def differences(r, q, labels=None, clusters=None, shift=False, times=1):
    """What is wrong when q is to be r, changed in this way; SKIPPED where nothing can be said."""
    if isinstance(r, str) or isinstance(q, str):
        return "" if isinstance(r, str) and isinstance(q, str) else f"one of the two fails: {r if isinstance(r, str) else q}"
    if any(r["repairs"].values()) or any(q["repairs"].values()):
        return SKIPPED
    labels = labels or range(len(r["labels"]))
    clusters = clusters or range(len(r["z"][0]))
    wrong = [i for i, k in enumerate(labels) if clusters[q["labels"][i]] != r["labels"][k] and not unclear(r, k)]
    if wrong:
        return f"item {wrong[0]}: cluster {q['labels'][wrong[0]]}, was {r['labels'][labels[wrong[0]]]}, z {r['z'][labels[wrong[0]]]}"
    moved = q["bound"][0] - times * r["bound"][0] if shift else 0
    size = max(abs(b) for b in [*r["bound"], *q["bound"], 1])
    for k, (a, b) in enumerate(zip(r["bound"], q["bound"])):
        if not abs(times * a + moved - b) <= ROUNDING * size:
            return f"bound {k}: {b!r}, wanted {times * a + moved!r}"
    return ""


def sense(r):
    """A result by itself."""
    if isinstance(r, str):
        return ""
    bound, fell = r["bound"], r["repairs"]
    numbers = [x for table in (r["z"], r["L_hmm"]) for row in table for x in row] + bound
    if not all(map(math.isfinite, numbers)):
        return "a number is not finite"
    if any(abs(sum(z) - 1) > 1e-9 or z[label] < max(z) - 1e-12 for z, label in zip(r["z"], r["labels"])):
        return "z does not sum to 1, or a label is not its largest"
    if not any(fell.values()) and any(b < a - 1e-8 * max(1, abs(a)) for a, b in zip(bound, bound[1:])):
        return f"the bound falls: {bound}"
    return ""


def threads(run, p, r):
    other = run.cluster(p, "a", base="a.json", threads=3)
    return "" if other == r else "1 and 3 threads differ"


def hdf5(run, p, r):
    if "HDF5" in run.without:
        return SKIPPED
    done = run.run("convert", "a.json", "-o", "a.h5", "-q", "--force")
    if done.returncode:
        return done.stderr
    return "" if run.cluster(p, "a", base="a.h5") == r else "JSON and HDF5 differ"


def assign(run, p, r):
    """Each model goes where it is, and its posterior is z."""
    done = run.run("assign", "a-out.json", "a.json", "-q", "-t", 1)
    if done.returncode:
        return done.stderr
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    for i, row in enumerate(rows):
        row, label = dict(zip(head, row, strict=True)), r["labels"][i]
        if r["centers"]["omega"][label] == 0:            # too small for a number: empty, for those who read it
            continue
        if int(row["cluster"]) != label and not unclear(r, i):
            return f"item {i}: assigned to {row['cluster']} with {row['posterior']}, clustered to {label}, z {r['z'][i]}"
    return ""


def evaluate(run, p, r):
    """expected_loglik is the mean of the bounds under the own centres."""
    done = run.run("eval", "a-out.json", "--models", "a.json", "-j", "-q", "-t", 1)
    if done.returncode:
        return done.stderr
    got = found(json.loads(done.stdout), "expected_loglik")
    want = sum(r["L_hmm"][i][label] for i, label in enumerate(r["labels"])) / p.K
    return "" if abs(got - want) <= ROUNDING * max(1, abs(want)) else f"expected_loglik is {got}, the mean of L_hmm {want}"


def found(tree, key):
    if isinstance(tree, dict) and key in tree:
        return tree[key]["mean"] if isinstance(tree[key], dict) else tree[key]
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    return next((x for x in (found(v, key) for v in inside) if x is not None), None)


COMPARED = [threads, hdf5, assign, evaluate]


def check(run, number, most=None):
    """Faults of problem `number`, as sentences, and how many relations were looked at; most: so many at most, others of the
    next problem of the same family."""
    p, faults, looked = Problem(number), [], 0
    r = run.cluster(p, "a")
    chosen = CHANGES + (COMPARED if isinstance(r, dict) else [])
    if most:
        turn = number // len(FAMILIES) * most % len(chosen)
        chosen = (chosen + chosen)[turn:turn + most]
    why = sense(r)
    if why:
        faults.append(f"problem {number}, {p.family}: {why}")
    for relation in chosen:
        if relation in COMPARED:
            why = relation(run, p, r)
        else:
            change = relation(p, random.Random(number + 1))
            why = differences(r, run.cluster(change[0], "b"), **change[1]) if change else SKIPPED
        looked += why != SKIPPED
        if why and why != SKIPPED:
            faults.append(f"problem {number}, {p.family}, {relation.__name__}: {why}")
    return faults, looked
