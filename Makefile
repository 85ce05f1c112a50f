# vhem: two commands do everything on a fresh machine, `make demo` and `make test`.
# The build itself is CMake's (CMakePresets.json); this file only gives it short names.
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

SECONDS ?= 30

.PHONY: all setup demo check test verify asan fuzz format tidy bench docs reproduce wheel install uninstall clean

# The library and the command, no tests.  What CMake finds is shown only when something is missing.
all:
	@cmake --preset cpu -DVHEM_WERROR=OFF -DVHEM_TESTS=OFF >build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	@cmake --build --preset cpu -j $(JOBS)

setup:
	@scripts/setup

demo: setup
	@echo "Building vhem with $(JOBS) jobs: a minute or two the first time."
	@$(MAKE) --no-print-directory all
	@scripts/demo build/vhem demo

# Three lanes.  Their parts: ctest --test-dir build -N lists them, -L unit runs those of a label, -R tidy one by name.
#
# check: before every commit.  Units, golden numbers, layers, names, format; a minute and a half after the build.
# test: everything about behaviour, from the library to Python and a browser; ten minutes from a cold clone.
# verify: before a release.  Sanitizers, static analysis, fuzz targets, other builds, MPI, Dask; half an hour.
check test verify:
	@scripts/setup test
	cmake --preset test
	cmake --build --preset test -j $(JOBS)
	ctest --preset test -j $(JOBS) $(LANE_$@)

LANE_check  = -L 'unit|golden' -LE 'agree|check|property'
LANE_test   = -LE verify
LANE_verify = -L verify

asan:
	@scripts/setup test
	JOBS=$(JOBS) scripts/build asan
	ctest --preset asan -j $(JOBS)

# New inputs for every reader, for so many seconds each: make fuzz SECONDS=30
fuzz:
	@scripts/setup test
	JOBS=$(JOBS) scripts/build fuzz
	scripts/fuzz --seconds $(SECONDS) --jobs $(JOBS)

format:
	@scripts/setup test
	@scripts/format

tidy:
	@scripts/setup test
	@scripts/tidy

# The documentation as a site, build/site/html/index.html: guide, tutorials and references, with a search.
docs: all
	@scripts/setup docs
	@scripts/docs build

bench: setup
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS)
	scripts/bench build-bench

# The paper's experiments, all or one by the name of its folder: make reproduce-synthetic ARGS=--quick
EXPERIMENTS = $(patsubst experiments/%/run.py,%,$(wildcard experiments/*/run.py))
reproduce: all
	@bad=0; for e in $(EXPERIMENTS); do \
	    $(MAKE) --no-print-directory reproduce-$$e ARGS="$(ARGS)" || bad=1; done; exit $$bad

reproduce-%: all
	@VHEM=$(CURDIR)/build/vhem python3 experiments/$*/run.py $(ARGS) || [ $$? -eq 77 ]

# A wheel that needs no library of the system, the command packed, and a source archive, in dist/.  scripts/wheel all: of all systems.
wheel:
	@scripts/wheel

install: all
	cmake --install build --prefix "$(PREFIX)"

# Removes what the last "make install" put there.
uninstall:
	@test -f build/install_manifest.txt || { echo "Nothing to remove: there is no build/install_manifest.txt."; exit 1; }
	@while IFS= read -r f || [ -n "$$f" ]; do rm -f "$(DESTDIR)$$f"; done <build/install_manifest.txt
	@rm -f build/install_manifest.txt

clean:
	rm -rf dist build build-wheel build-aarch64 build-aarch64-root build-asan build-bench build-cuda build-debug build-fuzz build-mpi build-package build-plain build-tsan build.log demo
