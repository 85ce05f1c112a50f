# SPDX-License-Identifier: BSD-3-Clause
"""What the command says of a result, for Python: what may be wrong is a :class:`vhem.VhemWarning`, the rest goes to
``logging.getLogger("vhem")``, and to stderr with verbose=2."""
from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .errors import LOG, warn

_SAME_LIKELIHOOD = 1e-3                          # nats per frame: starts this close found the same optimum
_SAME_BOUND, _SAME_GROUPS = 1e-6, 0.99           # a share of the bound; adjusted Rand index
_ENOUGH = 20                                     # values: fewer may be anything
_HEAD = 1000                                     # frames that tell most columns of measurements
_LOOKS = {"poisson": "counts, whole numbers of 0 or more", "bernoulli": "bits, 0 or 1", "von-mises": "angles"}


def say(line: str, verbose: int = 0) -> None:
    LOG.info(line)
    if verbose and verbose > 1:
        print(line, file=sys.stderr)


def _many(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


# ---- what the values of columns look like ------------------------------------------------------------------

def _family(values: Any) -> Optional[str]:
    """The family that suits the values of a column better than Gaussians, as in cli/cmd_fit.c but for angles."""
    seen = values[~np.isnan(values)]
    if not len(seen) or not seen.max() > seen.min():
        return None
    least, most = float(seen.min()), float(seen.max())
    whole = least >= 0 and bool((seen == np.floor(seen)).all())
    if whole and most <= 1:
        return "bernoulli"
    if whole and least <= most / 5:
        return "poisson"
    begin = 0.0 if least >= 0 else -np.pi
    turn = (seen - begin) / (2 * np.pi)                      # standard scores lie there too, but few near the ends
    round_ = -1e-3 <= turn.min() and turn.max() <= 1 + 1e-3 and min((turn < 0.05).mean(), (turn > 0.95).mean()) >= 0.02
    return "von-mises" if round_ and len(seen) >= _ENOUGH else None


def _may_be_other(head: Any) -> bool:
    """Can the first frames of a column be counts, bits or angles?  Most columns of measurements cannot."""
    seen = head[~np.isnan(head)]
    whole = bool((seen >= 0).all() and (seen == np.floor(seen)).all())
    return whole or bool((seen >= -np.pi - 1e-3).all() and (seen <= 2 * np.pi + 1e-3).all())


def warn_of_columns(data: Any) -> None:
    """Counts, bits or angles where nobody has said what states emit."""
    symbols = [bool(data.symbols.get(data._column(k))) for k in range(data.d)]
    found = [None if symbols[k] or not _may_be_other(data.y[:_HEAD, k]) else _family(data.y[:, k])
             for k in range(data.d)]
    kinds = list(dict.fromkeys(family for family in found if family))
    if not kinds:
        return
    every = len(set(found)) == 1
    names = [data._column(k) for k in range(data.d)]
    family = kinds[0] if every else ",".join(f"{name}:{own or 'gaussian-diag'}" for name, own in zip(names, found))
    what = _LOOKS[kinds[0]] if len(kinds) == 1 else "counts, bits or angles"
    short = family if len(family) < 200 else family[:200] + "..."
    warn(f"{'all' if every else 'some'} columns look like {what}: covariance_type={short!r} may suit them better than "
         "Gaussians")


# ---- fits --------------------------------------------------------------------------------------------------

def of_fit(models: Any, report: Dict[str, Any], data: Any, verbose: int, mixture: bool = False) -> None:
    """The outcome of a fit: values that were integrated out, repairs, few frames, and how many starts agree."""
    if not len(report["best"]):                              # of pieces nothing is known
        return
    best = report["run"][np.arange(len(report["best"])), report["best"]]
    word = "texture" if getattr(models, "emission", None) is None else "HMM"
    missing = int(np.isnan(data.y).sum())
    if missing:
        say(f"{missing} of {data.y.size} values {'was' if missing == 1 else 'were'} missing and integrated out: mean "
            f"log-likelihood {best['loglik'].sum() / (data.y.size - missing):.4f} per value", verbose)
    revived, floored = int(best["n_revived"].sum()), int(best["n_floored"].sum())
    if revived and word == "texture":
        say(f"repairs: A of {_many(revived, word)} made stable: as estimated, sequences would grow without bound",
            verbose)
    elif revived:
        say(f"repairs: {_many(revived, 'dead state')} or {'component' if revived == 1 else 'components'} revived",
            verbose)
    if floored:
        what = "covariance" if word == "texture" or models.emission.startswith("gaussian") else "component"
        warn(f"{_many(floored, what)} held at cov_floor; a smaller cov_floor lets {'it' if floored == 1 else 'them'} "
             "be smaller")
    if word == "HMM" and not mixture:
        _few_frames(models, int(report["frames"].sum()), verbose)
    _starts(best, report, word, mixture, verbose)


def _few_frames(models: Any, frames: int, verbose: int) -> None:
    """As in cli/cmd_fit.c; with fewer frames than numbers to estimate, or without a prior, it is a warning."""
    if models.emission not in ("gaussian-diag", "gaussian-full"):
        return
    S, M, d, full = models._facts["S"], models._facts["M"], models.d, models.emission == "gaussian-full"
    per, numbers = frames / len(models) / (S * M), 1 + (d + 1) / 2 if full else 2
    if per >= 5 * numbers:
        return
    what = "component" if M > 1 else "state"
    then = ("the prior draws variances towards those of all states together" if models.prior else
            "variances may be far too small; prior='vb', or a smaller n_states, help")
    line = (f"the HMMs have more {what}s than frames: {then}" if per < 0.5 else
            f"about {_many(round(per), 'frame')} for each {what} {'is' if per < 1.5 else 'are'} few for "
            f"{_many(d, 'dimension')}{' and full covariances' if full else ''}: {then}")
    if per < numbers or not models.prior:
        warn(line)
    else:
        say(line, verbose)


def _starts(best: Any, report: Dict[str, Any], word: str, mixture: bool, verbose: int) -> None:
    K, R = report["run"].shape
    if R < 2:
        return
    near = np.abs(report["run"]["bound"] - best["bound"][:, None]) <= _SAME_LIKELIHOOD * report["frames"][:, None]
    agreed = int((near.sum(axis=1) > 1).sum())
    if mixture:
        same = int(near.sum())
        say(f"{same} of {R} starts reached this likelihood"
            f"{'; a larger n_init may find a better one' if same < 2 else ''}", verbose)
    else:
        say(f"in {agreed} of {_many(K, word)} at least 2 of {R} starts agree on the best"
            f"{'; a larger n_init may find better ones' if 2 * agreed < K else ''}", verbose)


# ---- clusters ----------------------------------------------------------------------------------------------

def _agreeing(runs: Sequence[Dict[str, Any]], candidates: bool) -> Tuple[int, int]:
    """Finished runs with the groups that were kept, and all whose groups are known."""
    known = [run for run in runs if run["agreement"] == run["agreement"] and _is_candidate(run) == candidates]
    return sum(run["agreement"] >= _SAME_GROUPS for run in known), len(known)


def _is_candidate(run: Dict[str, Any]) -> bool:
    init = run["init"] or ""
    return len(init) > 3 and (init == "settled" or init.endswith("-sc"))


def _of_runs(level: Any) -> List[str]:
    """How many of the runs of a level agree."""
    if len(level.runs) <= 1:
        return []
    same, all_ = _agreeing(level.runs, True)
    if level.posterior is None and all_ > 1:
        return [f"{same} of {all_} candidates agree on these groups"]
    same, all_ = _agreeing(level.runs, False)
    if level.posterior is not None or all_:
        return [f"{same} of {all_} starts found these groups" +
                ("; a larger n_init may find better ones" if same < 2 else "")]
    bounds = np.array([run["bound"] for run in level.runs])
    best = bounds.max()
    near = int((best - bounds <= max(_SAME_BOUND, 2 * level.options["tol"]) * abs(best)).sum())
    return [f"{near} of {len(bounds)} starts {'reached this bound' if level.bound is not None else 'were as good'}" +
            ("; a larger n_init may find a better one" if near < 2 else "")]


def _of_graphs(level: Any) -> List[str]:
    """Which graph of the sequences was kept, what the best other one says, and what the centres say of the groups."""
    kept = [graph for graph in level.graphs if graph.kept]
    others = sorted((graph for graph in level.graphs if not graph.kept), key=lambda g: g.modularity + g.stability)
    lines = []
    if kept:
        best = f"found by {kept[0].graph} (modularity {kept[0].modularity:.2f}, stability {kept[0].stability:.2f}"
        lines.append(best + (f"; next {others[-1].graph}, {others[-1].modularity:.2f}, {others[-1].stability:.2f}, "
                             f"whose groups have an ARI of {others[-1].agreement:.2f} with these)" if others else ")"))
    if level.z is not None and level.n_clusters > 1:
        back = 100 * float((level.z.argmax(axis=1) == level.labels).mean())
        lines.append(f"predict puts {back:.0f} % of the {level.items} back into their group")
    return lines


def of_clusters(tree: Any, verbose: int) -> None:
    """The outcome of each level: the runs that agree, and repairs; a cluster that nobody is in is a warning."""
    for l, level in enumerate(tree):
        begin = f"level {l + 1}: " if len(tree) > 1 else ""
        lines = _of_runs(level) if level.graphs is None else _of_graphs(level)
        if level.n_empty:
            lines.append(f"repairs: {_many(level.n_empty, 'empty cluster')} re-seeded")
        if level.n_revived:
            lines.append(f"repairs: {_many(level.n_revived, 'dead state')} revived")
        for line in lines:
            say(begin + line, verbose)
        empty = level.n_clusters - len(np.unique(level.labels[level.labels >= 0]))
        if empty > 0:
            has = "has" if empty == 1 else "have"
            warn(f"{begin}{_many(empty, 'cluster')} of {level.n_clusters} {has} no members: what was clustered may "
                 "have fewer kinds")
