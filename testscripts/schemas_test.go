//go:build unix

package testscripts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// published is a loader of schemas by the addresses where they are published. It has those of this
// version.
type published struct{}

// Load returns the schema at address.
func (published) Load(address string) (any, error) {
	_, name, _ := strings.Cut(address, "/spec/")
	file, err := os.Open(filepath.Join(root, "spec", filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer file.Close()

	schema, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		return nil, err
	}
	if id := schema.(map[string]any)["$id"]; id != address {
		return nil, fmt.Errorf("%s has the address %s", file.Name(), id)
	}
	return schema, nil
}

// checkSchemas is schemas KIND... [FILE...]: the JSON files of the ledger are of these kinds,
// sorted, and they and the FILEs agree with the schemas that they name in their first member.
func checkSchemas(ts *testscript.TestScript, args []string) error {
	var found []string
	err := filepath.WalkDir(ts.Getenv("DPL_LEDGER"), func(file string, d fs.DirEntry, err error) error {
		inTasks := strings.Contains(file, "/queues/tasks/") // written by users, or reports
		if err != nil || d.IsDir() || filepath.Ext(file) != ".json" || inTasks {
			return err
		}
		kind, err := agrees(file)
		found = append(found, kind)
		return err
	})

	slices.Sort(found)
	found = slices.Compact(found)
	for _, arg := range args {
		if filepath.Ext(arg) == ".json" {
			_, fails := agrees(ts.MkAbs(arg))
			err = errors.Join(err, fails)
		}
	}
	kinds := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return filepath.Ext(arg) == ".json" })
	if err == nil && !slices.Equal(found, kinds) {
		err = fmt.Errorf("files of %q, want %q", found, kinds)
	}
	return err
}

// agrees returns the kind of a file, which agrees with the schema that its first member names.
func agrees(file string) (kind string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	_, address, _ := bytes.Cut(text, []byte(`"$schema"`))
	if !bytes.HasPrefix(bytes.TrimLeft(text, "{ \n"), []byte(`"$schema"`)) {
		return "", fmt.Errorf("%s does not begin with $schema:\n%s", file, text)
	}
	address = bytes.SplitN(address, []byte(`"`), 3)[1]

	schema, err := newCompiler().Compile(string(address))
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if err := schema.Validate(document); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return strings.TrimSuffix(path.Base(string(address)), ".schema.json"), nil
}
