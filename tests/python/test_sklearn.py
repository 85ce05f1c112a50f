# SPDX-License-Identifier: BSD-3-Clause
"""The checks scikit-learn has for estimators, and why some of them cannot apply."""
import warnings

import pytest
import vhem

try:
    from sklearn.utils.estimator_checks import estimator_checks_generator
except ImportError:                                      # before scikit-learn 1.6
    from sklearn.utils.estimator_checks import check_estimator

    def estimator_checks_generator(estimator):
        return check_estimator(estimator, generate_only=True)

FRAMES = "rows of X are the frames of one sequence: what comes before and after a frame matters"
SKIPPED = {
    "HMM": {"check_methods_sample_order_invariance": FRAMES, "check_methods_subset_invariance": FRAMES},
}
ESTIMATORS = [
    vhem.HMM(n_states=2, n_init=1, n_jobs=1),
    vhem.HMMClassifier(n_states=2, n_init=1, n_jobs=1, n_components=2),
    vhem.HMMMixture(n_states=2, n_init=1, n_jobs=1),
    vhem.ModelClustering(n_states=2, n_init=2, n_jobs=1, method="em-h3m"),
    vhem.VHEM(n_states=2, n_init=2, n_jobs=1),
    vhem.VHEMTree((2, 1), n_states=2, n_init=2, n_jobs=1),
]


def name_of(check):
    return getattr(check, "func", check).__name__


def cases():
    found = []
    for estimator in ESTIMATORS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, (instance, check) in enumerate(estimator_checks_generator(estimator)):
                kind = type(estimator).__name__
                reason = SKIPPED.get(kind, {}).get(name_of(check))
                marks = [pytest.mark.skip(reason=reason)] if reason else []
                found.append(
                    pytest.param(instance, check, marks=marks, id=f"{kind}-{name_of(check)}-{number}"))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator, check", cases())
def test_check(estimator, check):
    check(estimator)


def test_skipped_checks_exist():
    known = {
        name_of(check)
        for estimator in ESTIMATORS[:1]
        for _, check in estimator_checks_generator(estimator)
    }
    assert {name for skipped in SKIPPED.values() for name in skipped} <= known
