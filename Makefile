# make            build the commands to bin/
# make demo       show what DPL does, on a real call chain
# make check      all that CI runs; STRICT=1 fails where a tool is missing instead of leaving its part out
# make bench      timings, as ratios to other programs in the same run
# make soak       longer than CI has time for: fuzzing and random vectors
# make install    to $(DESTDIR)$(PREFIX)/bin

PREFIX  = /usr/local
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS = -s -w -X github.com/dpl-project/dpl/cmd/internal/cli.buildVersion=$(VERSION)
BUILD   = -trimpath

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
PYTHON      = python3
STRICT      =

commands = $(notdir $(wildcard cmd/dpl-*))

# $(call unless,TOOL,WHAT,COMMANDS): COMMANDS, or a line that says WHAT is left out for want of TOOL.
unless = if command -v $(1) >/dev/null 2>&1; then $(3); \
	elif [ -n "$(STRICT)" ]; then echo "make check: no $(1), and STRICT leaves nothing out: $(2)" >&2; exit 1; \
	else echo "make check: no $(1): left out: $(2)"; fi

build:
	CGO_ENABLED=0 go build $(BUILD) -ldflags '$(LDFLAGS)' -o bin/ $(addprefix ./cmd/,$(commands))

demo: build
	@STRICT=$(STRICT) sh scripts/demo/demo.sh bin

check: format vet tidy staticcheck test conformance shell demo
	@echo "make check: passed"

format:
	@files=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$files" ] || { echo "gofmt would change: $$files" >&2; exit 1; }

vet:
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...

tidy:
	go mod tidy -diff
	go mod verify

# ST1000 and ST1020 to ST1022: every package and exported name has a comment of the usual form.
staticcheck:
	go run $(STATICCHECK) -checks inherit,ST1000,ST1020,ST1021,ST1022 ./...

test:
	@$(call unless,cc,the race detector,STRICT=$(STRICT) go test -race ./...)
	@command -v cc >/dev/null 2>&1 || go test ./...

conformance:
	@$(call unless,$(PYTHON),the second implementation of the protocol,\
		$(PYTHON) spec/conformance/run.py spec/vectors/*.json && $(PYTHON) spec/conformance/test_dpl.py)

shell:
	@$(call unless,shellcheck,the shell scripts,shellcheck $$(git ls-files '*.sh' .ci/run))

bench: build
	go run ./scripts/bench bin

soak:
	go test ./protocol -run '^$$' -fuzz FuzzDecode -fuzztime 10m
	dir=$$(mktemp -d) && $(PYTHON) spec/conformance/random_vectors.py 50000 "$$dir" "$$(date +%s)" && \
		DPL_VECTORS=$$dir go test ./protocol -run TestVectors && rm -r "$$dir"
	go test -race -count=20 ./fileops ./testscripts

install: build
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install $(addprefix bin/,$(commands)) '$(DESTDIR)$(PREFIX)/bin'

clean:
	rm -rf bin

.PHONY: build demo check format vet tidy staticcheck test conformance shell bench soak install clean
