# SPDX-License-Identifier: BSD-3-Clause
"""Five iterations of Baum-Welch in other programs.  Run by compare.py, one process per program:

    others.py PROGRAM CASE.npz OUT.npz REPEAT

CASE.npz holds y [N][T][d] and the start pi, A, c [S][M], mu [S][M][d], cov [S][M][d]; OUT.npz gets the same five
after the iterations.  Prints the seconds of processor time of the best repeat (bench_fit.c says why not wall time).  Every program starts from the given numbers, in
double precision, with priors that say nothing, so that the M-step is maximum likelihood; what it takes to start up,
to compile itself and to set up the model is not counted.
"""
import contextlib
import sys
import time

import numpy as np

N_ITER = 5


def hmmlearn(case, implementation):
    import logging

    from hmmlearn import hmm
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    N, T, d = case["y"].shape
    S, M = case["c"].shape
    X, lengths = case["y"].reshape(N * T, d), [T] * N
    common = dict(n_components=S, covariance_type="diag", n_iter=N_ITER, tol=-np.inf, init_params="",
                  implementation=implementation)

    class Mixture(hmm.GMMHMM):
        """hmmlearn's own, less two things.  Its fit runs k-means even when nothing is to be initialised; that is not
        an iteration, so it goes.  And its M-step takes variances about the old means, which is not the maximum;
        sum w (y - new)^2 = sum w (y - old)^2 - w (new - old)^2 puts that right at no cost per frame."""

        def _init(self, X, lengths=None):
            self.n_features = X.shape[1]

        def _do_mstep(self, stats):
            old = self.means_.copy()
            super()._do_mstep(stats)
            self.covars_ = self.covars_ - (self.means_ - old) ** 2

    def run():
        if M == 1:                      # covars_prior 0: none; the defaults of the other priors already say nothing
            model = hmm.GaussianHMM(covars_prior=0, covars_weight=0, **common)
            model.means_, model.covars_ = case["mu"][:, 0], case["cov"][:, 0]
        else:                           # the default covars_prior, -1.5, is the one that says nothing here
            model = Mixture(n_mix=M, **common)
            model.weights_, model.means_, model.covars_ = case["c"], case["mu"].copy(), case["cov"].copy()
        model.startprob_, model.transmat_ = case["pi"], case["A"]
        t0 = time.process_time()
        model.fit(X, lengths)
        seconds = time.process_time() - t0
        cov = model._covars_[:, None] if M == 1 else model.covars_
        return seconds, dict(pi=model.startprob_, A=model.transmat_, c=model.weights_ if M > 1 else case["c"],
                             mu=model.means_.reshape(S, M, d), cov=cov.reshape(S, M, d))
    return run


def dynamax(case):
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from dynamax.hidden_markov_model import DiagonalGaussianHMM, DiagonalGaussianMixtureHMM
    S, M = case["c"].shape
    d, y = case["y"].shape[2], jnp.asarray(case["y"])
    flat = dict(initial_probs_concentration=1.0, transition_matrix_concentration=1.0)
    start = dict(initial_probs=jnp.asarray(case["pi"]), transition_matrix=jnp.asarray(case["A"]))
    if M == 1:
        # normal-inverse-gamma with nothing in it: its mode adds conc + 3/2 frames, so conc = -3/2
        model = DiagonalGaussianHMM(S, d, emission_prior_mean_concentration=1e-300, emission_prior_concentration=-1.5,
                                    emission_prior_scale=1e-300, **flat)
        params, props = model.initialize(method="prior", **start, emission_means=jnp.asarray(case["mu"][:, 0]),
                                         emission_scale_diags=jnp.sqrt(jnp.asarray(case["cov"][:, 0])))
    else:
        model = DiagonalGaussianMixtureHMM(S, M, d, emission_weights_concentration=1.0,
                                           emission_prior_mean_concentration=1e-300, emission_prior_shape=-1.5,
                                           emission_prior_scale=1e-300, **flat)
        params, props = model.initialize(method="prior", **start, emission_weights=jnp.asarray(case["c"]),
                                         emission_means=jnp.asarray(case["mu"]),
                                         emission_scale_diags=jnp.sqrt(jnp.asarray(case["cov"])))

    @jax.jit
    def step(params, m_state):
        stats, _ = jax.vmap(lambda e: model.e_step(params, e))(y)
        return model.m_step(params, props, stats, m_state)

    def run():
        p, m_state = params, model.initialize_m_step_state(params, props)
        t0 = time.process_time()
        for _ in range(N_ITER):
            p, m_state = step(p, m_state)
        jax.block_until_ready(p)
        seconds = time.process_time() - t0
        e = p.emissions
        return seconds, dict(pi=p.initial.probs, A=p.transitions.transition_matrix,
                             c=e.weights if M > 1 else case["c"], mu=np.reshape(e.means, case["mu"].shape),
                             cov=np.reshape(np.square(e.scale_diags if M == 1 else e.scale_diags), case["cov"].shape))
    return run


def pomegranate(case):
    import torch
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    from pomegranate.distributions import Normal
    from pomegranate.gmm import GeneralMixtureModel
    from pomegranate.hmm import DenseHMM
    S, M = case["c"].shape
    y = torch.tensor(case["y"])

    def normal(s, m):
        return Normal(torch.tensor(case["mu"][s, m]), torch.tensor(case["cov"][s, m]), covariance_type="diag",
                      min_cov=0.0)

    def state(s):
        return normal(s, 0) if M == 1 else GeneralMixtureModel([normal(s, m) for m in range(M)],
                                                               torch.tensor(case["c"][s]))

    def run():
        # It has a probability of ending in each state, which the others have not: given as equal, it is then fitted
        # as well, so its other parameters come out a little different.
        tiny = 1e-12
        model = DenseHMM([state(s) for s in range(S)], edges=(case["A"] * (1 - tiny)).tolist(),
                         starts=case["pi"].tolist(), ends=[tiny] * S, max_iter=N_ITER, tol=1e-300, verbose=False)
        t0 = time.process_time()
        model.fit(y)
        seconds = time.process_time() - t0
        each = model.distributions
        parts = [[e] if M == 1 else list(e.distributions) for e in each]
        A = np.exp(model.edges.detach().numpy())
        return seconds, dict(pi=np.exp(model.starts.detach().numpy()), A=A / A.sum(axis=1, keepdims=True),
                             c=case["c"] if M == 1 else np.stack([e.priors.detach().numpy() for e in each]),
                             mu=np.stack([[p.means.detach().numpy() for p in q] for q in parts]),
                             cov=np.stack([[p.covs.detach().numpy() for p in q] for q in parts]))
    return run


PROGRAMS = {
    "hmmlearn-log": lambda case: hmmlearn(case, "log"),
    "hmmlearn-scaling": lambda case: hmmlearn(case, "scaling"),
    "dynamax": dynamax,
    "pomegranate": pomegranate,
}


def main():
    program, path, out, repeat = sys.argv[1:5]
    with np.load(path) as f:
        case = {k: f[k] for k in f.files}
    best = np.inf
    with contextlib.redirect_stdout(sys.stderr):
        run = PROGRAMS[program](case)
        if program in ("dynamax", "pomegranate"):
            run()                                        # compiles, fills caches
        for _ in range(int(repeat)):
            seconds, result = run()
            best = min(best, seconds)
    np.savez(out, **{k: np.asarray(v, dtype=float) for k, v in result.items()})
    print(best)


main()
