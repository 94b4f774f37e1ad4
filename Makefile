# make              build the commands to bin/
# make demo         show what DPL does, in a few seconds; ALL=1, or make demo-all: all acts
# make check        run all that CI runs, one line per part; STRICT=1: a missing tool is a failure
# make bench        measure speed as ratios to other programs: bin/bench.json, bin/bench.svg
# make soak         longer tests than CI has time for, some as root: see spec/reliability.md
# make soak-arm64   the keeper on an arm64 processor that qemu plays
# make soak-bare    as root: make demo and make check on a bare Debian
# make soak-keepers kill 3000 keepers at random times
# make soak-pipes   kill processes of 3000 pipelines
# make soak-jobs    as root: nightly backups under a real cron and by hand, for an hour
# make soak-services  as root: a group of services under a real cron, disturbed for an hour
# make soak-week    as root: a ledger survives bad weeks for 20 minutes: WEEK=1200
# make soak-chaos   as root: builds, services, damage, full disks and kill -9 for CHAOS=2h
# make soak-shared  as root: two hosts on NFS, JuiceFS, GlusterFS and CephFS; queues; network cuts
# make race         run tests with a detector of data races
# make mutants      seed bugs in the sources and see which no test finds; SINCE=REV: in changed lines
# make pictures     play the scenes of scripts/pictures again, and draw spec/pictures
# make doc          write man pages, HTML and completions to bin/share
# make install      install everything to $(DESTDIR)$(PREFIX); make uninstall removes it
# make dist         build all files of a release, reproducible: bin/dist

PREFIX  = /usr/local
BIN     = bin
VERSION = $(shell git describe --tags --always --dirty --abbrev=12 2>/dev/null || echo unknown)
COMMIT  = $(shell git rev-parse --short=12 HEAD 2>/dev/null)
DATE    = $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
entry   = -X github.com/dpl-project/dpl/cmd/internal/entry
LDFLAGS = $(ENTRY) -s -w $(entry).version=$(VERSION) $(entry).commit=$(COMMIT) $(entry).date=$(DATE)
BUILD   = -trimpath

# The symbol at which a command starts: see cmd/internal/entry.
target = $(shell go env GOOS)-$(shell go env GOARCH)
ENTRY  = $(if $(filter linux-amd64 linux-arm64,$(target)),-E dpl_entry)

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT  = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
STRICT      =
GO_TEST     = go test -timeout 30m
CHAOS       = 2h
WEEK        = 1200

# Most commands are links to dpl, and some are links to dpl-status: see cmd/dpl.
programs = dpl dpl-check dpl-status
looking  = dpl-answer dpl-audit dpl-trace
links    = $(filter-out $(programs) $(looking),$(notdir $(wildcard cmd/dpl-*)))
commands = $(programs) $(links) $(looking)

# Windows has no links that everyone may make, and archives for it none at all: see dpl links.
build:
	CGO_ENABLED=0 go build $(BUILD) -ldflags '$(LDFLAGS)' -o '$(BIN)/' $(addprefix ./cmd/,$(programs))
	@case $$(go env GOOS) in windows) exit ;; esac; \
		for name in $(links); do ln -sf dpl "$(BIN)/$$name"; done; \
		for name in $(looking); do ln -sf dpl-status "$(BIN)/$$name"; done

demo: build
	@STRICT=$(STRICT) bin/dpl demo $(if $(ALL),--all)

demo-all: build
	@STRICT=$(STRICT) bin/dpl demo --all

check:
	@STRICT=$(STRICT) go run -trimpath ./scripts/check

format:
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt would change: $$files" >&2; exit 1; }

# make soak vets for macOS and Windows as well.
vet:
	go vet ./...

tidy:
	go mod tidy -diff
	go mod verify

# ST1000 and ST1020 to ST1022: every package and exported name has a comment in the usual form.
staticcheck:
	go run $(STATICCHECK) -checks inherit,ST1000,ST1020,ST1021,ST1022 ./...

rigs   = ./scripts/faults ./scripts/linearize ./scripts/powerloss ./cmd/internal/simulation
others = ./testscripts $(rigs) ./scripts/...

