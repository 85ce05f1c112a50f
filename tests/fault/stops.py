# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C at every allocation of small runs of every command and method, in turn.

The command then ends with status 130, a sentence, and either the old output or a new one that vhem can read (a table is whole
unless the sentence says that it is not); or the signal
came too late to matter, and the output is the same bytes as without it.  Every moment is tried twice: as it is, and as if the
step it falls into took a minute, so that work which would rather come to an end first is given up.
"""
import collections
import subprocess
import time

import faults

METHODS = ["vhem", "hem-gmm", "shem", "ppk-sc", "ppk-sc-hybrid", "kl-sc", "knn-sc", "kl-sampled-sc"]
MERGING = ["ppk-ac", "kl-ac", "kl-sampled-ac"]
COMMANDS = {
    **faults.COMMANDS,
    **{f"cluster-{m}": (f"cluster {{in}}/m.json -k 2 --method {m} {more} -o o.json", ["o.json"])
       for methods, more in ((METHODS, "-r 2 --max-iter 3"), (MERGING, "")) for m in methods},
    "cluster-em-h3m": ("cluster {in}/d.csv -k 2 -S 2 -r 2 --max-iter 3 --method em-h3m -o o.json", ["o.json"]),
    "cluster-search": ("cluster {in}/m.json -k 2 --search thorough --max-iter 3 -o o.json", ["o.json"]),
    "fit-ref": ("fit {in}/d.csv -S 2 -r 2 --max-iter 3 --prior none --backend ref -o o.json", ["o.json"]),
    "tree-ref": ("tree {in}/m.json -k 3,2 -r 2 --max-iter 2 --backend ref -o o.json", ["o.json"]),
    "classify-cross": ("classify cross {in}/d.csv --label label -S 2 -r 1 -k 1 --folds 2 -o o.tsv", ["o.tsv"]),
    "fit-mixture-textures": ("fit {in}/d.csv --model dtm -S 1 --max-iter 2 -k 2 -o o.json", ["o.json"]),
}


class Trial(faults.Trial):
    def __init__(self, vhem, shim, name, inputs, folder):
        self.vhem = vhem
        super().__init__(vhem, shim, name, inputs, folder, COMMANDS)

    def points(self, call, limit):
        if limit is None:
            return super().points(call, limit)
        total = self.calls[call]
        return [(1 + k * total // limit, late) for k in range(min(limit, total)) for late in (False, True)]

    def readable(self, name):
        """Outputs that info does not read are tables and pages: these are the usual ones."""
        if not name.endswith((".json", ".h5", ".npz", ".npy")):
            return (self.folder / name).read_bytes() == self.good[name]
        return subprocess.run([self.vhem, "info", name], cwd=self.folder, env=faults.environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def complaint(self, call, code, signal, where, died):
        error = (self.folder / ".err").read_text(errors="replace")
        found = self.files()
        if signal == 2:                                     # before the command looks after signals
            self.counts["at once"] += 1
        elif signal or code not in (0, 130):
            return f"ended by signal {signal}, status {code}, in {died}: {error}"
        elif code == 130:
            self.counts["told"] += 1
            if "interrupted" not in error:
                return f"no sentence: {error!r}"
        else:
            different = [k for k in set(found) | set(self.good) if found.get(k) != self.good.get(k)]
            return f"succeeded, but {', '.join(different)} differ" if different else None
        for name in self.outputs:
            if name in found and not name.endswith(".store") and found[name] != b"old":
                self.counts["kept"] += 1
                if "so far" not in error and not self.readable(name):
                    return f"{name} is neither the old one nor complete: {error}"
        extra = set(found) - set(self.outputs) - {".out"}
        return f"left behind: {', '.join(sorted(extra))}" if extra else None


def run_all(vhem, shim, limit, minutes=1e6, only=None, say=print):
    """(counts, what is wrong); each command gets its share of the minutes."""
    names = [n for n in COMMANDS if n != "info" and (not only or n in only)]
    total, wrong = collections.Counter(), []
    for trial in faults.trials(vhem, shim, Trial, names):
        trial.run(["stop"], limit, time.monotonic() + 60 * minutes / len(names))
        total += trial.counts
        wrong += trial.wrong
    say(f"{total['stop']} stops of {len(names)} commands: {total['told']} interrupted, of which {total['kept']} kept a result, "
        f"{total['at once']} before the start, {len(wrong)} failures")
    return total, wrong
