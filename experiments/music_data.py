# SPDX-License-Identifier: BSD-3-Clause
"""Songs with tags as the commands read them: CAL500 and GTZAN, cut into fragments, with their tags and five folds; tag
models of a fold, and the measures of the paper's Table 4.  Shared by the experiments
`music`, `music_settings` and `robustness`.

Fragments share the rows of one array, and an index beside it says where each begins: overlap takes no room.  Columns of
the index say which songs are for training and which for testing in each fold.
"""
import array
import csv
import dataclasses
import json
import os
import pathlib
import shutil
import statistics

from arrays import read_npy, write_rows
from common import mean, paired, vhem

FOLDS = 5
MEASURES = {"P": "precision", "R": "recall", "F": "F", "MAP": "AP", "P@5": "P@5", "P@10": "P@10", "P@15": "P@15"}
NATS = "log p per frame"                 # of held-out songs under the model of their own tag
HINT = {
    "cal500": "The tags are those of CAL500 (Computer Audition Laboratory, UC San Diego); cal500_specmfcc.npy has 127 "
              "frames of 13 coefficients for each of 500 songs.",
    "gtzan": "13 MFCCs of the middle 640 frames (22.05 kHz, hop 512) of the first 50 clips of each genre of GTZAN "
             "(marsyas.info), as int16, times 100.",
}


@dataclasses.dataclass
class Song:
    name: str
    start: int                           # its first row of the array
    length: int
    tags: list
    fold: int


@dataclasses.dataclass
class Files:
    """What the commands read."""
    folder: pathlib.Path
    tags: list
    songs: list
    data: dict                           # dense, sparse -> path of the array


def cal500(x):
    """Its songs, the numbers of their frames and their dimension, its tags."""
    source = x.data("cal500/cal500_specmfcc.npy", HINT["cal500"]).parent
    numbers, d = read_npy(source / "cal500_specmfcc.npy")
    words = [w.strip().strip(",") for w in (source / "vocab.txt").read_text().split("\n") if w.strip()]
    has = [[float(v) > 0 for v in line.split(",")]
           for line in (source / "hardAnnotations.txt").read_text().split("\n") if line.strip()]
    kept = [k for k, w in enumerate(words) if not w.endswith("-Solo") and "Genre-Best" not in w]
    x.check("CAL500: songs, tags without -Solo and Genre-Best, dimensions", (len(has), len(kept), d), (502, 149, 13))
    kept = [k for k in kept if sum(row[k] for row in has) >= 30]
    x.check("CAL500: tags of 30 songs or more", len(kept), 97)
    with open(source / "cal500_specmfcc_index.csv", encoding="utf-8") as f:
        songs = [Song(r["name"], int(r["start"]), int(r["length"]), [words[k] for k in kept if has[int(r["song"])][k]],
                      n % FOLDS) for n, r in enumerate(csv.DictReader(f))]
    x.check("CAL500: songs with features", len(songs), 500)
    return songs, numbers, d, [words[k] for k in kept]


