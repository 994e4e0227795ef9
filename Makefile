# Every target installs what it lacks (tools/setup.sh), then works without network.
# The work itself is done by CMake presets; see CMakePresets.json.

BIN := build/bin
.DEFAULT_GOAL := build
.PHONY: build demo test bench web lint format fuzz asan setup install clean help

help: ## This list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 12

setup: ## Install what building needs
	@tools/setup.sh build

build: setup ## Build build/bin/opdrift
	@tools/build.sh release

demo: build ## Run a real model twice, compare, and see a planted culprit
	@tools/setup.sh models
	@tools/demo.sh

test: build ## The whole test suite
	@tools/setup.sh models networks web
	@tools/test.sh

bench: setup ## Measure speed and memory against the limit of the machine
	@tools/setup.sh bench
	@tools/build.sh bench
	@bench/run.sh

web: ## Bundle the page of HTML reports again (web/)
	@tools/setup.sh web
	@tools/web.sh build

lint: setup ## Format, clang-tidy, layers
	@tools/setup.sh lint
	@tools/lint.sh

format: ## Rewrite sources in the house format
	@tools/setup.sh lint
	@tools/sources.sh | xargs clang-format -i

asan: setup ## Tests under AddressSanitizer and UBSan
	@tools/setup.sh models
	@tools/test.sh asan

fuzz: setup ## Fuzz every reader; FUZZ_SECONDS each (default 60)
	@tools/setup.sh fuzz
	@tools/build.sh fuzz
	@tools/fuzz.sh

install: build ## Install into PREFIX (default /usr/local)
	@cmake --install build/release --prefix "$${PREFIX:-/usr/local}"

clean: ## Remove everything built; what was downloaded stays
	@rm -rf build/release build/dev build/clang build/asan build/tsan build/fuzz build/bench build/cover build/tidy $(BIN)
