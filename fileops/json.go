package fileops

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// encode returns one value, indented by two spaces, with a newline at the end.
func encode(tokens []jsontext.Token) ([]byte, error) {
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	for _, token := range tokens {
		if err := e.WriteToken(token); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// readObject reads one object, and nothing after it. For each member it calls member, which must
// read the value.
func readObject(data []byte, member func(r *wire.Reader, name string)) error {
	r := wire.NewReader(trust.AsString(data), 0)
	r.Object(func(name string) { member(r, name) })
	r.End()
	return r.Err()
}
