package main

// ruleVectors and realShells look for bugs in the rules of dpl-ask.
const (
	ruleVectors = "./protocol/question TestVectors"
	realShells  = "./cmd/dpl-ask TestShell$"
)

// rules are bugs in rules that decide before a person is asked (spec/questions.md, §48).
var rules = []mutant{
	{
		"a variable in double quotes", "protocol/question/shell.go",
		`strings.ContainsAny(inner, "$` + "`" + `\\!")`, `strings.ContainsAny(inner, "` + "`" + `\\!")`,
		[]string{ruleVectors, realShells},
	}, {
		"a redirection to a file", "protocol/question/shell.go",
		`[]string{"2>&1", ">/dev/null",`, `[]string{"2>&1", ">", ">/dev/null",`,
		[]string{ruleVectors, realShells},
	}, {
		"a star is plain", "protocol/question/shell.go",
		`strings.ContainsRune("_@%+:,./-", r)`, `strings.ContainsRune("_@%+:,./-*", r)`,
		[]string{ruleVectors, realShells},
	}, {
		"a backslash is plain", "protocol/question/shell.go",
		`strings.ContainsRune("_@%+:,./-", r)`, `strings.ContainsRune("_@%+:,./-\\", r)`,
		[]string{ruleVectors, realShells},
	}, {
		"only the first command is looked at", "protocol/question/decide.go",
		"		if v.File < 0 {\n			return asked", "		if v.File < 0 && i == 0 {\n			return asked",
		[]string{ruleVectors, realShells},
	}, {
		"a word behind a command that makes links", "protocol/question/decide.go",
		"loose = loose || free > 0", "loose = loose && free > 0",
		[]string{ruleVectors, realShells},
	}, {
		"a word in the pipeline of one that makes links", "protocol/question/decide.go",
		"loose || free > 1 || free == 1 && held[i]", "loose",
		[]string{ruleVectors},
	}, {
		"a cd stays where it was", "protocol/question/decide.go",
		"moved = moved || moves(p.words[0])", "moved = moved && moves(p.words[0])",
		[]string{ruleVectors, realShells},
	}, {
		"an option that begins like one", "protocol/question/match.go",
		"if ok && value == \"\" {", "if ok {",
		[]string{ruleVectors, realShells},
	}, {
		"a number that is none", "protocol/question/match.go",
		`strings.Trim(digits, "0123456789") == ""`, `digits != "x"`,
		[]string{ruleVectors, realShells},
	}, {
		"the value of an option is no path", "protocol/question/match.go",
		"m = rule.allowsOperand(value, o, seen); m == (miss{}) {", "m = (miss{}); m == (miss{}) {",
		[]string{ruleVectors, realShells},
	}, {
		"what is behind a sign is no path", "protocol/question/match.go",
		`strings.IndexAny(word, "=:,@")`, `strings.IndexAny(word, "=:,")`,
		[]string{ruleVectors},
	}, {
		"the asker chooses the directory", "protocol/question/match.go",
		"	case q.Moved:", "	case q.Moved && q.Dir == \"/\":",
		[]string{ruleVectors, realShells},
	}, {
		"it runs elsewhere", "protocol/question/match.go",
		"	case !seen.inside(\"\"):", "	case !seen.inside(\"\") && q.Dir == \"\":",
		[]string{realShells},
	}, {
		"members beside a command", "protocol/question/match.go",
		"case len(q.Beside) > 0:", "case len(q.Beside) > 2:",
		[]string{ruleVectors},
	}, {
		"git runs what its options say", "protocol/question/programs.go",
		`strings.HasPrefix(words[1], "-")`, `strings.HasPrefix(words[1], "--")`,
		[]string{ruleVectors},
	}, {
		"an expired rule", "protocol/question/match.go",
		"!rule.Until.IsZero() && !now.Before(rule.Until)", "!rule.Until.IsZero() && now.IsZero()",
		[]string{ruleVectors, realShells},
	}, {
		"a way up from what does not exist", "cmd/dpl-ask/paths.go",
		"if !at.exists || !next.linked && links > 0 {", "if !next.linked && links > 0 {",
		[]string{"./cmd/dpl-ask TestInside"},
	}, {
		"a way up behind a link", "cmd/dpl-ask/paths.go",
		"if !at.exists || !next.linked && links > 0 {", "if !at.exists {",
		[]string{"./cmd/dpl-ask TestInside"},
	}, {
		"a link that is not followed", "cmd/dpl-ask/paths.go",
		"case info.Mode()&os.ModeSymlink != 0:", "case info.Mode()&os.ModeSymlink != 0 && links > 0:",
		[]string{realShells, "./cmd/dpl-ask TestInside"},
	}, {
		"a user before the host", "protocol/question/domains.go",
		`strings.IndexAny(rest, "/?#")`, `strings.IndexAny(rest, "/?#@")`,
		[]string{ruleVectors},
	}, {
		"a sentence that is a host", "protocol/question/domains.go",
		"return ok && word != \"\" &&", "return (ok || text == word) && word != \"\" &&",
		[]string{ruleVectors},
	}, {
		"a name that begins alike is the directory", "cmd/dpl-ask/paths.go",
		`strings.TrimSuffix(top, "/")+"/")`, `strings.TrimSuffix(top, "/"))`,
		[]string{"./cmd/dpl-ask TestInside"},
	},
}
