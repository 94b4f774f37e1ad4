# make            build the commands to bin/
# make demo       show what DPL does, on a real call chain
# make check      all that CI runs, a line for each part; STRICT=1 fails where a tool is missing instead of leaving its part out
# make bench      timings and goals, as ratios to other programs in the same run; bin/bench.json, bin/bench.svg
# make soak       longer than CI has time for, some parts as root: see spec/reliability.md
# make soak-bare  as root: make demo and make check on a bare Debian
# make soak-chaos   as root: builds, services, damage, full disks and kill -9 for CHAOS=2h
# make soak-shared  as root: two hosts on NFS, JuiceFS, GlusterFS, CephFS, and holders of locks that are cut off
# make mutants    put seeded bugs into the sources, and see who finds them
# make doc        man pages and completions to bin/share
# make install    all that belongs on a machine to $(DESTDIR)$(PREFIX); make uninstall removes it
# make dist       archives and Debian packages for others, the same byte for byte wherever they are made: bin/dist

PREFIX  = /usr/local
BIN     = bin
VERSION = $(shell git describe --tags --always --dirty --abbrev=12 2>/dev/null || echo unknown)
LDFLAGS = $(ENTRY) -s -w -X github.com/dpl-project/dpl/cmd/internal/cli.buildVersion=$(VERSION) -X main.buildVersion=$(VERSION)
BUILD   = -trimpath

# Where a command begins: see cmd/internal/entry.
ENTRY = $(if $(filter linux-amd64 linux-arm64,$(shell go env GOOS)-$(shell go env GOARCH)),-E dpl_entry)

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
STRICT      =
GO_TEST     = go test
CHAOS       = 2h

commands = dpl $(notdir $(wildcard cmd/dpl-*))

build:
	CGO_ENABLED=0 go build $(BUILD) -ldflags '$(LDFLAGS)' -o '$(BIN)/' $(addprefix ./cmd/,$(commands))

demo: build
	@STRICT=$(STRICT) bin/dpl demo

check:
	@STRICT=$(STRICT) go run ./scripts/check

format:
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt would change: $$files" >&2; exit 1; }

# For Windows with what the packages of TestDist are built with: so all is compiled once.
vet:
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet -trimpath ./...

tidy:
	go mod tidy -diff
	go mod verify

# ST1000 and ST1020 to ST1022: every package and exported name has a comment of the usual form.
staticcheck:
	go run $(STATICCHECK) -checks inherit,ST1000,ST1020,ST1021,ST1022 ./...

# What drives the commands from outside gains nothing by -race. What takes longest begins first.
rigs = ./scripts/faults ./scripts/linearize ./scripts/dist ./scripts/powerloss ./cmd/internal/simulation ./scripts/...

# Nor do those of fileops that do one thing after the other on a simulated disk, or have a large file: those of coverage do.
unraced = ^Test(Interleavings|PassInterleavings|EveryFault.*|AlertsOfMoreThanMemory|ReadLogHuge|RotateLogHuge|SparseFiles)$$

# Most tests of commands wait for something, so that more of them run at once than there are processors. The scripts take
# longest, and begin first. The tests of protocol, which is pure, are those of coverage.
test:
	STRICT=$(STRICT) $(GO_TEST) -parallel 4 -skip '$(unraced)' $$(command -v cc >/dev/null 2>&1 && echo -race) \
		$$(go list ./testscripts ./... | grep -vxF "$$(go list ./protocol $(rigs))")

rigs:
	STRICT=$(STRICT) DPL_HISTORIES=20s $(GO_TEST) -parallel 4 $(rigs)

model:
	sh spec/model/check.sh 3

coverage:
	sh scripts/coverage.sh

