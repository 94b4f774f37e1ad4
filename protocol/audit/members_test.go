package audit

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// Each record has the members that its schema names, in that order.
func TestMembers(t *testing.T) {
	t.Parallel()
	line := func(record func(*wire.Codec)) string { return wire.Line(wire.Record(record)) }
	check := func(schema, place string, texts ...string) {
		t.Helper()
		vectors.CheckMembers(t, "../..", schema, place, texts...)
	}

	l := vectors.Fill(&Line{})
	l.Patch = []Change{{"x", "1", "2", wire.Hash("3")}}
	check("audit", "properties", line(func(c *wire.Codec) { l.members(c, author{}) }))
	by := line(func(c *wire.Codec) { l.By.record(c, author{line: 1}) })
	check("audit", "properties/by/properties", by)
	check("audit", "properties/note/properties", line(l.Note.record))
	check("audit", "properties/patch/items/properties", line(l.Patch[0].record))
	check("operation", "properties/audit/properties", line(vectors.Fill(&Chain{}).Record))
}
