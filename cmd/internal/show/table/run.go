package table

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
)

var runColumns = []column{
	{title: "RUN"}, {title: "STATE"}, {title: "STARTED"}, {title: "ENDED"},
	{title: "WHY", sinks: true},
}

// Runs draws the runs of an operation.
func (s Style) Runs(runs []model.Operation) string {
	var nodes []*node
	for _, op := range runs {
		nodes = append(nodes, &node{cells: []cell{{text: op.RunID, tone: strong},
			state(op.Outcome()), {text: clock(op.StartedAt())}, {text: clock(op.EndedAt())},
			{text: explain.Failure(op)}}})
	}
	return s.table(runColumns, nodes)
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
