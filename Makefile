# `make` lists the targets. The text after ## is the description of a target.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X github.com/org/foreman-action/internal/cli.buildVersion=$(VERSION)
FUZZTIME ?= 30s
BENCH_N  ?= 31
# Rounds of make bench-events, and the program of the build that it compares with; empty: none.
BENCH_ROUNDS ?= 5
OLD ?=
# A file to which make bench-queue and make bench-events also write their tables.
BENCH_OUT ?=
# The folder of the published actions that make bench times beside ours, as for import-compare;
# empty: only node.
ORIGINALS ?=
CRASH_ROUNDS ?= 1000
KILL_ROUNDS ?= 500
# make kill kills a PostgreSQL server this often.
POSTGRES_KILLS ?= 100
# make queue-races has this many times the rounds of go test.
QUEUE_ROUNDS ?= 20
SOAK_EVENTS ?= 100000
# A file to which make soak also writes its report.
SOAK_OUT ?=
# The URL of an empty PostgreSQL database that make bench-queue may fill. Without a value the
# benchmark starts a server of its own, if PostgreSQL is installed.
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

.PHONY: bin/action
bin/action: ## the program of the image, static
	CGO_ENABLED=0 go build -trimpath -tags nethttpomithttp2 -ldflags '-s -w -X github.com/org/foreman-action/internal/cli/image.buildVersion=$(VERSION)' -o $@ ./cmd/action

.PHONY: bin/foremand
bin/foremand: ## the server, static
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X github.com/org/foreman-action/internal/cli/foremand.buildVersion=$(VERSION)' -o $@ ./cmd/foremand

.PHONY: bin/contribflow
bin/contribflow: ## the contributor's program, static
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X github.com/org/foreman-action/internal/cli/contribflow.buildVersion=$(VERSION)' -o $@ ./cmd/contribflow

.PHONY: weight
weight: ## the memory of the server with 100,000 waiting tasks, on Linux
	go test ./cmd/foremand -run '^TestMemoryWithLongQueue$$' -v -weight.tasks=100000

.PHONY: test
test: ## every test that needs nothing but Go
	go test ./...

.PHONY: race
race: ## the tests with the race detector
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
lint: ## gofmt, golangci-lint with go vet, actionlint
	.ci/lint

.PHONY: pictures
pictures: ## redraw the pictures of the documentation, in Chromium
	go test ./internal/docs -run '^Test(Summary|Proposals|Explanation)Picture$$' -update
	go -C internal/e2e run ./cmd/pictures ../../docs/pictures
	FOREMAN_E2E_REQUIRE_BROWSER=1 go -C internal/e2e test . -count=1 -run '^TestPicture' -update

.PHONY: bench
bench: bin/action bin/foreman ## writes docs/benchmarks.md: the whole step beside node and other actions, rules, the queue; prints the packages' benchmarks
	go -C internal/e2e build -o ../../bin/ ./cmd/bench ./cmd/launch
	mkdir -p bin/pages
	go test ./rules -run '^$$' -bench '^BenchmarkDecide$$' -benchtime 0.3s -count 5 > bin/pages/decide.txt
	bin/bench -foreman bin/action -rules bin/pages/decide.txt -launch bin/launch -n $(BENCH_N) -out bin/pages/1-step.md $(if $(ORIGINALS),-originals '$(abspath $(ORIGINALS))' -import bin/foreman)
	{ printf '\n# Rules beside cel-go and Go regexps\n\n```text\n'; go -C internal/e2e test -run '^$$' -bench CEL -benchmem .; printf '```\n\n'; } > bin/pages/2-rules.md
	go -C internal/queuebench run . -quick $(if $(BENCH_POSTGRES),-postgres '$(BENCH_POSTGRES)') -out $(abspath bin/pages/3-queue.md)
	{ printf '# Benchmarks\n\n'; sed 's/^#/##/' bin/pages/?-*.md; } > docs/benchmarks.md
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-queue
bench-queue: ## the queue beside backlite, River, the disk and a bare HTTP handler
	go -C internal/queuebench run . $(if $(BENCH_POSTGRES),-postgres '$(BENCH_POSTGRES)') $(if $(BENCH_OUT),-out $(abspath $(BENCH_OUT)))

