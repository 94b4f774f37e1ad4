//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ruleCount is how many rules there are before the one that fits.
const ruleCount = 100

// timeAsk times a permission that a rule gives: the program that asks waits for it, and so does
// what has to be done.
func (b *bench) timeAsk() error {
	var rules strings.Builder
	rules.WriteString(`{"rules": [`)
	for i := range ruleCount {
		fmt.Fprintf(&rules, `{"decide": "deny", "tool": "Bash", "argv": ["tool-%d", "run"]},`+"\n", i)
	}
	rules.WriteString(`{"decide": "allow", "tool": "Bash", "argv": ["git", "status"]}]}`)

	files := make(map[string]string)
	for name, text := range map[string]string{"rules.json": rules.String(),
		"input.json": `{"tool_name": "Bash", "tool_input": {"command": "git status"}}`} {
		files[name] = filepath.Join(b.work, name)
		if err := os.WriteFile(files[name], []byte(text), 0o600); err != nil {
			return err
		}
	}

	err := b.race([]turn{
		alone("ask/null", []string{b.tools.null}),
		alone("ask/dpl", []string{b.command("dpl-ask"), "--question", "run a tool",
			"--input", files["input.json"], "--rules", files["rules.json"], "--allow-writable-rules",
			"--ledger", filepath.Join(b.work, "ask")}),
	}, b.plan.rounds)
	if err == nil {
		b.printTimes(fmt.Sprintf("permission by one of %d rules", ruleCount+1), "ask/null", "ask/")
	}
	return err
}
