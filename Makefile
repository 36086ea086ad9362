# Building and testing need Go, make, git and sh. A browser, a C compiler for the race detector, node for lint and the applications of
# e2e/apps, and what else scripts/versions.sh lists, are installed when they are missing or too old. The tools are pinned in tools/go.mod and built into .cache/bin.

VERSION  = $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 10s
SOAKTIME ?= 30m
STEPS    ?= 20000
CANCELS  ?= 1000
FAULTS   ?= 56
BIN      := .cache/bin
PROGRAM  := .cache/program/domtap
# go test, with a report at the end.
REPORT   := .cache/program/testreport
LONG     := AnswersAgree|CancelledCalls|Hostile|StaleRef|Converge|Guarantee|FreshWalk|BehindOthers|MemoryOfReaders|ReadersOfEveryPace|CutFile|DamageEnds|BecomeTabs|DialogsAreState|DialogPolicies|PagesThatHang|CommandsInTheDocuments|Floods|ExtractIsBounded|TestLoad$$|Uploads|HaveTheSize|TestDownloads$$|OnlyListen|NeverOver|AnythingMayBeAsked|ModelEquals|DeadNode|Draining|DeathOfALeader|DeathOfTheLeader|NodeThatIsSilent|WriteThatIsLost|ReplayAnswersAsTheGauntlet|ProgramsOfARecording|TestComponents|CrowdAtBothDoors|LargestEvents|TestHour$$
# What make test-long runs on a full browser, too, as tests run on the headless shell where that is installed: what the two differ in,
# or might.
FULL     := Clipboard|FrozenPage|Thaw|Permission|Prompt|Hovered|NothingOpens|WindowsBecomeTabs|Deliver|PagesThatHang|Downloads|Dialogs|Screenshot|ShownPasswords|PDF|Pdf|Emulat|CancelledOpenTab|DiedBeforeIt|Swept|Attach|Upload
ONFULL   := ./e2e ./e2e/acting ./e2e/sessions ./e2e/sideeffects ./e2e/capture ./e2e/secrets
# The packages whose tests take longest begin first, so that none of them is left to run alone at the end. Four at once on two
# cores: browsers that start and end, and tests that wait, leave some of them idle.
LONGEST  := ./e2e/acting ./e2e ./e2e/streams ./cmd/domtap ./e2e/adversarial ./e2e/live ./e2e/capture ./e2e/sideeffects ./internal/browser/observer ./e2e/components ./e2e/gauntlet ./internal/server ./internal/cluster ./e2e/sessions ./e2e/secrets ./e2e/tasks ./internal/recording ./bench/peers

# The version is stamped by -ldflags, so Go need not ask git, which refuses a checkout of another user's.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)
# Node of scripts/install-node, where that of the machine is too old.
export PATH := $(CURDIR)/.cache/node/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: release try-release vulncheck help build demo demo-cluster picture check test test-long test-cluster faults bench bench-peers tasks soak load fuzz gen checkgenerate lint tidy-check tools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## build bin/domtap
	go build -ldflags '-X main.version=$(VERSION)' -o bin/domtap ./cmd/domtap

release: ## build the release files in dist/; ONLY=archive|deb|rpm|wheel|npm builds one kind
	ONLY="$(ONLY)" scripts/release $(VERSION) $(PLATFORMS)

try-release: ## build a release for this platform twice, compare the builds, and test the packages and clients
	scripts/try-release $(VERSION)

demo: ## show domtap at work on a live page
	@scripts/check-go
	@scripts/install-chromium
	@scripts/demo $(VERSION)

demo-cluster: ## show a cluster of three daemons while nodes are killed
	scripts/install-chromium
	go build -tags cluster -o bin/domtap-cluster ./cmd/domtap
	go run ./cmd/democluster -domtap bin/domtap-cluster

# The pictures show the commit, also while they are about to change.
picture: VERSION = $(shell git describe --tags --always 2>/dev/null || echo dev)
picture: build ## update the pictures of README.md and the live page
	scripts/install-chromium
	DOMTAP_PROGRAM="$(CURDIR)/bin/domtap" go test -count=1 -run=TestPicture ./cmd/demo -picture="$(CURDIR)/docs/session.svg"
	scripts/live-page-pictures bin/domtap docs

