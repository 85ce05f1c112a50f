#!/bin/sh
# Learns the classes of sequences, judges by cross-validation, and classifies.  Usage: classify.sh train.csv new.csv,
# with the columns id, label and what was measured; VHEM names the command when it is not installed.
set -eu
vhem=${VHEM:-vhem}
train=${1:?usage: classify.sh TRAIN NEW}
new=${2:?usage: classify.sh TRAIN NEW}
out=example-classify # a folder of its own: no file of yours is replaced
mkdir -p "$out"

"$vhem" classify cross "$train" --states 2 --hmms 2 --folds 3 --seed 1 --quiet | head -n 4
"$vhem" classify train "$train" --states 2 --hmms 2 --seed 1 --quiet -o "$out/classes.json"
"$vhem" info "$out/classes.json"
"$vhem" classify predict "$out/classes.json" "$new" --quiet | head -n 5