def gtzan(x):
    """The same of GTZAN; its genres are the tags.  Neighbours are often by one artist, so that a fold is ten of them in
    a row, of each genre; one recording is there twice."""
    source = x.data("gtzan_mfcc/gtzan_mfcc_x100.npy", HINT["gtzan"]).parent
    numbers, d = read_npy(source / "gtzan_mfcc_x100.npy")
    with open(source / "gtzan_mfcc_x100_index.csv", encoding="utf-8") as f:
        songs = [Song(r["file"], int(r["start"]), int(r["length"]), [r["genre"]], int(r["file"].split(".")[1]) // 10)
                 for r in csv.DictReader(f)]
    genres = sorted({song.tags[0] for song in songs})
    x.check("GTZAN: clips, genres, frames, dimensions", (len(songs), len(genres), len(numbers) // d, d),
            (500, 10, 320000, 13))
    return ([song for song in songs if song.name != "hiphop.00045"], array.array("f", (v / 100 for v in numbers)), d,
            genres)


SETS = {"cal500": cal500, "gtzan": gtzan}


def normalised(y, d, how):
    """Each dimension of a song with mean 0 ("mean"), and deviation 1 too ("deviation")."""
    shift = [statistics.fmean(y[k::d]) for k in range(d)]
    scale = [statistics.pstdev(y[k::d], shift[k]) or 1 if how == "deviation" else 1 for k in range(d)]
    return array.array("f", [(v - shift[k % d]) / scale[k % d] for k, v in enumerate(y)])


def with_derivatives(y, d):
    """y with its first and second differences between neighbours; the ends are held."""
    before, after = y[:d] + y[:-d], y[d:] + y[-d:]
    first = array.array("f", [(b - a) / 2 for a, b in zip(before, after)])
    second = array.array("f", [a + b - 2 * m for a, b, m in zip(before, after, y)])
    rows = array.array("f")
    for t in range(0, len(y), d):
        for part in (y, first, second):
            rows.extend(part[t:t + d])
    return rows


def prepare(x, name, settings, folder):
    """Writes the arrays dense.npy and sparse.npy with their indices, and tables of tags, below folder."""
    songs, numbers, d, tags = SETS[name](x)
    songs = songs[::settings.get("every", 1)]
    folder.mkdir()
    rows = array.array("f")
    for song in songs:
        y = numbers[d * song.start:d * (song.start + song.length)]
        if settings.get("normalise"):
            y = normalised(y, d, settings["normalise"])
        song.start = len(rows) // (3 * d if settings["derivatives"] else d)
        rows.extend(with_derivatives(y, d) if settings["derivatives"] else y)
    data = {"dense": folder / "dense.npy", "sparse": folder / "sparse.npy"}
    write_rows(data["dense"], rows, 3 * d if settings["derivatives"] else d)
    os.link(data["dense"], data["sparse"])
    length = settings["length"]
    for kind, hop in (("dense", settings["hop"]), ("sparse", length)):
        all_of_them = [(song, at) for song in songs for at in range(0, song.length - length + 1, hop)]
        if kind == "sparse":             # evenly spread: the n-th is kept where the running share passes a whole number
            share = settings["kept"]
            all_of_them = [f for n, f in enumerate(all_of_them) if int((n + 1) * share) > int(n * share)]
        with open(folder / f"{kind}_index.csv", "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f)
            out.writerow(["seq", "start", "length", "song", "test_tag", *(f"fold{k}" for k in range(FOLDS))])
            out.writerows([f"f{n}", song.start + at, length, song.name, f"{song.fold}:{''.join(song.tags[:1])}",
                           *("test" if song.fold == k else "train" for k in range(FOLDS))]
                          for n, (song, at) in enumerate(all_of_them))
    for fold in range(FOLDS):
        for part, inside in (("train", False), ("test", True)):
            with open(folder / f"{part}{fold}.csv", "w", newline="", encoding="utf-8") as f:
                out = csv.writer(f)
                out.writerow(["song", "tag"])
                out.writerows([s.name, tag] for s in songs if (s.fold == fold) == inside for tag in s.tags)
    return Files(folder, tags, songs, data)


def chance(files, top):
    """What the measures are, in the mean, when songs are given `top` tags and ranked by chance."""
    rows = []
    for fold in sorted({song.fold for song in files.songs}):
        songs = [song for song in files.songs if song.fold == fold]
        n, h = len(songs), sum(1 / r for r in range(1, len(songs) + 1))
        for tag in files.tags:
            own = sum(tag in song.tags for song in songs)
            share, recall = own / n, top / len(files.tags)
            if own:                      # of n ranks, each as likely to be one of the own
                ap = (h + (own - 1) / (n - 1) * (n - h)) / n
                rows.append([share, recall, 2 * share * recall / (share + recall), ap, share, share, share])
    return [mean(column) for column in zip(*rows)]


def has_one(estimator):
    """Is there one HMM to a song?  The kernel methods have one, as in the paper."""
    return estimator.startswith("ppk") or estimator.endswith("-one")


def of_textures(estimator):
    return estimator == "hem-dtm"


def fit_shape(s, estimator):
    """Options of the HMMs, or textures, of a song."""
    if of_textures(estimator):
        return ["--model", "dtm", "--states", s["texture"], "--mixture", 1]
    return ["--states", s["states"], "--mix", s["mix"], "--mixture", 1 if has_one(estimator) else s["mixture"]]


def song_store(job):
    """The HMMs of every song in a store.  job: files, their settings, the estimator, options of the training, a name
    for the store.  Returns the store and the seconds."""
    files, s, estimator, train, name = job
    given = dict(zip(train[::2], train[1::2]))
    fit = ["--restarts", given["--fit-restarts"], "--tol", given["--fit-tol"]]
    if not of_textures(estimator):
        fit += ["--cov", given.get("--cov", "diag"), "--prior", given["--fit-prior"]]
    store = files.folder / f"{name}.store"
    _, seconds = vhem("fit", files.data["dense"], "--group", "song", "--store", store, *fit_shape(s, estimator), *fit,
                      "-o", os.devnull)
    return store, seconds


def held_out(files, fold, model):
    """Log-likelihood per frame of the songs of a fold under the model of their tag, where songs have one tag each."""
    nats = {}
    for c in json.loads(model.read_text())["classes"]:
        own = model.with_name("tag.json")
        own.write_text(json.dumps(c["model"]))
        said, _ = vhem("score", own, files.data["sparse"], "--where", f"test_tag={fold}:{c['name']}")
        nats[c["name"]] = mean(row["per_frame"] for row in said["sequences"])
    return nats


def fold_models(job):
    """Tag models without a fold, and how well they do on it.  job: files, fold, which data, options, the store of songs
    or None, options of the judgement.  Returns the measures of each tag, and seconds; nats, where tags exclude each
    other."""
    files, fold, kind, options, store, judge = job
    folder = files.folder / f"job-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    model, own = folder / "model.json", folder / "store"
    keep = ["--no-store"]
    if store:                            # a store has one user at a time
        shutil.copyfile(store, own)
        keep = ["--store", own]
    songs = {part: ["--group", "song", "--where", f"fold{fold}={part}", "--tags", files.folder / f"{part}{fold}.csv"]
             for part in ("train", "test")}
    _, seconds = vhem("annotate", "train", files.data[kind], *songs["train"], *options, *keep, "-o", model)
    said, _ = vhem("annotate", "eval", model, files.data["dense"], *songs["test"], *judge)
    nats = held_out(files, fold, model) if all(len(song.tags) == 1 for song in files.songs) else {}
    shutil.rmtree(folder)
    return {"tags": {t["name"]: {**{m: t[key] for m, key in MEASURES.items()}, NATS: nats.get(t["name"])}
                     for t in said["tags"] if t["n"] > 0}, "seconds": seconds}


def by_tag(folds, tags):
    """Each measure of each tag, the mean over the folds whose songs have it."""
    return {m: [mean(f["tags"][tag][m] for f in folds if tag in f["tags"]) for tag in tags] for m in (*MEASURES, NATS)}


def paired_p(a, b):
    """The p-value of a paired t-test over the tags that were judged; 1 where nothing differs."""
    p = paired(*zip(*((u, v) for u, v in zip(a, b, strict=True) if u is not None and v is not None)))[1]
    return 1.0 if p is None else p
