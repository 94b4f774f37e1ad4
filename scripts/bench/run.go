//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/scripts/upstream"
)

// timeRun times what most people run: a command as a call, and a build with each compile as a call.
func (b *bench) timeRun() error {
	if err := b.timeTrue(); err != nil {
		return err
	}
	return b.timeBuild()
}

// timeTrue times dpl-run -- true, and dpl-push, true and dpl-pop one after the other, which make
// the same call. It also times a dpl-run that publishes what its command writes.
func (b *bench) timeTrue() error {
	if b.tools.true == "" {
		return nil
	}

	ledger, err := b.newStack("run", 1, false)
	if err != nil {
		return err
	}

	call := func(command string, more ...string) contestant {
		argv := []string{b.command(command), "--ledger", ledger, "--op", "op", "--call", "new"}
		return contestant{argv: append(argv, more...)}
	}

	command := contestant{argv: []string{b.tools.true}}
	turns := map[string][]contestant{
		"run/dpl": {call("dpl-run", "--join", "--", b.tools.true)},
		"run/to": {call("dpl-run", "--join", "--to", filepath.Join(b.work, "result"), "--",
			b.tools.true)},
		"run/sequence": {call("dpl-push", "--participant", "true", "--tmp"), command,
			call("dpl-pop")},
		"run/alone": {command},
		"run/null":  {{argv: []string{b.tools.null}}},
	}

	if err := b.raceSums(turns, b.plan.runs); err != nil {
		return err
	}

	b.printTimes("true as a call", "run/null", "run/")

	return nil
}

// timeBuild times make -j2 of zlib, or if its sources are missing of a similar project, plain and
// with each compilation as a call of one operation.
func (b *bench) timeBuild() error {
	if b.tools.make == "" || b.tools.gcc == "" {
		return nil
	}

	ledger, err := b.newStack("build", 1, false)
	if err != nil {
		return err
	}

	project := filepath.Join(b.work, "project")
	name, files := "made up", b.plan.files
	if b.plan.zlib && upstream.Available() == nil {
		name = "of zlib"
		files, err = upstream.Zlib(project)
	} else {
		err = b.writeProject(project)
	}

	if err != nil {
		return err
	}

	build := func(compiler string) []contestant {
		argv := []string{"/usr/bin/env", "DPL_LEDGER=" + ledger, "DPL_OP=op", b.tools.make, "-s",
			"-B", "-j2", "-C", project, "CC=" + compiler}
		return []contestant{{argv: argv}}
	}

	turns := map[string][]contestant{
		"build/dpl":   build(b.command("dpl-run") + " --ok 0,1 -- " + b.tools.gcc),
		"build/plain": build(b.tools.gcc),
	}

	if err := b.raceSums(turns, b.plan.builds); err != nil {
		return err
	}

	b.printTimes(fmt.Sprintf("make -j2 of %d files, %s", files, name), "build/plain", "build/")

	return nil
}

// raceSums is race for series in which each value is the total time of several contestants, one
// after the other.
func (b *bench) raceSums(turns map[string][]contestant, rounds int) error {
	var names []string
	for name := range turns {
		names = append(names, name)
	}

	for round := -1; round < rounds; round++ {
		for _, i := range b.random.Perm(len(names)) {
			var sum time.Duration
			for _, c := range turns[names[i]] {
				took, err := b.once(c)
				if err != nil {
					return err
				}
				sum += took
			}

			if round >= 0 {
				b.results.add(names[i], "s", round, sum.Seconds())
			}
		}
	}

	return nil
}

// writeProject writes a program of C files each of which takes a compiler about as long as one of
// zlib.
func (b *bench) writeProject(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}

	var objects []string
	for i := range b.plan.files {
		var text strings.Builder
		text.WriteString("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
		for f := range b.plan.functions {
			fmt.Fprintf(&text, `
unsigned long fold_%[1]d_%[2]d(const unsigned char *text, size_t length, unsigned long table[256]) {
	unsigned long a = %[2]d, b = %[1]d;
	while (length >= 8) {
		for (int i = 0; i < 8; i++) { a += text[i] ^ table[(b + i) & 255]; b = (b << 5) ^ a ^ (b >> 3); }
		if (a %% 7 == %[2]d %% 7) table[a & 255] = b; else table[b & 255] ^= a;
		text += 8; length -= 8;
	}
	switch (length) { case 7: a ^= text[6]; case 6: b ^= text[5]; case 5: a += text[4]; case 4: b += text[3]; }
	return a * 31 + b;
}
`, i, f)
		}

		name := fmt.Sprintf("part%d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".c"), []byte(text.String()),
			0o600); err != nil {
			return err
		}

		objects = append(objects, name+".o")
	}

	rules := "all: " + strings.Join(objects, " ") + "\n%.o: %.c\n\t$(CC) -O3 -c -o $@ $<\n"
	return os.WriteFile(filepath.Join(dir, "Makefile"), []byte(rules), 0o600)
}
