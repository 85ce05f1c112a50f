# SPDX-License-Identifier: BSD-3-Clause
"""An iteration of VHEM from the equations of the paper (Section 3, Appendix A), for small HMMs with one Gaussian of one
dimension per state: slow, plain, and written without a look at the library."""
import math

from support import log, log_sum


def expected_log_gauss(b, beta, r, rho):
    """L_gmm for single Gaussians: E[log N(y; mu_r, var_r)] under N(mu_b, var_b)."""
    mb, vb = b["mu"][beta][0][0], b["cov"][beta][0][0]
    mr, vr = r["mu"][rho][0][0], r["cov"][rho][0][0]
    return -0.5 * (math.log(2 * math.pi * vr) + (vb + (mb - mr) ** 2) / vr)


def pair(b, r, tau):
    """L_hmm and the summary statistics nu1 [Sr], nu [Sr][Sb], xi [Sr][Sr] of one base and one reduced HMM."""
    Sb, Sr = b["S"], r["S"]
    e = [[expected_log_gauss(b, s, r, q) for q in range(Sr)] for s in range(Sb)]
    L = [[0.0] * Sr for _ in range(Sb)]                  # L_{t+1}(beta, rho): states at t
    phi = {}
    for t in range(tau, 1, -1):
        U = [[log_sum([log(r["A"][q][p]) + e[s][p] + L[s][p] for p in range(Sr)]) for q in range(Sr)]
             for s in range(Sb)]
        phi[t] = [[[math.exp(log(r["A"][q][p]) + e[s][p] + L[s][p] - U[s][q]) for p in range(Sr)]
                   for q in range(Sr)] for s in range(Sb)]            # [beta][rho_{t-1}][rho_t]
        L = [[sum(b["A"][s][s2] * U[s2][q] for s2 in range(Sb)) for q in range(Sr)] for s in range(Sb)]
    first = [log_sum([log(r["pi"][q]) + e[s][q] + L[s][q] for q in range(Sr)]) for s in range(Sb)]
    phi1 = [[math.exp(log(r["pi"][q]) + e[s][q] + L[s][q] - first[s]) for q in range(Sr)] for s in range(Sb)]
    bound = sum(b["pi"][s] * first[s] for s in range(Sb))
    nu = [[b["pi"][s] * phi1[s][q] for s in range(Sb)] for q in range(Sr)]               # [rho][beta]
    nu1 = [sum(row) for row in nu]
    total, xi = [row[:] for row in nu], [[0.0] * Sr for _ in range(Sr)]
    for t in range(2, tau + 1):
        come = [[sum(nu[q][s] * b["A"][s][s2] for s in range(Sb)) for s2 in range(Sb)] for q in range(Sr)]
        new = [[0.0] * Sb for _ in range(Sr)]
        for q in range(Sr):
            for p in range(Sr):
                for s in range(Sb):
                    x = come[q][s] * phi[t][s][q][p]
                    xi[q][p] += x
                    new[p][s] += x
        nu = new
        total = [[total[q][s] + nu[q][s] for s in range(Sb)] for q in range(Sr)]
    return bound, nu1, total, xi


def score(base, omega, centers, weight, N, tau):
    """L [Kb][Kr], z [Kb][Kr] and J."""
    L = [[pair(b, r, tau)[0] for r in centers] for b in base]
    J, z = 0.0, []
    for i, row in enumerate(L):
        terms = [log(w) + N * omega[i] * x for w, x in zip(weight, row)]
        whole = log_sum(terms)
        J += whole
        z.append([math.exp(x - whole) for x in terms])
    return L, z, J


def step(base, omega, centers, weight, N, tau):
    """The reduced model after one iteration: centres and their weights."""
    _, z, _ = score(base, omega, centers, weight, N, tau)
    result = []
    for j, r in enumerate(centers):
        S = r["S"]
        nu1, xi = [0.0] * S, [[0.0] * S for _ in range(S)]
        mass, first, second = [0.0] * S, [0.0] * S, [0.0] * S
        for i, b in enumerate(base):
            w = z[i][j] * omega[i]
            _, n1, nu, x = pair(b, r, tau)
            for q in range(S):
                nu1[q] += w * n1[q]
                for p in range(S):
                    xi[q][p] += w * x[q][p]
                for s in range(b["S"]):
                    mu, var = b["mu"][s][0][0], b["cov"][s][0][0]
                    mass[q] += w * nu[q][s]
                    first[q] += w * nu[q][s] * mu
                    second[q] += w * nu[q][s] * (var + mu * mu)
        mu = [first[q] / mass[q] for q in range(S)]
        result.append({"pi": [x / sum(nu1) for x in nu1], "A": [[x / sum(row) for x in row] for row in xi],
                       "mu": [[[m]] for m in mu],
                       "cov": [[[second[q] / mass[q] - mu[q] ** 2]] for q in range(S)], "S": S, "M": 1})
    return result, [sum(row[j] for row in z) / len(base) for j in range(len(centers))]
