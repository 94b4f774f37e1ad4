package ask

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/question"
)

// validateExplain returns an error for flags that do not go with --explain-rules.
func (c *ask) validateExplain() error {
	if c.Rules == nil {
		return cli.Usagef("--explain-rules needs --rules FILE")
	}
	others := []string{"question", "kind", "choice", "to", "signers", "fresh", "timeout", "wait", "key",
		"park", "on-alert", "call", "pid"}
	for _, flag := range others {
		if c.Given(flag) {
			return cli.Usagef("--explain-rules asks nothing: leave out --%s", flag)
		}
	}
	return nil
}

// explain prints the rules, and with a request why each of them matches or not.
func (c *ask) explain(env *cli.Env) error {
	var files []question.Rules
	for _, path := range c.Rules {
		rules, _, err := readRules(path, string(path))
		if err != nil {
			return err
		}
		files = append(files, rules)
		if _, err := c.trusted(string(path)); err != nil {
			env.Warnf("--rules: %v", err)
		}
	}

	var e *question.Explanation
	if c.Input != "" {
		text, err := c.Input.Read(mostInput)
		if err != nil {
			return err
		}
		request, err := question.DecodeRequest(text)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Input.Name(), err)
		}
		found := question.Explain(request, files, evidence(env, request))
		e = &found
	}
	if env.JSON() {
		env.PrintJSON(c.explainedObject(files, e))
		return nil
	}
	fmt.Fprint(env.Stdout, c.explained(files, e))
	return nil
}

// explained returns what a person reads of the rules in files, and of e if there is a request.
func (c *ask) explained(files []question.Rules, e *question.Explanation) string {
	var b strings.Builder
	for i, rules := range files {
		fmt.Fprintln(&b, c.Rules[i])
		for j := range rules {
			rule := &rules[j]
			fmt.Fprintf(&b, "%4d  %s\n", j+1, rule)
			if e != nil {
				fmt.Fprintf(&b, "      %s\n", matchText(rule, e.Rules[i][j]))
			}
			for _, warning := range rule.Warnings() {
				fmt.Fprintf(&b, "      warning: %s\n", warning)
			}
		}
	}
	if e != nil {
		fmt.Fprintf(&b, "%s\n", c.verdictText(e))
	}
	return b.String()
}

func matchText(rule *question.Rule, m question.Match) string {
	switch {
	case m.Decision == "":
		return "no: " + m.Why
	case m.Decision != rule.Decide:
		return "yes, so ask: its words occur, but perhaps as data"
	case m.Why != "":
		return "yes: " + m.Why
	}
	return "yes"
}

// verdictText says what the rules decide, and which one.
func (c *ask) verdictText(e *question.Explanation) string {
	v := e.Verdict
	if v.File < 0 {
		return fmt.Sprintf("%s a person: %s", v.Decision, e.Why)
	}
	person := ""
	if v.Decision == question.Ask {
		person = " a person"
	}
	return fmt.Sprintf("%s%s: rule %d of %s", v.Decision, person, v.Rule+1, c.Rules[v.File])
}

// explainedObject returns the same for programs.
func (c *ask) explainedObject(files []question.Rules, e *question.Explanation) cli.Object {
	all := []cli.Object{}
	for i, rules := range files {
		for j := range rules {
			rule := &rules[j]
			object := cli.Object{{"file", string(c.Rules[i])}, {"number", j + 1},
				{"rule", rule.String()}, {"warnings", append([]string{}, rule.Warnings()...)}}
			if e != nil {
				m := e.Rules[i][j]
				object = append(object, cli.Member{"says", cli.OrNull(string(m.Decision))},
					cli.Member{"why", cli.OrNull(m.Why)})
			}
			all = append(all, object)
		}
	}
	object := cli.Object{{"rules", all}}
	if e == nil {
		return object
	}

	v := cli.Object{{"decide", string(e.Verdict.Decision)}}
	if at := e.Verdict; at.File >= 0 {
		v = append(v, cli.Member{"file", string(c.Rules[at.File])},
			cli.Member{"number", at.Rule + 1})
	}
	return append(object, cli.Member{"verdict", append(v, cli.Member{"why", cli.OrNull(e.Why)})})
}
