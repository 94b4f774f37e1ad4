//go:build linux

package testscripts

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestFAQ does what each answer of spec/faq.md shows, each in a directory and ledger of its own.
func TestFAQ(t *testing.T) {
	t.Parallel()
	bin := built(t)
	for _, answer := range strings.Split(read(t, "spec/faq.md"), "\n### ")[1:] {
		question, text, _ := strings.Cut(answer, "\n")
		blocks := page(text)
		if len(blocks) == 0 {
			continue
		}

		t.Run(question, func(t *testing.T) {
			t.Parallel()
			for _, tool := range []string{"flock", "jq", "make", "python3"} {
				if regexp.MustCompile(`(?m)^\$ (?:.*(?:-- |'|\| |; ))?` + tool +
					` `).MatchString(text) {
					strict.Program(t, tool)
				}
			}

			r := beginReading(t, bin, "bash", t.TempDir())
			for _, b := range blocks {
				r.follow(b)
			}

			r.leave()
		})
	}
}

// TestPagesFlags checks that the commands have the flags that the tutorial and the FAQ give them.
func TestPagesFlags(t *testing.T) {
	t.Parallel()
	bin := built(t)
	command := regexp.MustCompile(`\b(dpl-[a-z]+)( [^\n` + "`" + `;|&)]*)`)

	for _, name := range []string{"spec/tutorial.md", "spec/faq.md"} {
		for _, used := range command.FindAllStringSubmatch(read(t, name), -1) {
			help, err := exec.Command(filepath.Join(bin, used[1]), "--help").Output()
			if err != nil {
				t.Errorf("%s names %s: %v", name, used[1], err)
				continue
			}

			own, _, _ := strings.Cut(used[2], " -- ")
			for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(own, -1) {
				if !regexp.MustCompile(flag + `\b[^-]`).Match(help) {
					t.Errorf("%s gives %s to %s, which has no such flag", name, flag, used[1])
				}
			}
		}
	}
}
