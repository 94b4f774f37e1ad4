//go:build unix

package testscripts

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// markdownLink is a link of Markdown, without a title.
var markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// TestLinks follows the links of all pages to files and headings of the sources.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, name := range markdown(t) {
		text := unfenced(read(t, name))
		for _, link := range markdownLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") || strings.HasPrefix(link[1], "mailto:") {
				continue
			}

			file, anchor, _ := strings.Cut(link[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}

			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: %s: %v", name, link[1], err)
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: %s: no such heading", name, link[1])
			}
		}
	}
}

// TestIndex checks that spec/README.md leads to every page, and that each begins with a heading and
// says in its first lines what it is for.
func TestIndex(t *testing.T) {
	t.Parallel()
	index := read(t, "spec/README.md")

	for _, name := range markdown(t) {
		if path.Dir(name) != "spec" || name == "spec/README.md" {
			continue
		}
		if link := "](" + path.Base(name) + ")"; !strings.Contains(index, link) {
			t.Errorf("spec/README.md does not name %s", name)
		}

		first := strings.SplitN(read(t, name), "\n", 4)
		if len(first) < 4 || !strings.HasPrefix(first[0], "# ") || first[1] != "" ||
			!regexp.MustCompile(`^[A-Z\[]`).MatchString(first[2]) {
			t.Errorf("%s begins with %q, want a heading, and what the page is for", name, first)
		}
	}
}

// markdown returns the pages of the sources, from the root.
func markdown(t *testing.T) (names []string) {
	for _, pattern := range []string{"*.md", "spec/*.md", "spec/*/*.md", "spec/*/*/*.md",
		"scripts/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			name, _ = filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(name))
		}
	}

	if len(names) < 20 {
		t.Fatalf("found only %q", names)
	}
	return names
}

// anchors returns the names that GitHub gives the headings of a page.
func anchors(text string) (all []string) {
	times := make(map[string]int)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(
		unfenced(text), -1) {
		name := strings.ToLower(strings.TrimSpace(heading[1]))
		name = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(name, "")
		name = strings.ReplaceAll(name, " ", "-")
		if n := times[name]; n > 0 {
			all = append(all, name+"-"+string(rune('0'+n)))
		} else {
			all = append(all, name)
		}
		times[name]++
	}
	return all
}

// unfenced returns a page without its blocks, whose comments look like headings.
func unfenced(text string) string {
	return regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
}
