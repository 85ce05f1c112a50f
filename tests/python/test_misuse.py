# SPDX-License-Identifier: BSD-3-Clause
"""What a user might do to arrays, attributes and files that would have the library read or write past their end: each
in a process of its own, which must end with an error of Python."""
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import SOURCE

SETUP = """
import numpy as np, vhem
m = vhem.Model([.5, .5], [[.9, .1], [.1, .9]], [[0.0], [1.0]], [[1.0], [1.0]])
def of(S):
    return vhem.Model(np.full(S, 1 / S), np.full((S, S), 1 / S), np.arange(S)[:, None] * 1.0, np.ones((S, 1)))
X = [np.random.default_rng(0).normal(size=(500, 1))]
"""

REFUSED = {
    "lengths whose sum wraps": ("b = 2**62; s = vhem.Sequences(np.zeros((5, 1)), lengths=[b, b, b, b + 5])", "sum to"),
    "lengths changed": ("s = vhem.Sequences(np.zeros((9, 1)), [9]); m.score(s); s.lengths[0] = 1", "read-only"),
    "lengths replaced": ("s = vhem.Sequences(np.zeros((9, 1)), [9]); s.lengths = [1]", "AttributeError"),
    "frames replaced": ("s = vhem.Sequences(np.zeros((9, 1)), [9]); s.y = np.zeros((1, 1))", "AttributeError"),
    "fewer names": ("s = vhem.Sequences(np.zeros((9, 1)), [4, 5]); s.names = ['a']", "1 names, must be 2"),
    "a name taken away": ("s = vhem.Sequences(np.zeros((9, 1)), [4, 5], names='ab'); s.names.pop(); m.score(s)",
                          "1 names, must be 2"),
    "fewer weights": ("s = vhem.Sequences(np.zeros((9, 1)), [4, 5]); s.weights = [1.0]", "have shape (1,)"),
    "a state that was edited": ("s = vhem.Sequences(np.zeros((9, 1)), [9]); st = s.__getstate__(); "
                                "st['lengths'] = np.array([900]); t = vhem.Sequences.__new__(vhem.Sequences); "
                                "t.__setstate__(st)", "sum to 900"),
    "lengths edited inside": ("s = vhem.Sequences(np.zeros((9, 1)), [9]); s._lengths = np.array([10**9]); m.score(s)",
                              "there are 9 frames"),
    "pi replaced": ("m.pi = np.full(20000, 1 / 20000)", "cannot be replaced"),
    "means of another type": ("m.mu = m.mu.astype(np.float32)", "cannot be replaced"),
    "parts edited inside": ("m._shown['mu'] = m.mu.astype(np.float32); vhem.H3M([m])", "C-ordered array of float64"),
    "pi edited inside": ("m._shown['pi'] = np.ones(1); vhem.H3M([m])", "has shape (2, 2), must be (1, 1)"),
    "fixed_startprob of fewer states": ("vhem.HMM(3, fixed_startprob=[.5, .5, 0], options={'S': 20000}).fit(X)",
                                        "must be (20000,)"),
    "fixed_A of one number": ("vhem.HMM(60, options={'fixed_A': np.full(1, np.nan)}).fit(X)", "must be (60, 60)"),
    "fixed_pi without a number of states": ("vhem.HMM(options={'fixed_pi': np.full(1, np.nan)}).fit(X)",
                                            "must be (3,)"),
    "fixed_pi of fewer than the start has": ("vhem.HMM(init=of(60), options={'fixed_pi': np.full(2, np.nan)}).fit(X)",
                                             "must be (60,)"),
    "an array as another option": ("vhem.HMM(2, options={'start': np.zeros(3)}).fit(X)", "start"),
    "threads": ("vhem.HMM(2, n_jobs=100000).fit(X)", "up to 1024"),
}

# What the library is told of the sizes does not follow from what can be changed here.
GOES_WELL = {
    "lengths edited after the first use": """
s = vhem.Sequences(np.zeros((200000, 1)), [200000]); m.score(s); s._lengths = np.array([1])
assert len(m.decode(s)[0][0]) == 200000
""",
    "parts edited after the first use": """
m = of(200); m._shown["pi"] = np.ones(1); assert m.posterior([np.zeros((2000, 1))])[0].shape == (2000, 200)
""",
}


def run(code):
    return subprocess.run([sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", SETUP + code], timeout=300,
                          capture_output=True, text=True)


@pytest.mark.parametrize("name", REFUSED)
def test_misuse_is_an_error(name):
    code, said = REFUSED[name]
    ended = run(code)
    assert ended.returncode == 1 and said in ended.stderr, ended.stderr


@pytest.mark.parametrize("name", GOES_WELL)
def test_sizes_are_those_of_the_library(name):
    ended = run(GOES_WELL[name])
    assert ended.returncode == 0, ended.stderr


def test_everything_that_comes_through_a_pointer_can_be_freed():
    """tests/unit/test_misuse.c makes and frees one of each; vhem_load hands over what others make."""
    header = "".join(path.read_text() for path in sorted((SOURCE / "include").rglob("*.h")))
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    makers = re.findall(r"VHEM_RESULT\s+vhem_status\s+(\w+)\(([^;]*)\);", header)
    makers = {name for name, parameters in makers if re.search(r"(?<!const )\b\w+ \*\*(?!const)\w+", parameters)}
    freed = set(re.findall(r"\bFREE\((\w+)", (SOURCE / "tests/unit/test_misuse.c").read_text()))
    assert len(makers) > 20
    assert makers <= freed


def test_frames_that_are_handed_out_are_views():
    import vhem
    y = np.zeros((5, 1))
    s = vhem.Sequences(y)
    y[0] = 7                                                 # theirs to change
    assert s.y[0, 0] == 7 and np.shares_memory(s.y, y) and not s.y.flags.writeable


def test_models_of_another_order_are_refused(tmp_path, rng):
    import vhem
    X = [rng.normal(4 * (n % 2), 1, size=(40, 1)) for n in range(6)]
    s = vhem.Sequences.from_arrays(X, names=list("abcdef"))
    models = vhem.fit_each(s, n_states=1)
    tree = vhem.VHEM(2).fit(models).result_
    turned = models[[1, 0, 2, 3, 4, 5]]
    for use in (lambda m: tree.measure(models=m), lambda m: vhem.metrics.stats(tree, s, models=m),
                lambda m: tree.report(tmp_path / "r.html", models=m)):
        use(models)
        with pytest.raises(vhem.InputError, match="HMM 0 is 'b', but 'a' in the clusters: other models"):
            use(turned)
