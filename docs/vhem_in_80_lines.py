# SPDX-License-Identifier: BSD-3-Clause
"""VHEM in 80 lines, from the equations of the paper (Section 3, Appendices A and B): one Gaussian of one dimension per state.
Slow and plain; the tests compare the library with it.  An HMM is a dictionary as in a model file: S, pi, A, mu, cov.

    python3 vhem_in_80_lines.py models.json start.json      # prints the bound J of five iterations; nv = 10, tau = 5
"""
import json
import math
import sys


def log(x):
    return math.log(x) if x > 0 else -math.inf


def log_sum(terms):
    most = max(terms)
    return most if most == -math.inf else most + math.log(sum(math.exp(x - most) for x in terms))


def expected_log_gauss(b, beta, r, rho):
    """L_gmm, Section 3.2: E[log N(y; mu_r, var_r)] for y ~ N(mu_b, var_b)."""
    mb, vb = b["mu"][beta][0][0], b["cov"][beta][0][0]
    mr, vr = r["mu"][rho][0][0], r["cov"][rho][0][0]
    return -0.5 * (math.log(2 * math.pi * vr) + (vb + (mb - mr) ** 2) / vr)


def pair(b, r, tau):
    """Appendix A: L_hmm of a base HMM b under a reduced one r, and its summary statistics nu1 [Sr], nu [Sr][Sb], xi [Sr][Sr]."""
    Sb, Sr = b["S"], r["S"]
    e = [[expected_log_gauss(b, s, r, q) for q in range(Sr)] for s in range(Sb)]
    L = [[0.0] * Sr for _ in range(Sb)]                  # L_{t+1}(beta, rho): states at t
    phi = {}
    for t in range(tau, 1, -1):
        U = [[log_sum([log(r["A"][q][p]) + e[s][p] + L[s][p] for p in range(Sr)]) for q in range(Sr)] for s in range(Sb)]
        phi[t] = [[[math.exp(log(r["A"][q][p]) + e[s][p] + L[s][p] - U[s][q]) for p in range(Sr)]
                   for q in range(Sr)] for s in range(Sb)]            # [beta][rho_{t-1}][rho_t]
        L = [[sum(b["A"][s][s2] * U[s2][q] for s2 in range(Sb)) for q in range(Sr)] for s in range(Sb)]
    first = [log_sum([log(r["pi"][q]) + e[s][q] + L[s][q] for q in range(Sr)]) for s in range(Sb)]
    phi1 = [[math.exp(log(r["pi"][q]) + e[s][q] + L[s][q] - first[s]) for q in range(Sr)] for s in range(Sb)]
    bound = sum(b["pi"][s] * first[s] for s in range(Sb))
    nu = [[b["pi"][s] * phi1[s][q] for s in range(Sb)] for q in range(Sr)]               # [rho][beta]
    nu1, total, xi = [sum(row) for row in nu], [row[:] for row in nu], [[0.0] * Sr for _ in range(Sr)]
    for t in range(2, tau + 1):
        come = [[sum(nu[q][s] * b["A"][s][s2] for s in range(Sb)) for s2 in range(Sb)] for q in range(Sr)]
        nu = [[0.0] * Sb for _ in range(Sr)]
        for q in range(Sr):
            for p in range(Sr):
                for s in range(Sb):
                    x = come[q][s] * phi[t][s][q][p]
                    xi[q][p] += x
                    nu[p][s] += x
        total = [[total[q][s] + nu[q][s] for s in range(Sb)] for q in range(Sr)]
    return bound, nu1, total, xi


def score(base, omega, centers, weight, N, tau):
    """E-step, Section 3.3: L [Kb][Kr], z [Kb][Kr] and the bound J."""
    L = [[pair(b, r, tau)[0] for r in centers] for b in base]
    terms = [[log(w) + N * o * x for w, x in zip(weight, row)] for o, row in zip(omega, L)]
    whole = [log_sum(row) for row in terms]
    return L, [[math.exp(x - w) for x in row] for row, w in zip(terms, whole)], sum(whole)


def step(base, omega, centers, weight, N, tau):
    """An iteration, E-step and M-step (Section 3.4, Appendix B): the new centres and their weights."""
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
        result.append({"pi": [x / sum(nu1) for x in nu1], "A": [[x / sum(row) for x in row] for row in xi], "S": S, "M": 1,
                       "mu": [[[m]] for m in mu], "cov": [[[second[q] / mass[q] - mu[q] ** 2]] for q in range(S)]})
    return result, [sum(row[j] for row in z) / len(base) for j in range(len(centers))]


if __name__ == "__main__":
    models, start = (json.load(open(path)) for path in sys.argv[1:3])
    start = start.get("centers", start)
    centers, weight, N = start["hmms"], start["omega"], 10 * len(models["hmms"])
    for k in range(6):
        print(k, score(models["hmms"], models["omega"], centers, weight, N, 5)[2])
        centers, weight = step(models["hmms"], models["omega"], centers, weight, N, 5)
