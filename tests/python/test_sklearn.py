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
BLOBS = "rows of the blobs are sequences of two frames, too few for HMMs of three states and kernels between them"
TABLE = "the check has one class for each row, not a table of tags of zeros and ones"
KERNELS = ("ppk-sc", "ppk-ac", "ppk-sc-hybrid")
SKIPPED = {
    "HMM": {"check_methods_sample_order_invariance": FRAMES, "check_methods_subset_invariance": FRAMES},
    "HMMMixture": {"check_clustering": BLOBS},
    **{f"ModelClustering-{method}": {"check_clustering": BLOBS} for method in KERNELS},
    "TagModel": dict.fromkeys((
        "check_estimators_dtypes", "check_fit_score_takes_y", "check_estimators_fit_returns_self", "check_dtype_object",
        "check_pipeline_consistency", "check_estimators_nan_inf", "check_estimators_overwrite_params",
        "check_estimators_pickle", "check_methods_sample_order_invariance", "check_methods_subset_invariance",
        "check_fit2d_1sample", "check_fit2d_1feature", "check_dict_unchanged", "check_dont_overwrite_parameters",
        "check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in", "check_fit2d_predict1d",
        "check_readonly_memmap_input", "check_f_contiguous_array_estimator", "check_positive_only_tag_during_fit",
        "check_mixin_order", "check_estimators_unfitted", "check_n_features_in_after_fitting"), TABLE),
}
# As they stand, but with fewer starts where the defaults take long and the checks are no harder for them.
ESTIMATORS = [
    vhem.HMM(n_states=2, n_init=1, n_jobs=1),
    vhem.HMMClassifier(n_states=2, n_init=10, n_jobs=1, n_components=2),  # one start is at times below the .83 asked
    vhem.HMMMixture(n_jobs=1),
    vhem.VHEM(n_states=2, n_init=2, n_jobs=1),
    vhem.VHEMTree((2, 1), n_states=2, n_init=2, n_jobs=1),
    vhem.VBHEM(n_init=2, n_jobs=1),
    vhem.ModelClustering(2, n_jobs=1),                       # sequences without a method
    vhem.SequenceScaler(),
    vhem.TagModel(n_jobs=1),
    *(vhem.ModelClustering(method=method, n_jobs=1) for method in ("kl-sc", "kl-ac", "knn-sc", *KERNELS, "em-h3m")),
    *(vhem.ModelClustering(method=method, n_init=2, n_jobs=1) for method in ("hem-gmm", "shem")),
]


def name_of(check):
    return getattr(check, "func", check).__name__


def kind_of(estimator):
    method = getattr(estimator, "method", None)
    return type(estimator).__name__ + ("" if method is None else f"-{method}")


def cases():
    found = []
    for estimator in ESTIMATORS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, (instance, check) in enumerate(estimator_checks_generator(estimator)):
                kind = kind_of(estimator)
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
    there = {kind_of(estimator) for estimator in ESTIMATORS}
    assert set(SKIPPED) <= there
    for estimator in ESTIMATORS:
        skipped = SKIPPED.get(kind_of(estimator), {})
        known = {name_of(check) for _, check in estimator_checks_generator(estimator)}
        assert not skipped or set(skipped) & known           # scikit-learn renames some
