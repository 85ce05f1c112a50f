# SPDX-License-Identifier: BSD-3-Clause
"""What experiments with several estimators of class models share: options, trials of each, means, ratios of times."""
import statistics

from common import mean


DEFAULTS = "vhem, our defaults"          # what vhem does when only the sizes are said


def shown(estimator):
    """The name of an estimator in a table."""
    return f"`{estimator}`" if estimator != DEFAULTS else f"`vhem`{DEFAULTS.removeprefix('vhem')}"


def settings(config, estimator, **changes):
    """The options of an estimator: those of all, those of its virtual samples, and changes; ppk-sc, which climbs no
    bound, does not use tol."""
    options = {"estimator": estimator, **config["options"], **config["virtual"].get(estimator, {}), **changes}
    return {k: v for k, v in options.items() if not (k == "tol" and estimator == "ppk-sc")}


def run_trials(x, trial, jobs, *shared):
    """trial((shared..., seed, options)) for each of jobs {key: options} and each seed, a seed at a time, so that what
    is compared runs at about the same time; {key: results}."""
    seeds = range(1, x.config["trials"] + 1)
    results = iter(x.map(trial, [(*shared, seed, options) for seed in seeds for options in jobs.values()]))
    found = {key: [] for key in jobs}
    for _ in seeds:
        for key in jobs:
            found[key].append(next(results))
    return found


def each(found, key, measure):
    return [r[measure] for r in found[key]]


def average(found, key, measure):
    return mean(each(found, key, measure))


def spread(found, key, measure):
    """The standard deviation over the trials; None of a single one."""
    values = each(found, key, measure)
    return statistics.stdev(values) if len(values) > 1 else None


def over(found, key, base):
    """Times longer than the other in processor time, the median over the trials."""
    return statistics.median(a / b for a, b in zip(each(found, key, "seconds"), each(found, base, "seconds")))