conformance:
	python3 spec/conformance/run.py spec/vectors/*.json spec/vectors/groups/*.json
	python3 spec/conformance/test_dpl.py

shell:
	shellcheck .ci/run $$(find . -name '*.sh')

bench: build
	go run ./scripts/bench -json bin/bench.json -svg bin/bench.svg bin

soak: soak-needs build
	$(MAKE) --no-print-directory soak-units soak-power soak-clocks soak-bare soak-chaos
	sh spec/model/check.sh 4
	DPL_HISTORIES=10000000 go test -count=1 -timeout=0 ./cmd/internal/simulation -run Histories -v
	DPL_SOAK=1 go test -count=1 -timeout 3h ./scripts/... ./fileops ./testscripts
	grep -rHo '^func Fuzz[A-Za-z]*' --include=*_test.go . | sed 's|/[^/]*:func | |' | while read -r package target; do \
		go test "$$package" -run '^$$' -fuzz "^$$target$$" -fuzztime 1m || exit 1; \
	done
	go test ./protocol -run TestMachine -rapid.seed=0 -rapid.checks=100000 -timeout 1h
	dir=$$(mktemp -d) && python3 spec/conformance/random_vectors.py 50000 "$$dir" "$$(date +%s)" && \
		python3 spec/conformance/random_groups.py 50000 "$$dir" "$$(date +%s)" && \
		DPL_VECTORS=$$dir go test -count=1 ./protocol -run 'Test(Group)?Vectors' && rm -r "$$dir"
	DPL_WALKS=300000 go test -timeout 1h ./protocol -run TestGroupWalk
	python3 scripts/soak/groups.py bin 600
	go test -race -count=5 -timeout 3h ./fileops ./testscripts
	DPL_SOAK=1 go test -race -count=1 -timeout 3h ./testscripts -run TestRaced

# Says in one line, before anything runs, all that is missing.
soak-needs:
	@go run ./scripts/check -needs soak

# What a stranger has: make demo and make check in a Debian with make, git, ca-certificates and Go alone.
soak-bare:
	sh scripts/bare/bare.sh

# Hard use of everything at once, for CHAOS: it has to run clean.
soak-chaos: build
	go run ./scripts/chaos -for $(CHAOS) '$(BIN)'

soak-power: build
	STRICT=$(STRICT) sh scripts/powerloss/blocks.sh --points 2000

soak-clocks: build
	STRICT=$(STRICT) sh scripts/clocks/uml.sh bin
	sh scripts/clocks/seeded.sh

soak-shared: build
	@go run ./scripts/check -needs shared
	sh scripts/shared/all.sh bin

mutants:
	go run ./scripts/mutants

soak-units: build
	sh scripts/soak/nspawn.sh bin

# The time of packages and manual pages, as the shell computes it.
epoch = $${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || date +%s)}

doc: build
	rm -rf bin/share
	SOURCE_DATE_EPOCH=$(epoch) go run ./scripts/docs -version '$(VERSION)' -out bin/share '$(BIN)'

# "sudo make install" finds no go, as a rule. After make and make doc it needs none.
install: $(if $(shell command -v go 2>/dev/null),build doc)
	@BIN='$(BIN)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh scripts/dist/install.sh $(commands)

uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh scripts/dist/uninstall.sh

PLATFORMS = linux-amd64 linux-arm64 darwin-arm64 windows-amd64

# What the environment tells go must not show in what others get. The version of go does: "go version FILE" tells it.
dist: build doc
	rm -rf bin/dist bin/stage
	BIN='$(BIN)' PREFIX=/usr/local DESTDIR=bin/stage/archive sh scripts/dist/install.sh $(commands)
	BIN='$(BIN)' PREFIX=/usr DESTDIR=bin/stage/debian sh scripts/dist/install.sh $(commands)
	for platform in $(PLATFORMS); do \
		GOFLAGS=-buildvcs=false GOWORK=off GOEXPERIMENT= GOFIPS140=off GOAMD64=v1 GOARM64=v8.0 \
			GOOS=$${platform%-*} GOARCH=$${platform#*-} $(MAKE) build BIN=bin/stage/$$platform || exit 1; \
	done
	SOURCE_DATE_EPOCH=$(epoch) go run ./scripts/dist -version '$(VERSION)' -stage bin/stage -out bin/dist $(PLATFORMS)
	rm -r bin/stage

clean:
	rm -rf bin

.PHONY: build demo check format vet tidy staticcheck test rigs model coverage conformance shell bench soak soak-needs soak-units \
	soak-power soak-clocks soak-bare soak-chaos soak-shared mutants doc install uninstall dist clean
