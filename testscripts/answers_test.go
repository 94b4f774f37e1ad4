//go:build linux

package testscripts

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// answering are the pages of answers: headings of the third level, each with what to do.
var answering = []string{"spec/faq.md", "spec/howto.md", "spec/concepts.md"}

// TestAnswers does what each answer shows, each in a directory and ledger of its own.
func TestAnswers(t *testing.T) {
	t.Parallel()
	bin := built(t)

	for _, name := range answering {
		for _, answer := range strings.Split(sourced(t, read(t, name)), "\n### ")[1:] {
			question, text, _ := strings.Cut(answer, "\n")
			text, _, _ = strings.Cut(text, "\n## ")
			blocks := page(text)
			if len(blocks) == 0 || question == waiting {
				continue
			}

			t.Run(question, func(t *testing.T) {
				t.Parallel()
				for _, tool := range []string{"flock", "jq", "make", "python3", "node"} {
					if regexp.MustCompile(`(?m)^\$ (?:.*(?:-- |'|\| |; ))?` + tool +
						`\b`).MatchString(text) {
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
}

// sourced returns a page in which installed files are those of the sources.
func sourced(t *testing.T, text string) string {
	scripts, err := filepath.Abs(filepath.Join(root, "scripts"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(text, "/usr/local/share/dpl/dpl.", scripts+"/dpl.")
}

// TestPagesFlags checks that the commands have the flags that the pages give them.
func TestPagesFlags(t *testing.T) {
	t.Parallel()
	helps := helps(t)
	command := regexp.MustCompile(`\b(dpl-[a-z]+)( [^\n` + "`" + `;|&)│]*)`)

	for _, name := range append([]string{"README.md", "spec/tutorial.md", "spec/services.md",
		"spec/farm.md", reference}, answering...) {
		for _, used := range command.FindAllStringSubmatch(read(t, name), -1) {
			help, found := helps[used[1]]
			if !found {
				t.Errorf("%s names %s, which is not in cmd", name, used[1])
				continue
			}

			own, _, _ := strings.Cut(used[2], " -- ")
			for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(own, -1) {
				if !regexp.MustCompile(flag + `\b[^-]`).MatchString(help) {
					t.Errorf("%s gives %s to %s, which has no such flag", name, flag, used[1])
				}
			}
		}
	}
}
