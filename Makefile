# The targets stand beside what they do; `make` lists them.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X github.com/org/foreman-action/internal/cli.buildVersion=$(VERSION)
FUZZTIME ?= 30s
BENCH_N  ?= 31
# Where make bench also writes its table, such as docs/proof/bench.md.
BENCH_OUT ?=
CRASH_ROUNDS ?= 1000
KILL_ROUNDS ?= 500
# An empty PostgreSQL database that make bench-queue may fill; empty: a server of its own is started,
# where one is installed.
BENCH_POSTGRES ?=

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: build
build: bin/foreman ## the program foreman, static

.PHONY: all
all: bin/foreman bin/foremand bin/contribflow ## the three programs, static

.PHONY: bin/foreman
bin/foreman:
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o $@ .

.PHONY: bin/foremand
bin/foremand: ## the server, static
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X github.com/org/foreman-action/internal/cli/foremand.buildVersion=$(VERSION)' -o $@ ./cmd/foremand

.PHONY: bin/contribflow
bin/contribflow: ## the contributor's program, static
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X github.com/org/foreman-action/internal/cli/contribflow.buildVersion=$(VERSION)' -o $@ ./cmd/contribflow

.PHONY: weight
weight: ## the memory of the server with 100,000 tasks that wait
	go test ./cmd/foremand -run '^TestMemoryWithLongQueue$$' -v -weight.tasks=100000

.PHONY: test
test: ## every test that needs nothing but Go
	go test ./...

.PHONY: race
race: ## the same tests with the race detector
	go test -race ./...

.PHONY: cover
cover: ## coverage by function, the least covered first, and the total
	go test -coverprofile=coverage.out -coverpkg=./... ./...
	go tool cover -func=coverage.out | sort -k3 -n | head -n 20
	go tool cover -func=coverage.out | tail -n 1

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (30s)
	.ci/fuzz $(FUZZTIME)

.PHONY: lint
lint: ## gofmt, go vet, golangci-lint, actionlint
	.ci/lint

.PHONY: bench
bench: bin/foreman ## the whole process on one event beside node, the packages' benchmarks, cel-go, the queue
	go -C internal/e2e build -o ../../bin/ ./cmd/bench ./cmd/launch
	bin/bench -foreman bin/foreman -launch bin/launch -n $(BENCH_N) $(if $(BENCH_OUT),-out $(BENCH_OUT))
	go test -run '^$$' -bench . -benchmem ./...
	go -C internal/e2e test -run '^$$' -bench CEL -benchmem .
	go -C internal/queuebench run . $(if $(BENCH_POSTGRES),-postgres '$(BENCH_POSTGRES)')

.PHONY: bench-queue
bench-queue: ## the queue beside backlite, River, the disk and a bare HTTP handler
	go -C internal/queuebench run . $(if $(BENCH_POSTGRES),-postgres '$(BENCH_POSTGRES)') $(if $(BENCH_OUT),-out $(abspath $(BENCH_OUT)))

.PHONY: kill
kill: ## kill the server and an agent at 500 steps, and look for lost or doubled writes
	go test ./internal/faults -run '^TestKill' -v -timeout 60m -kill.rounds=$(KILL_ROUNDS)

.PHONY: kill-build
kill-build: ## kill the pipeline of Builder and Inspector after every call of git, and go on with it
	go test ./internal/build -run '^TestKilled$$' -v -timeout 30m -kill.every=1

.PHONY: kill-contribution
kill-contribution: ## kill "contribflow pr --yes" after every call of git and gh, and run it again
	go test ./internal/cli/contribflow -run '^TestPublishKilled$$' -v -timeout 30m -kill.every=1

.PHONY: crash
crash: ## kill the program at 1,000 random calls and more, and look for lost or doubled writes
	go test . -run '^TestCrash' -v -timeout 20m -crash.rounds=$(CRASH_ROUNDS)

.PHONY: import-compare
import-compare: ## the actions that can be imported beside ours; ORIGINALS=dir has their published files
	go test ./internal/parity -run '^TestOriginals$$' -timeout 60m -originals='$(abspath $(or $(ORIGINALS),$(error name the directory: ORIGINALS=dir)))'
	go test ./internal/parity -run '^TestRecorded$$' -timeout 20m -table='$(abspath docs/proof/import.md)'

.PHONY: e2e
e2e: ## the container as the runner starts it, and once through act; needs Docker
	go -C internal/e2e test -count=1 -v ./...

.PHONY: image
image: ## the action's image from a local base, as foreman:VERSION
	docker build --build-arg GO_IMAGE="$$(.ci/images | head -n 1)" --build-arg GOPROXY="$$(go env GOPROXY)" \
	  --build-arg VERSION=$(VERSION) -t foreman:$(VERSION) .

.PHONY: ci
ci: ## all that continuous integration runs
	.ci/run
