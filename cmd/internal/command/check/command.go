// Package check is dpl-check: see cmd/dpl-check.
package check

import (
	_ "embed"
	"fmt"
	"os"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/inspect"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/term"
)

type checker struct {
	cli.Common `embed:""`

	Rules    cli.Path  `placeholder:"FILE" required:""`
	Dir      cli.Path  `placeholder:"DIR" default:"."`
	Exit     cli.Count `placeholder:"N" help:"exit status of the attempt"`
	Snapshot bool
	Timeout  cli.Span `default:"10s" placeholder:"D"`
	Since    cli.Path `placeholder:"SNAPSHOT"`
}

// Leading returns the flag whose value may be the first argument.
func (*checker) Leading() string { return "rules" }

// Reads makes it a cli.Reader.
func (*checker) Reads() bool { return true }

// Validate returns an error for flags that do not go together.
func (c *checker) Validate() error {
	if c.Snapshot && c.Given("exit", "since") {
		return cli.Usagef("--snapshot is for the start: leave out --exit and --since")
	}
	return nil
}

func (c *checker) Run(env *cli.Env) error {
	rules, err := c.rules()
	if err != nil {
		return err
	}
	start, err := c.start()
	if err != nil {
		return err
	}
	attempt, err := inspect.Open(string(c.Dir), rules, c.options(env))
	if err != nil {
		return c.about(err)
	}
	defer attempt.Close()

	if c.Snapshot {
		s, err := rules.Take(attempt)
		if err == nil {
			fmt.Fprint(env.Stdout, s.Encode())
		}
		return err
	}

	end := process.Adopt()
	report := rules.Judge(attempt, start)
	if left := end(leftoverPatience); len(left) > 0 {
		env.Warnf("%s: command: what it has started cannot be killed: processes %v", c.Rules.Name(), left)
	}
	if env.JSON() || !term.IsTerminal(int(os.Stdout.Fd())) {
		env.PrintJSON(object(report))
	} else {
		fmt.Fprint(env.Stdout, text(report))
	}
	return cli.Exit(status(report.Verdict()))
}

// leftoverPatience is how long what a command leaves behind may take to end.
const leftoverPatience = 10 * time.Second

//go:embed manual.txt
var manual string

// Main runs dpl-check.
func Main() {
	cli.Main(&checker{}, "Judge an attempt by rules.", manual)
}