# make lint vets. Test programs have no DWARF, which is a quarter of the work of linking them; panics and races are reported all the same.
# A program with the race detector sleeps for a second before it exits, unless told otherwise: each command of a test would.
# DOMTAP_PROGRAM is the program that the tests run as a process: one build for all packages.
test: export GOFLAGS := $(GOFLAGS) -ldflags=-w
test: ## run all tests with the race detector
	@scripts/check-go
	@scripts/install-chromium
	@scripts/install-compiler
	@scripts/install-curl
	@scripts/install-apps
	@scripts/install-components
	@scripts/install-examples
	@scripts/install-mcp-client
	@scripts/install-agents
	@scripts/quietly "Downloading the Go modules" go list -deps -test ./...
	@scripts/quietly "Building domtap" go build -o .cache/program/ ./cmd/domtap ./cmd/testreport
	GORACE="$(strip $(GORACE) atexit_sleep_ms=10)" DOMTAP_PROGRAM="$(CURDIR)/$(PROGRAM)" \
		$(REPORT) -race -vet=off -p=4 -timeout=15m $(TESTFLAGS) $(LONGEST) ./...

# A test that needs a browser is skipped when testing.Short() holds: testenv.NeedBrowser sees to that. The packages below e2e have no other tests.
# make lint vets, which is a fifth of the work of a first run. Twice as many packages as processors are tested at once, because some mostly wait.
check: ## compile, and run the tests that need no browser, without the race detector
	@scripts/check-go
	@go build -o .cache/program/ ./cmd/testreport
	$(REPORT) -short -vet=off -ldflags=-w -p=$$((2 * $$(getconf _NPROCESSORS_ONLN))) $(TESTFLAGS) $$(go list ./... | grep -v /e2e)

# The tests of LONG are those that testenv.Size, testenv.Long or one of the variables makes longer.
test-long: ## run the slow tests, some also on full Chromium: STEPS (20000) random steps, CANCELS (1000) canceled calls, large pages
	scripts/install-chromium
	scripts/install-apps
	scripts/install-components
	scripts/install-curl
	DOMTAP_LONG=1 DOMTAP_STEPS=$(STEPS) DOMTAP_CANCELS=$(CANCELS) \
		go test -count=1 -p=2 -timeout=4h $(TESTFLAGS) -run='$(LONG)' ./e2e/delivery ./e2e ./e2e/acting ./e2e/adversarial ./e2e/sideeffects ./e2e/streams ./e2e/capture ./internal/server ./cmd/domtap ./e2e/soak ./bench ./actor/model ./internal/cluster ./internal/cluster/replication ./internal/recording ./internal/endpoint ./e2e/gauntlet ./e2e/components ./e2e/hour ./e2e/clients ./internal/gateway
	go test -tags cluster -count=1 $(TESTFLAGS) -run='Compose|SettingsOfClusters|Initialization' ./cmd/domtap
	go test -tags cluster -count=1 -timeout=30m $(TESTFLAGS) ./e2e/cluster
	DOMTAP_CHROME="$${DOMTAP_CHROME:-$$(scripts/full-chromium)}" go test -count=1 -p=2 -timeout=30m $(TESTFLAGS) -run='$(FULL)' $(ONFULL)

test-cluster: ## run the tests of clusters of three daemons, and measure the cost of a cluster
	scripts/install-chromium
	DOMTAP_LONG=1 go test -tags cluster -count=1 -timeout=30m $(TESTFLAGS) ./e2e/cluster

faults: ## inject FAULTS (56) random faults, or faults of kind FAULT, into a cluster in use, and report the result of each call
	scripts/install-chromium
	DOMTAP_CLUSTER_FAULTS=$(FAULTS) DOMTAP_CLUSTER_FAULT="$(FAULT)" go test -tags cluster -count=1 -v -timeout=4h -run=RandomFaults ./e2e/cluster

