package audit

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/go-json-experiment/json/jsontext"
)

// lineObject returns r as it is printed for programs: the line as it is in the log, and what it
// tells of. event has the word of other systems for it (spec §57).
func lineObject(r model.Record) cli.Object {
	events := make([]cli.Object, len(r.Events))
	for i, e := range r.Events {
		events[i] = cli.Object{{"kind", e.Kind}, {"event", cli.OrNull(e.Outside())},
			{"taskId", cli.OrNull(e.Task)}, {"text", e.Text}}
	}
	return cli.Object{{"hash", r.Hash}, {"events", events}, {"line", jsontext.Value(r.Text)}}
}

func findingObject(f audit.Finding) cli.Object {
	return cli.Object{{"seq", f.Seq}, {"how", string(f.How)}, {"text", f.Text}}
}
