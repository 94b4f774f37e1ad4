//go:build unix

package testscripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A printing is the T of scripts. It validates what the commands print as JSON, which it reads in
// the log of each script.
type printing struct{ *testing.T }

func (p printing) Run(name string, script func(testscript.T)) {
	p.T.Run(name, func(t *testing.T) { script(printing{t}) })
}

// Verbose returns true: otherwise the log has only the last phase of a script.
func (p printing) Verbose() bool { return true }

// Log takes the log of a script.
func (p printing) Log(args ...any) {
	log := fmt.Sprint(args...)
	p.T.Log(lastPhase(log))
	for _, o := range printedIn(log) {
		if err := o.check(); err != nil {
			p.T.Errorf("%s: %v", o.line, err)
		}
	}
}

var phase = regexp.MustCompile(`(?m)^# .* \(\d+\.\d{3}s\)$`)

// lastPhase returns the last phase in the log of a script, or all of it with -v.
func lastPhase(log string) string {
	phases := phase.FindAllStringIndex(log, -1)
	if testing.Verbose() || len(phases) == 0 {
		return log
	}
	return log[phases[len(phases)-1][0]:]
}

// A printed is what a command of a script has printed.
type printed struct {
	line    string   // of the script
	command string   // without dpl-; "": it is none of ours
	args    []string // as the script has them
	direct  bool     // the script has started it, and not a program
	stderr  bool
	text    string // and what follows in the log
}

// printedIn returns what commands have printed, according to the log of a script.
func printedIn(log string) (all []printed) {
	spawned := make(map[string]string)
	var current printed
	for log != "" {
		line, rest, _ := strings.Cut(log, "\n")
		log = rest
		switch {
		case strings.HasPrefix(line, "> "):
			line = line[2:]
			words := strings.Fields(line)
			if words[0] == "spawn" && len(words) > 2 {
				spawned[words[1]] = line
			}
			if words[0] == "waitfor" && len(words) > 1 {
				line = spawned[words[1]]
			}
			current = called(line)
		case strings.HasPrefix(line, "[background] "):
			current = called("exec " + strings.TrimPrefix(line, "[background] "))
		case line == "[stdout]" || line == "[stderr]":
			// The log has $WORK in place of the directory.
			current.stderr, current.text = line == "[stderr]", strings.ReplaceAll(rest, `"$WORK`, `"/work`)
			all = append(all, current)
		}
	}
	return all
}

var (
	before  = regexp.MustCompile(`^(\[\S+\] |! |eventually |exec |status \S+ |spawn \S+ )+`)
	program = regexp.MustCompile(`^dpl(?:-([a-z]+))?$`)
)

// called returns the first command of ours in a line of a script. Of dpl-run, that is the command
// that it runs.
func called(line string) printed {
	p := printed{line: line}
	words := strings.Fields(before.ReplaceAllString(line, ""))
	for i, word := range words {
		name := program.FindStringSubmatch(word)
		if name == nil || name[1] == "run" {
			continue
		}
		p.command, p.args, p.direct = name[1], words[i+1:], i == 0
		if p.command == "" && len(p.args) > 0 { // dpl push
			p.command, p.args = p.args[0], p.args[1:]
		}
		return p
	}
	return p
}

// kind returns the name of the schema of p, or "" if p need not be JSON.
func (p printed) kind() string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(p.args, w) })
	}
	switch {
	case p.command == "watch" && !p.stderr && !has("--help", "--version"):
		return "watch"
	case p.command == "check" && !p.stderr && !has("--help", "--version", "--snapshot"):
		return "check"
	case p.command == "" || !has("--json") || p.command == "trace" || has("--at"):
		return ""
	case p.stderr:
		return "error"
	case has("--help", "-h"):
		return "help"
	case has("--version"):
		return "version"
	}
	return p.command
}

// check validates p.
func (p printed) check() error {
	kind, text := p.kind(), p.text
	if kind == "" {
		return nil
	}
	for p.stderr && !strings.HasPrefix(text, "{") { // warnings are no JSON
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "[") {
			return nil
		}
		text = rest
	}
	if !strings.HasPrefix(text, "{") {
		if p.direct {
			return errors.New("it prints no JSON")
		}
		return nil
	}
	_, err := validate(kind, text)
	return err
}

// outputs has the schemas in spec/output.
var outputs = struct {
	mutex    sync.Mutex
	compiler *jsonschema.Compiler
	seen     map[string]bool // the addresses of shapes of which there was a real output
}{compiler: newCompiler(), seen: make(map[string]bool)}

// newCompiler returns a compiler of the schemas of this version.
func newCompiler() *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{"https": published{}})
	return compiler
}

const addresses = "https://github.com/dpl-project/dpl/raw/v0.1.0/spec/output/"

// validate validates the JSON values at the beginning of text, and returns how many there are.
func validate(kind, text string) (values int, err error) {
	outputs.mutex.Lock()
	defer outputs.mutex.Unlock()
	for strings.HasPrefix(text, "{") {
		d := json.NewDecoder(strings.NewReader(text))
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return values, err
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return values, err
		}
		if err := validateValue(kind, value); err != nil {
			return values, fmt.Errorf("%w\n%s", err, raw)
		}
		values++
		text = strings.TrimLeft(text[d.InputOffset():], "\n")
	}
	return values, nil
}

func validateValue(kind string, value any) error {
	schema, err := outputs.compiler.Compile(addresses + kind + ".schema.json")
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		return err
	}
	for _, shape := range schema.OneOf {
		if shape.Ref.Validate(value) == nil {
			outputs.seen[shape.Ref.Location] = true
		}
	}
	return nil
}

// checkPrinted is printed KIND FILE...: the FILEs, which are JSON values one after the other, are of
// the output KIND.
func checkPrinted(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	for _, file := range args[1:] {
		n, err := validate(args[0], ts.ReadFile(file))
		if err == nil && n == 0 {
			err = errors.New("no JSON")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// outputKinds returns the names of the schemas in spec/output.
func outputKinds(t *testing.T) (kinds []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "spec", "output", "*.schema.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas in spec/output (%v)", err)
	}
	for _, file := range files {
		kinds = append(kinds, strings.TrimSuffix(filepath.Base(file), ".schema.json"))
	}
	return kinds
}

// checkShapes reports the shapes of outputs of which the scripts had none, if all scripts have run:
// without STRICT, those are left out whose programs are missing.
func checkShapes(t *testing.T) {
	if os.Getenv("STRICT") == "" || strings.Contains(flag.Lookup("test.run").Value.String(), "/") || t.Failed() {
		return
	}
	outputs.mutex.Lock()
	defer outputs.mutex.Unlock()
	for _, kind := range outputKinds(t) {
		schema, err := outputs.compiler.Compile(addresses + kind + ".schema.json")
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		for _, shape := range schema.OneOf {
			if !outputs.seen[shape.Ref.Location] {
				t.Errorf("no script has an output of the shape %s", shape.Ref.Location)
			}
		}
	}
}
