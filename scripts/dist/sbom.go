package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A component is a part of the software, as CycloneDX 1.5 has it.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
	PURL    string `json:"purl,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type dependencies struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

type billOfMaterials struct {
	Schema      string `json:"$schema"`
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	} `json:"metadata"`
	Components   []component    `json:"components"`
	Dependencies []dependencies `json:"dependencies"`
}

// billOf returns a bill of materials in CycloneDX's JSON: the programs among the commands, by their
// hashes, and for each the modules that are linked into it, as go version -m prints them.
func (r release) billOf(commands tree) ([]byte, error) {
	product := component{Type: "application", Ref: "dpl", Name: "dpl", Version: r.version,
		PURL: "pkg:github/dpl-project/dpl@" + r.version}
	bill := billOfMaterials{Schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1}
	bill.Metadata.Timestamp, bill.Metadata.Component = r.time.Format(time.RFC3339), product

	all := dependencies{Ref: product.Ref}
	modules := map[string]component{}
	for _, f := range commands {
		if f.isLink() {
			continue
		}

		info, err := buildinfo.Read(bytes.NewReader(f.data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}

		sum := sha256.Sum256(f.data)
		program := component{Type: "file", Ref: "bin/" + f.path, Name: "bin/" + f.path,
			Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}}
		bill.Components = append(bill.Components, program)
		all.DependsOn = append(all.DependsOn, program.Ref)

		linked := linkedInto(info)
		for _, module := range linked {
			modules[module.Ref] = module
		}
		bill.Dependencies = append(bill.Dependencies,
			dependencies{program.Ref, slices.Sorted(maps.Keys(linked))})
	}

	bill.Components = slices.AppendSeq(bill.Components, maps.Values(modules))
	slices.SortFunc(bill.Components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	bill.Dependencies = append(bill.Dependencies, all)

	text, err := json.MarshalIndent(bill, "", "  ")
	return append(text, '\n'), err
}

// linkedInto returns the modules in a program, by ref, and among them the standard library.
func linkedInto(info *debug.BuildInfo) map[string]component {
	version := strings.TrimPrefix(info.GoVersion, "go")
	all := map[string]component{}
	for _, module := range append(info.Deps, &debug.Module{Path: "std", Version: version}) {
		if module.Replace != nil {
			module = module.Replace
		}
		purl := "pkg:golang/" + module.Path + "@" + module.Version
		all[purl] = component{Type: "library", Ref: purl, Name: module.Path,
			Version: module.Version, PURL: purl}
	}
	return all
}
