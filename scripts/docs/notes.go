package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// notes are the text written about a command, by section. A file of notes has headings in capitals,
// paragraphs, list items (a line with the term, and one that begins with ": "), and text indented
// by four spaces, which is shown unchanged.
type notes map[string][]block

type block struct {
	term string // of a list item
	text string // of a paragraph or item
	code []string
}

// sections are the headings that notes may have.
var sections = []string{"DESCRIPTION", "ENVIRONMENT", "FILES", "NOTES", "SEE ALSO"}

// readNotes returns the notes of a command, with its examples.
func readNotes(c *command) (notes, error) {
	text, err := written.ReadFile("notes/" + c.Program + ".txt")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	n, err := parseNotes(string(text))
	for _, e := range c.Examples {
		if e.Text != "" {
			n["EXAMPLES"] = append(n["EXAMPLES"], block{text: e.Text})
		}
		if e.Code != "" {
			n["EXAMPLES"] = append(n["EXAMPLES"], block{code: strings.Split(e.Code, "\n")})
		}
	}
	return n, err
}

func parseNotes(text string) (notes, error) {
	n, section := make(notes), ""
	for _, part := range paragraphs(text) {
		if len(part) == 1 && slices.Contains(sections, part[0]) {
			section = part[0]
			continue
		}

		if section == "" {
			return nil, fmt.Errorf("%q: want one of the headings %q before it", part[0], sections)
		}

		var b block
		switch {
		case strings.HasPrefix(part[0], "    "):
			for _, line := range part {
				b.code = append(b.code, strings.TrimPrefix(line, "    "))
			}
		case len(part) > 1 && strings.HasPrefix(part[1], ": "):
			b.term, b.text = part[0], strings.TrimPrefix(strings.Join(part[1:], " "), ": ")
		default:
			b.text = strings.Join(part, " ")
		}

		n[section] = append(n[section], b)
	}

	return n, nil
}

// paragraphs returns the lines of text in groups separated by empty lines. Empty lines inside
// indented text do not separate.
func paragraphs(text string) (all [][]string) {
	var part []string
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			part = append(part, line)
			continue
		}

		if len(part) > 0 && strings.HasPrefix(part[0], "    ") &&
			strings.HasPrefix(lines[i+1], "    ") {
			part = append(part, "")
			continue
		}

		if part != nil {
			all = append(all, part)
		}

		part = nil
	}

	return append(all, part)
}
