package linearize

import (
	"bytes"
	"path/filepath"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	return jsonschema.NewCompiler().Compile(filepath.Join(root, "spec", "operation.schema.json"))
})

// checkSchema returns why text is not the file of an operation.
func checkSchema(text []byte) error {
	schema, err := schema()
	if err != nil {
		return err
	}

	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(document)
}
