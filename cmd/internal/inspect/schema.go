package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/check"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// nowhere loads no schema: what is good must not depend on other files, or on the network.
type nowhere struct{}

func (nowhere) Load(string) (any, error) {
	return nil, errors.New("a schema in another file is not read")
}

// compile returns the schemas of shapes, by their text. Its error is a *wire.Error.
func compile(shapes []check.Shape) (map[string]*jsonschema.Schema, error) {
	schemas := make(map[string]*jsonschema.Schema, len(shapes))
	for _, s := range shapes {
		schema, err := compileOne(s.Schema)
		if err != nil {
			return nil, s.Refused(err.Error())
		}
		schemas[s.Schema] = schema
	}
	return schemas, nil
}

func compileOne(text string) (*jsonschema.Schema, error) {
	document, err := value(text)
	if err != nil {
		return nil, err
	}

	const address = "rules://dpl/schema"
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	c.AssertFormat() // a format that nobody looks at would ask nothing
	if err := c.AddResource(address, document); err != nil {
		return nil, err
	}

	schema, err := c.Compile(address)
	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if e, ok := errors.AsType[*jsonschema.ValidationError](e.Err); ok {
			return nil, errors.New(why(e))
		}
	}
	if e, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return nil, fmt.Errorf("$ref %s: %w", e.URL, e.Err)
	}
	return schema, err
}

func (a *Attempt) conforms(s check.Shape, text string) error {
	if err := wire.CheckSyntax(text); err != nil {
		return check.Fact("it is not valid JSON: " + err.Error())
	}
	document, err := value(text)
	if err != nil {
		return err
	}

	err = a.schemas[s.Schema].Validate(document)
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return check.Fact(why(e))
	}
	return err
}

// value returns the value of text. It refuses numbers that are so long that comparing them takes a
// second, or so large that big.Rat, with which the library compares, does not read them.
func value(text string) (any, error) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.ReadToken()
		if err != nil {
			break // the end, or the syntax is wrong, as is said below
		}
		if token.Kind() == '0' && !handy(token.String()) {
			return nil, fmt.Errorf("%s: a number is too large or too long", d.StackPointer())
		}
	}
	return jsonschema.UnmarshalJSON(strings.NewReader(text))
}

// handy reports whether number has at most 400 digits, before and after the point, when written
// without an exponent. The largest float64 has 309.
func handy(number string) bool {
	const most = 400
	if len(number) > most {
		return false
	}
	_, exponent, ok := strings.Cut(strings.ToLower(number), "e")
	n, err := strconv.Atoi(exponent)
	return !ok || err == nil && n <= most && n >= -most
}

// why returns the reasons of e, sorted by place, and not more than five.
func why(e *jsonschema.ValidationError) string {
	reasons := reasons(e)
	slices.Sort(reasons)
	reasons = slices.Compact(reasons)

	const most = 5
	if more := len(reasons) - most; more > 0 {
		reasons = append(reasons[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(reasons, "; ")
}

// reasons returns the innermost reasons of e, shortened.
func reasons(e *jsonschema.ValidationError) (all []string) {
	for _, cause := range e.Causes {
		all = append(all, reasons(cause)...)
	}
	if all != nil {
		return all
	}

	if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(k.Properties) // they come in any order
	}
	const most = 200
	unit := e.BasicOutput()
	reason := harmless.Short(unit.Error.String(), most)
	if unit.InstanceLocation != "" {
		reason = harmless.Short(unit.InstanceLocation, most) + ": " + reason
	}
	return []string{reason}
}
