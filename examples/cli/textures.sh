#!/bin/sh
# From a table to dynamic textures, a tree of clusters of them, and the cluster of each sequence.  Usage:
# textures.sh sequences.csv, with the columns id and what was measured; VHEM names the command when it is not installed.
set -eu
vhem=${VHEM:-vhem}
data=${1:?usage: textures.sh DATA}
out=example-textures # a folder of its own: no file of yours is replaced
mkdir -p "$out"

"$vhem" fit "$data" --model dtm --states 2 --seed 1 --quiet -o "$out/textures.json"
"$vhem" info "$out/textures.json"
"$vhem" tree "$out/textures.json" --method hem-dtm -k 3,2 --restarts 4 --seed 1 --quiet -o "$out/textures-tree.json"
"$vhem" assign "$out/textures-tree.json" "$data" --quiet
