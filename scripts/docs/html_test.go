//go:build unix

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// html: the pages are well formed, have every flag, need nothing from elsewhere, and their links
// lead to what there is.
func (d *docs) html(t *testing.T) {
	ids := make(map[string][]string)
	for name, text := range d.files {
		if path.Ext(name) == ".html" {
			ids[path.Base(name)] = found(t, name, text, "id")
		}
	}

	for _, c := range d.generator.commands {
		for _, f := range c.Flags {
			if !slices.Contains(ids[c.Program+".html"], f.Name) {
				t.Errorf("%s.html has no --%s", c.Program, f.Name)
			}
		}
	}

	if len(ids) != len(d.generator.commands)+1 {
		t.Errorf("got the pages %q", slices.Sorted(maps.Keys(ids)))
	}

	for name := range ids {
		text := d.files["doc/dpl/html/"+name]
		if sorted := slices.Sorted(slices.Values(ids[name])); len(slices.Compact(sorted)) !=
			len(ids[name]) {
			t.Errorf("%s: an id occurs twice: %q", name, sorted)
		}
		if outside := regexp.MustCompile(`<script|<img|@import|url\(|src=`).FindString(
			text); outside != "" {
			t.Errorf("%s has %s", name, outside)
		}

		for _, link := range found(t, name, text, "href") {
			page, id, _ := strings.Cut(link, "#")
			if page == "" {
				page = name
			}
			if of, ok := ids[page]; !ok || id != "" && !slices.Contains(of, id) {
				t.Errorf("%s links to %s, which is not there", name, link)
			}
		}
	}
}

// found returns the values of an attribute in a page, which must be well formed.
func found(t *testing.T, name, text, attribute string) (values []string) {
	decoder := xml.NewDecoder(strings.NewReader(text))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, []string{"meta"}, xml.HTMLEntity
	var open []string

	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			break
		}

		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, token.Name.Local)
			for _, a := range token.Attr {
				if a.Name.Local == attribute {
					values = append(values, a.Value)
				}
			}
		case xml.EndElement:
			last := len(open) - 1
			if last < 0 || open[last] != token.Name.Local {
				t.Fatalf("%s: </%s> within %q", name, token.Name.Local, open)
			}
			open = open[:last]
		}
	}

	if len(open) > 0 {
		t.Errorf("%s: %q are not closed", name, open)
	}
	return values
}
