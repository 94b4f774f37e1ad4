package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed formula.rb
var formula string

// homebrew returns a formula for Homebrew that installs the archives among the files, by name, or
// nil if there is none.
func (r release) homebrew(files map[string][]byte) ([]byte, error) {
	type archive struct{ System, Processor, Name, Sum string }
	values := struct {
		Version  string
		Archives []archive
	}{Version: strings.TrimPrefix(r.version, "v")}

	for _, platform := range []struct{ name, system, processor string }{
		{"darwin-arm64", "macos", "arm"}, {"linux-amd64", "linux", "intel"},
		{"linux-arm64", "linux", "arm"},
	} {
		name := "dpl-" + r.version + "-" + platform.name + ".tar.gz"
		if data, made := files[name]; made {
			values.Archives = append(values.Archives, archive{platform.system, platform.processor,
				name, fmt.Sprintf("%x", sha256.Sum256(data))})
		}
	}
	if len(values.Archives) == 0 {
		return nil, nil
	}

	var out bytes.Buffer
	err := template.Must(template.New("formula").Parse(formula)).Execute(&out, values)
	return out.Bytes(), err
}