.PHONY: bench-events
bench-events: bin/foremand ## whole events, from webhook to comment; OLD=program compares with another build of foremand, in turns
	go -C internal/queuebench run ./events -new $(abspath bin/foremand) $(if $(OLD),-old $(abspath $(OLD))) -n $(BENCH_ROUNDS) $(if $(BENCH_OUT),-out $(abspath $(BENCH_OUT)))

.PHONY: queue-races
queue-races: ## several callers at once on every kind of queue, with 20 times the rounds of go test
	go test ./queue ./store/sqlite ./store/postgres -run '^Test(Pooled)?Queue$$/^parallel:' -timeout 60m -queue.rounds=$(QUEUE_ROUNDS)

.PHONY: kill
kill: ## kill the server and an agent at 500 steps, and PostgreSQL 100 times; look for lost or doubled writes
	go test ./internal/server/faults -run '^TestKill' -v -timeout 60m -kill.rounds=$(KILL_ROUNDS)
	go test ./store/postgres -run '^TestKill$$' -v -timeout 60m -kill.rounds=$(POSTGRES_KILLS)

.PHONY: soak
soak: ## 100,000 events through the server, an agent with rules and a GitHub with faults; SOAK_EVENTS
	go test ./internal/server/faults -run '^TestSoak$$' -v -timeout 5h -soak.events=$(SOAK_EVENTS) $(if $(SOAK_OUT),-soak.out=$(abspath $(SOAK_OUT)))

.PHONY: kill-build
kill-build: ## kill the pipeline of Builder and Inspector after every call of git, and resume it
	go test ./internal/coding/build -run '^TestKilled$$' -v -timeout 30m -kill.every=1

.PHONY: kill-contribution
kill-contribution: ## kill "contribflow pr --yes" after every call of git and gh, and run it again
	go test ./internal/cli/contribflow -run '^TestPublishKilled$$' -v -timeout 30m -kill.every=1

.PHONY: crash
crash: ## kill the program at 1,000 random calls and more, and look for lost or doubled writes
	go test . -run '^TestCrash' -v -timeout 60m -crash.rounds=$(CRASH_ROUNDS)

.PHONY: mutants
mutants: ## turn each refusal of policy and plan into a permission, and each condition of runner, its labels, agent and sanitize off: a test must fail; writes docs/proof/mutants.md
	mkdir -p bin
	go -C internal/e2e run ./cmd/mutants -root ../.. -out docs/proof/mutants.md -hints ../../bin/mutants.json

.PHONY: import-compare
import-compare: ## compare the actions that can be imported with ours; ORIGINALS=dir has their published files
	go test ./internal/importer/parity -run '^TestOriginals$$' -timeout 60m -originals='$(abspath $(or $(ORIGINALS),$(error name the directory: ORIGINALS=dir)))'
	go test ./internal/importer/parity -run '^TestRecorded$$' -timeout 20m -table='$(abspath docs/proof/import.md)'

.PHONY: e2e
e2e: ## end-to-end tests: the container as the runner starts it, a workflow under act, a browser; needs Docker
	go -C internal/e2e test -count=1 -v ./...

.PHONY: image
image: ## the action's image from a local base, as foreman:VERSION
	base=$$(.ci/images | head -n 1); \
	docker build --build-arg GO_IMAGE="$$base" --build-arg GOPROXY="$$(go env GOPROXY)" \
	  --build-arg VERSION=$(VERSION) -t foreman:$(VERSION) .

.PHONY: server-image
server-image: ## the image of the server, as foremand:VERSION, for compose.yaml
	go -C internal/release run . load -version $(VERSION)

.PHONY: release-check
release-check: ## all of a release that needs no login: two builds, images, archives, packages, workflows
	go -C internal/release test -count=1 ./... # they read files outside of their module, which the cache ignores
	go -C internal/release/tools test -count=1 ./...
	go -C internal/release run . rehearse -cold

.PHONY: site
site: ## build the documentation with a search, and the playground, as a static site in bin/site
	rm -rf bin/site
	go -C internal/e2e run ./cmd/site -root ../.. -out ../../bin/site

.PHONY: playground
playground: ## build the same site, serve it to this machine on port 8080 or the next free one, and open the playground
	rm -rf bin/site
	go -C internal/e2e run ./cmd/site -root ../.. -out ../../bin/site -serve 127.0.0.1:8080 -open playground/

.PHONY: ci
ci: ## all that continuous integration runs
	.ci/run
