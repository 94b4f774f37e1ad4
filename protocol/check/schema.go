package check

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// readSchema reads a JSON Schema, or its short form: names and their types (spec §41.3).
func readSchema(r *wire.Reader) string {
	text := r.Value()
	if r.Failed() || text[0] != '{' {
		return text // true and false are schemas, and the compiler of schemas refuses the others
	}

	schema, why := schemaOf(text)
	if why != "" {
		r.Refuse("%s", why)
	}
	return schema
}

// schemaOf returns the JSON Schema that the object text means, or why it means none. A word that
// JSON Schema does not know, it ignores. That would ask nothing, so here it is refused.
func schemaOf(text string) (schema, why string) {
	names, types := members(text)
	short := types != nil && !slices.Equal(names, []string{"type"})
	unknown := slices.IndexFunc(names, func(name string) bool { return !isKeyword(name) })

	switch {
	case short && unknown < 0 && slices.ContainsFunc(names, asks):
		return "", "it may be a JSON Schema, or names and their types: write it as a JSON Schema with " +
			"properties"
	case short:
		return shortSchema(names, types), ""
	case unknown >= 0:
		return "", "JSON Schema has no word " + names[unknown] + "; where all members are names and " +
			"their types, the types are " + strings.Join(words(), ", ")
	}
	return text, ""
}

// members returns the names in the object text, and the values if there are any and all are types.
func members(text string) (names, types []string) {
	r, all := wire.NewReader(text, 0), true
	r.Object(func(name string) {
		names = append(names, name)
		if !r.AtString() {
			all = false
			r.Value()
			return
		}
		word := r.String()
		all = all && slices.Contains(words(), word)
		types = append(types, word)
	})
	if !all {
		return names, nil
	}
	return names, types
}

// shortSchema returns the schema of an object that has members of these names and types, and no
// others.
func shortSchema(names, types []string) string {
	var properties, required []byte
	for i, name := range names {
		if i > 0 {
			properties, required = append(properties, ','), append(required, ',')
		}
		properties = wire.AppendQuote(properties, name)
		properties = append(properties, `:{"type":"`+types[i]+`"}`...)
		required = wire.AppendQuote(required, name)
	}
	return `{"type":"object","properties":{` + string(properties) + `},"required":[` +
		string(required) + `],"additionalProperties":false}`
}

// words returns the types of JSON Schema.
func words() []string {
	return []string{"string", "number", "integer", "boolean", "array", "object", "null"}
}

// asks reports whether name is a word of JSON Schema that asks something with a text as its value.
func asks(name string) bool {
	return slices.Contains([]string{"type", "const", "pattern", "format"}, name) ||
		strings.HasPrefix(name, "$")
}

// isKeyword reports whether name is a word of JSON Schema, of any draft from 4 on except `id`,
// which is more often the name of a member.
func isKeyword(name string) bool {
	return strings.HasPrefix(name, "$") ||
		slices.Contains(strings.Fields(keywords), name)
}

// keywords has the words of JSON Schema.
const keywords = `
	type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength
	pattern format maxItems minItems uniqueItems maxContains minContains contains items prefixItems
	additionalItems unevaluatedItems maxProperties minProperties required dependentRequired
	dependentSchemas dependencies properties patternProperties additionalProperties
	unevaluatedProperties propertyNames allOf anyOf oneOf not if then else definitions
	contentEncoding contentMediaType contentSchema
	title description default examples deprecated readOnly writeOnly`

// Refused returns the error for rules in which the schema of s is not valid, and why.
func (s Shape) Refused(why string) error {
	return &wire.Error{Path: string(jsontext.Pointer("/json").AppendToken(string(s.Files))),
		Cause: why, Is: wire.ErrCorrupt}
}
