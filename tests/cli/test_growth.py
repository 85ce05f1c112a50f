# SPDX-License-Identifier: BSD-3-Clause
"""Memory and processor time grow no faster than the work.  Limits leave room for slow machines: what they are for
is ten times beyond."""
import json
import os
import random
import subprocess
import unittest

from support import VHEM, Case


def lacking(n, d, patterns):
    """Models of d columns, with so many different sets of columns that they lack."""
    rng = random.Random(n)
    hmms = []
    for i in range(n):
        lacks = [k > 0 and i % patterns >> (k - 1) & 1 for k in range(d)]
        mu = [[[None if a else rng.gauss(0, 3) for a in lacks]] for _ in range(3)]
        cov = [[[None if a else rng.uniform(0.5, 2) for a in lacks]] for _ in range(3)]
        hmms.append({"S": 3, "M": 1, "pi": [0.5, 0.25, 0.25], "A": [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
                     "c": [[1]] * 3, "mu": mu, "cov": cov})
    return json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": d,
                       "omega": [1 / n] * n, "hmms": hmms})


class Growth(Case):
    def cost(self, *args, code=0):
        """Seconds of processor time and megabytes at most, and what was said."""
        run = subprocess.Popen([VHEM, *map(str, args)], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
        said = run.stderr.read()
        run.stderr.close()
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, code, said)
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said

    def test_columns_that_some_lack(self):
        """Of each model a kernel with itself for each set of columns, and no table of them."""
        args = ["--kind", "ppk", "--force", "-t", 1, "-o", "k.npy", "-q"]
        self.write("all.json", lacking(512, 12, 1))
        self.write("some.json", lacking(512, 12, 64))
        plain = min(self.cost("compare", "all.json", *args)[0] for _ in range(3))
        self.assertLess(self.cost("compare", "some.json", *args)[0], 50 * plain)

    def test_wide_models(self):
        """With a diagonal covariance nothing has d^2 numbers."""
        d, rng = 4096, random.Random(1)
        hmms = [{"S": 2, "M": 1, "pi": [0.5, 0.5], "A": [[0.5, 0.5], [0.5, 0.5]], "c": [[1], [1]],
                 "mu": [[[round(rng.gauss(s, 1), 3) for _ in range(d)]] for s in range(2)], "cov": [[[1] * d]] * 2}
                for _ in range(4)]
        self.write("wide.json", json.dumps({"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": d,
                                            "omega": [0.25] * 4, "hmms": hmms}))
        empty = self.cost("--version")[1]
        most = self.cost("cluster", "wide.json", "-k", 2, "--search", "restarts", "-r", 1, "-t", 1, "-o", "c.json")[1]
        self.assertLess(most - empty, 120)
        most = self.cost("report", "c.json", "-o", "r.html")[1]
        self.assertLess(most - empty, 120)

    def test_json(self):
        """Reading models as JSON takes their text and their numbers, and no tree of all."""
        one = json.dumps({"S": 2, "M": 1, "pi": [0.5, 0.5], "A": [[0.5, 0.5], [0.5, 0.5]], "c": [[1], [1]],
                          "mu": [[[0.1]], [[3.5]]], "cov": [[[1]], [[2]]]})
        with open(self.path("m.json"), "w") as f:       # piece by piece: what this process held would count below
            f.write('{"format": "vhem-h3m", "version": 1, "hmms": [' + one)
            for _ in range(49999):
                f.write(",\n" + one)
            f.write('], "omega": [2e-5' + ", 2e-5" * 49999 + '], "d": 1, "emission": "gaussian-diag"}')
        size = self.path("m.json").stat().st_size / 1e6
        empty = self.cost("--version")[1]
        self.assertLess(self.cost("info", "m.json")[1] - empty, 10 + 8 * size)


if __name__ == "__main__":
    unittest.main()
