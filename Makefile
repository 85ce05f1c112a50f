# vhem: two commands do everything on a fresh machine, `make demo` and `make test`.
# The build itself is CMake's (CMakePresets.json); this file only gives it short names.
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

.PHONY: all setup demo test asan bench reproduce install clean

all:
	@cmake --preset cpu -DVHEM_WERROR=OFF $(QUIET)
	@cmake --build --preset cpu -j $(JOBS) $(QUIET)

setup:
	@scripts/setup

demo: setup
	@$(MAKE) --no-print-directory all QUIET='>build.log 2>&1' || { cat build.log; exit 1; }
	@rm -f build.log
	@scripts/demo build/vhem demo

test:
	@scripts/setup test
	cmake --preset test
	cmake --build --preset test -j $(JOBS)
	ctest --preset test -j $(JOBS)

asan:
	@scripts/setup test
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)

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

install: all
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-asan build-bench build.log demo
