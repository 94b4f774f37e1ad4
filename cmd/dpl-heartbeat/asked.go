package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/group"
)

// printAsked prints what the service is asked for (spec §26.3), unless the last heartbeat printed
// the same.
func (b *beater) printAsked() {
	var names []string
	for _, a := range b.asked {
		names = append(names, a.Clock)
	}

	say := strings.Join(names, "\t")
	if say == b.said {
		return
	}

	b.said = say
	for _, a := range b.asked {
		left := "-"
		if a.Left >= 0 {
			left = strconv.FormatInt(a.Left.Milliseconds(), 10)
		}
		fmt.Fprintf(b.env.Stdout, "asked\t%s\t%s\n", harmless.Text(a.Clock), left)
	}
}

// askedObjects returns the same for --json. Members leftMs are null if the service is never
// stopped for it.
func (b *beater) askedObjects() []cli.Object {
	all := []cli.Object{}
	for _, a := range b.asked {
		all = append(all, cli.Object{{"clock", a.Clock}, {"leftMs", leftMs(a)}})
	}
	return all
}

func leftMs(a group.Asked) any {
	if a.Left < 0 {
		return nil
	}
	return a.Left.Milliseconds()
}
