#!/bin/sh
# From a table to models, scores and state paths.  Usage: fit.sh sequences.csv, with the columns id and what was
# measured; VHEM names the command when it is not installed.
set -eu
vhem=${VHEM:-vhem}
data=${1:?usage: fit.sh DATA}
out=example-fit # a folder of its own: no file of yours is replaced
mkdir -p "$out"

"$vhem" fit "$data" --states 2 --seed 1 --quiet -o "$out/models.json"
"$vhem" info "$out/models.json"
"$vhem" score "$out/models.json" "$data" --quiet -o "$out/scores.tsv"
"$vhem" decode "$out/models.json" "$data" --quiet -o "$out/paths.tsv"
head -n 3 "$out/scores.tsv" "$out/paths.tsv"