tasks: ## solve ten tasks over MCP with domtap and with Playwright MCP, and print the costs
	scripts/install-chromium
	scripts/install-playwright-mcp
	DOMTAP_PLAYWRIGHT_MCP=1 go test -count=1 -v $(TESTFLAGS) ./e2e/tasks

bench: ## run the benchmarks
	scripts/install-chromium
	scripts/install-apps
	go test -run='^$$' -bench=. -timeout=30m $(TESTFLAGS) ./bench/...

bench-peers: build ## compare with agent-browser, Playwright MCP and chrome-devtools-mcp, and update the figures in docs/ and README.md
	scripts/install-chromium
	scripts/install-apps
	scripts/install-peers
	DOMTAP_PROGRAM="$(CURDIR)/bin/domtap" go test -count=1 -v -timeout=0 ./bench/peers -run=Comparison -compare $(PEERSFLAGS)

soak: build ## follow a page at 60 Hz with ten clients for SOAKTIME (30m), and fail if memory or another resource grows
	scripts/install-chromium
	DOMTAP_PROGRAM="$(CURDIR)/bin/domtap" go test -count=1 -v -timeout=0 -run=TestSoak ./e2e/soak -time=$(SOAKTIME)

load: build ## load the daemon with 50 changing tabs and 1,000 calls per second for SOAKTIME, and fail if a resource grows or calls are slow
	scripts/install-chromium
	DOMTAP_PROGRAM="$(CURDIR)/bin/domtap" go test -count=1 -v -timeout=0 -run=TestLoad ./e2e/soak -tabs=50 -still=10 -hz=10 -calls=1000 -age=1s -nice=10 -p50=20ms -p99=300ms -time=$(SOAKTIME)

fuzz: ## run each fuzz target for FUZZTIME (10s)
	scripts/fuzz $(FUZZTIME)

gen: $(BIN)/buf $(BIN)/protoc-gen-go $(BIN)/protoc-gen-go-grpc ## generate gen/ from proto/
	$(BIN)/buf generate

checkgenerate: $(BIN)/buf $(BIN)/protoc-gen-go $(BIN)/protoc-gen-go-grpc ## fail if gen/ is stale
	scripts/checkgenerate $(BIN)/buf

lint: $(BIN)/buf $(BIN)/staticcheck $(BIN)/govulncheck ## check protos, code, types of the page script, formatting and package layers
	$(BIN)/buf lint
	scripts/breaking $(BIN)/buf
	@out=$$(gofmt -l .); test -z "$$out" || { echo "Run gofmt -w on:" $$out; exit 1; }
	go vet ./...
	scripts/vet-platforms
	$(BIN)/staticcheck -checks=inherit,ST1000 $$(go list ./... | grep -v /gen/)
	go test -count=1 ./internal/archtest
	scripts/install-typescript
	node .cache/typescript/node_modules/typescript/bin/tsc -p internal/browser/observer/js
	node .cache/typescript/node_modules/typescript/bin/tsc -p internal/gateway/ui
	node .cache/typescript/node_modules/typescript/bin/tsc -p internal/recording/trace
	go test -count=1 -run 'Manual|Dockerfile|Units|Manifests' ./cmd/domtap
	$(MAKE) --no-print-directory vulncheck

vulncheck: $(BIN)/govulncheck ## check the called code for known vulnerabilities
	scripts/vulncheck $(BIN)/govulncheck

tidy-check: ## fail if go.mod or tools/go.mod is not tidy
	go mod tidy -diff
	cd tools && go mod tidy -diff

tools: $(addprefix $(BIN)/,buf govulncheck grpcurl protoc-gen-go protoc-gen-go-grpc staticcheck) ## build every pinned tool

# The name of a tool is the end of its import path in tools/go.mod.
$(BIN)/%: tools/go.mod tools/go.sum
	@mkdir -p $(BIN)
	cd tools && go build -o ../$(BIN)/ $$(go list tool | grep '/$*$$')
	@touch $@