# Most tests wait, so more of them run at once than there are processors. The tests of protocol and
# fileops run in coverage.
test:
	STRICT=$(STRICT) $(GO_TEST) -parallel 4 \
		$$(go list ./... | grep -vxF "$$(go list ./protocol/... ./fileops/... $(others))")

# The same tests, with a detector of data races, and the scripts of concurrent processes.
race:
	go test -race -timeout 3h ./fileops/... $$(go list ./... | \
		grep -vxF "$$(go list ./protocol/... ./fileops/... $(others))")
	DPL_SOAK=1 go test -race -timeout 3h ./testscripts -run TestRaced

# The scripts of the commands.
commands:
	STRICT=$(STRICT) $(GO_TEST) -parallel 4 ./testscripts

# Two parts, so that make check can run them side by side. The slowest start first.
rigs:
	STRICT=$(STRICT) DPL_HISTORIES=6s $(GO_TEST) -parallel 4 $(rigs)

scripts:
	STRICT=$(STRICT) $(GO_TEST) -parallel 4 \
		$$(go list ./scripts/nights ./scripts/operated ./scripts/dist ./scripts/... | grep -vxF "$$(go list $(rigs))")

model:
	sh spec/model/check.sh -p

coverage:
	sh scripts/coverage.sh

conformance:
	python3 spec/conformance/run.py spec/vectors/*.json spec/vectors/groups/*.json \
		spec/vectors/queues/*.json spec/vectors/questions/*.json spec/vectors/audit/*.json
	python3 spec/conformance/test_dpl.py

shell:
	shellcheck .ci/run $$(find . -name '*.sh')
	go run $(ACTIONLINT)

bench: build
	go run ./scripts/bench -json bin/bench.json -svg bin/bench.svg bin

soak: soak-needs build
	$(MAKE) --no-print-directory soak-units soak-arm64 soak-power soak-clocks soak-bare soak-week \
		soak-chaos
	GOOS=darwin go vet ./... && GOOS=windows go vet ./...
	sh spec/model/check.sh && sh spec/model/check.sh 4
	DPL_HISTORIES=10000000 go test -count=1 -timeout=0 ./cmd/internal/simulation -run Histories -v
	DPL_HISTORIES=100000 go test -count=1 -timeout 2h ./cmd/internal/command/ask -run TestShell -v
	DPL_SOAK=1 go test -count=1 -timeout 3h ./scripts/... ./fileops ./testscripts \
		./cmd/internal/process/start
	grep -rHo '^func Fuzz[A-Za-z]*' --include=*_test.go . | sed 's|/[^/]*:func | |' | \
		while read -r package target; do \
			go test "$$package" -run '^$$' -fuzz "^$$target$$" -fuzztime 1m || exit 1; \
		done
	go test ./protocol -run TestMachine -rapid.seed=0 -rapid.checks=100000 -timeout 1h
	go test ./protocol/queue -run 'TestMachine|TestDesk' -rapid.seed=0 -rapid.checks=20000 -timeout 1h
	dir=$$(mktemp -d) && python3 spec/conformance/random_vectors.py 50000 "$$dir" "$$(date +%s)" && \
		python3 spec/conformance/random_groups.py 50000 "$$dir" "$$(date +%s)" && \
		python3 spec/conformance/random_queues.py 50000 "$$dir" "$$(date +%s)" && \
		python3 spec/conformance/random_rules.py 50000 "$$dir" "$$(date +%s)" && \
		DPL_VECTORS=$$dir go test -count=1 ./protocol ./protocol/group ./protocol/queue \
			./protocol/question \
			-run TestVectors && rm -r "$$dir"
	DPL_WALKS=300000 go test -timeout 1h ./protocol/group -run TestGroupWalk
	go test ./protocol/group -run TestPassSchedules -rapid.seed=0 -rapid.checks=20000 -timeout 1h
	python3 scripts/soak/groups.py bin 600
	DPL_SOAK=1 python3 spec/conformance/test_dpl.py
	$(MAKE) --no-print-directory race

# Reports everything that is missing, in one line, before anything runs.
soak-needs:
	@go run ./scripts/check -needs soak

# A stranger's machine: make demo and make check in a Debian with make, git, ca-certificates and Go.
soak-bare:
	sh scripts/bare/bare.sh

# Hard use of everything at once, for CHAOS; it must find nothing.
soak-chaos: build
	go run ./scripts/chaos -for $(CHAOS) '$(BIN)'

# Backups, clones, editors, full disks and set clocks happen to a ledger under load, for WEEK seconds.
soak-week: build
	STRICT=$(STRICT) sh scripts/soak/week.sh '$(BIN)' $(WEEK)

# The keeper in the language of an arm64 processor, on one that qemu plays.
soak-arm64:
	sh scripts/soak/arm64.sh

# Real services whose keepers are killed: what passes say of their ends is right, or unknown.
soak-keepers:
	DPL_SOAK=1 go test -count=1 -timeout 1h ./scripts/faults -run '^TestKeepers$$' -v

# Pipelines of which processes are killed: no stage takes the end of its input for success.
soak-pipes:
	DPL_PIPES=3000 go test -count=1 -timeout 3h ./scripts/pipes -run '^TestPipes$$' -v

# The nightly backup of a real database, disturbed in every way.
soak-jobs:
	DPL_SOAK=1 STRICT=$(STRICT) go test -count=1 -timeout 2h ./scripts/nights -run '^TestNights$$' -v

# A group of services, disturbed in every way; what DPL says of it is compared with the processes.
soak-services:
	DPL_SOAK=1 STRICT=$(STRICT) go test -count=1 -timeout 2h ./scripts/operated -run '^TestOperated$$' -v

soak-power: build
	STRICT=$(STRICT) sh scripts/powerloss/blocks.sh --points 2000

soak-clocks: build
	STRICT=$(STRICT) sh scripts/clocks/uml.sh bin
	sh scripts/clocks/seeded.sh

soak-shared: build
	@go run ./scripts/check -needs shared
	sh scripts/shared/all.sh bin

pictures: build
	go run ./scripts/pictures '$(BIN)'

mutants:
	go run ./scripts/mutants $(if $(SINCE),-since $(SINCE))

soak-units: build
	sh scripts/soak/nspawn.sh bin

# The date in packages and manual pages, computed by the shell.
epoch = $${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || date +%s)}

doc: build
	rm -rf bin/share
	SOURCE_DATE_EPOCH=$(epoch) go run -trimpath ./scripts/docs -version '$(VERSION)' -out bin/share '$(BIN)'

# "sudo make install" usually finds no go in its PATH. After make and make doc it needs none.
install: $(if $(shell command -v go 2>/dev/null),build doc)
	@BIN='$(BIN)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh scripts/dist/install.sh $(commands)

uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh scripts/dist/uninstall.sh

PLATFORMS = linux-amd64 linux-arm64 darwin-arm64 windows-amd64

# The packages must not depend on the builder's environment. They depend on the version of Go:
# "go version FILE" prints it.
dist: build doc
	rm -rf bin/dist bin/stage
	BIN='$(BIN)' PREFIX=/usr/local DESTDIR=bin/stage/archive sh scripts/dist/install.sh $(commands)
	BIN='$(BIN)' PREFIX=/usr DESTDIR=bin/stage/package sh scripts/dist/install.sh $(commands)
	for platform in $(PLATFORMS); do \
		GOFLAGS=-buildvcs=false GOWORK=off GOEXPERIMENT= GOFIPS140=off GOAMD64=v1 GOARM64=v8.0 \
			GOOS=$${platform%-*} GOARCH=$${platform#*-} $(MAKE) build BIN=bin/stage/$$platform || exit 1; \
	done
	SOURCE_DATE_EPOCH=$(epoch) go run -trimpath ./scripts/dist -version '$(VERSION)' \
		-stage bin/stage -out bin/dist $(PLATFORMS)
	rm -r bin/stage

clean:
	rm -rf bin

.PHONY: build demo demo-all check format vet tidy staticcheck test race commands rigs scripts model coverage \
	conformance shell bench soak soak-needs soak-units soak-arm64 soak-jobs soak-keepers soak-pipes \
	soak-power soak-services soak-clocks soak-bare soak-chaos soak-shared soak-week mutants pictures doc install uninstall dist clean
