# The targets stand beside what they do; `make` lists them.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X github.com/org/foreman-action/internal/app.buildVersion=$(VERSION)
FUZZTIME ?= 30s
BENCH_N  ?= 31
# Where make bench also writes its table, such as docs/proof/bench.md.
BENCH_OUT ?=
CRASH_ROUNDS ?= 1000

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: build
build: bin/foreman ## the program, static, as the image holds it

.PHONY: bin/foreman
bin/foreman:
	CGO_ENABLED=0 go build $$(sed 's/,slim//' .ci/release-flags) -ldflags '$(LDFLAGS)' -o $@ .

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
bench: bin/foreman ## the whole process on one event beside node, then the packages' benchmarks
	go -C internal/e2e build -o ../../bin/ ./cmd/bench ./cmd/launch
	bin/bench -foreman bin/foreman -launch bin/launch -n $(BENCH_N) $(if $(BENCH_OUT),-out $(BENCH_OUT))
	go test -run '^$$' -bench . -benchmem ./...
	go -C internal/e2e test -run '^$$' -bench CEL -benchmem .

.PHONY: crash
crash: ## kill the program at 1,000 random calls and more, and look for lost or doubled writes
	go test . -run '^TestCrash' -v -timeout 20m -crash.rounds=$(CRASH_ROUNDS)

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
