package heartbeat

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
		names = append(names, a.Clock+" "+warned(a))
	}

	say := strings.Join(names, "\t")
	if say == b.printed {
		return
	}

	b.printed = say
	for _, a := range b.asked {
		left := "-"
		if a.Left >= 0 {
			left = strconv.FormatInt(a.Left.Milliseconds(), 10)
		}

		line := []string{"asked", harmless.Text(a.Clock), left}
		if why := warned(a); why != "" {
			line = append(line, harmless.Text(why))
		}
		fmt.Fprintln(b.env.Stdout, strings.Join(line, "\t"))
	}
}

// warned returns the violation that the service is warned of, in words, or "".
func warned(a group.OpenAsk) string {
	switch v := a.Violation; {
	case v == nil:
		return ""
	case v.Detail == "":
		return v.Code
	default:
		return v.Code + ": " + v.Detail
	}
}

// askedObjects returns the same for --json. Members leftMs are null if the service is never
// stopped for it; code and detail are of the violation that it is warned of, and null without one.
func (b *beater) askedObjects() []cli.Object {
	all := []cli.Object{}
	for _, a := range b.asked {
		var code, detail any
		if v := a.Violation; v != nil {
			code, detail = v.Code, v.Detail
		}
		all = append(all, cli.Object{{"clock", a.Clock}, {"leftMs", leftMs(a)}, {"code", code},
			{"detail", detail}})
	}
	return all
}

func leftMs(a group.OpenAsk) any {
	if a.Left < 0 {
		return nil
	}
	return a.Left.Milliseconds()
}
