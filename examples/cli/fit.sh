#!/bin/sh
# From a table to models, scores and state paths.  Usage: fit.sh sequences.csv, with the columns id and what was
# measured; VHEM names the command when it is not installed.
set -eu
vhem=${VHEM:-vhem}
data=${1:?usage: fit.sh DATA}

"$vhem" fit "$data" --states 2 --seed 1 --quiet -o models.json
"$vhem" info models.json
"$vhem" score models.json "$data" --quiet -o scores.tsv
"$vhem" decode models.json "$data" --quiet -o paths.tsv
head -n 3 scores.tsv paths.tsv
