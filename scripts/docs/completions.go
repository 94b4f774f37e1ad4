package main

import (
	"fmt"
	"strings"
)

// kind returns the kind of a flag's value: "" for none, any for what cannot be completed, or the
// name in the completions.
func (f flagModel) kind(program string) string {
	newCall := f.Name == "call" && (program == "dpl-push" || program == "dpl-run")
	switch {
	case f.Values != nil:
		return "words " + strings.Join(f.Values, " ")
	case f.Value == "":
		return ""
	case newCall:
		return "any"
	case f.Name == "ready":
		return "ready"
	case f.Name == "service" || f.Name == "supervisor" || f.Name == "depends-on":
		return "services"
	}

	switch f.Value {
	case "OP":
		return "operations"
	case "CALL":
		return "calls"
	case "GROUP":
		return "groups"
	case "QUEUE":
		return "queues"
	case "TASK":
		if f.Name == "id" {
			return "any" // a new one
		}
		return "tasks"
	case "DIR":
		return "directories"
	case "PATH", "FILE":
		return "files"
	case "SIG":
		return "words HUP INT QUIT TERM KILL USR1 USR2"
	}

	return "any"
}

// leads returns what the first argument of c may be, as the completions have it, or "".
func (c *command) leads() string {
	switch c.Program {
	case "dpl-audit", "dpl-claim", "dpl-enqueue", "dpl-queue", "dpl-settle", "dpl-work":
		return "queues"
	case "dpl-serve":
		return "groups"
	case "dpl-trace":
		return "operations"
	}
	return ""
}

// completions returns the files of the completions.
func (g *generator) completions() map[string]string {
	files := make(map[string]string)
	var programs []string
	for _, c := range g.commands {
		programs = append(programs, c.Program)
		files["bash-completion/completions/"+c.Program] = ". \"${BASH_SOURCE[0]%/*}/dpl\"\n"
		files["fish/vendor_completions.d/"+c.Program+".fish"] = c.fish()
	}

	fill := func(name string, model func(*command) string) string {
		text, err := written.ReadFile("completions/" + name)
		if err != nil {
			panic(err) // it is embedded
		}

		var all strings.Builder
		for _, c := range g.commands {
			all.WriteString(model(c))
		}
		return strings.NewReplacer("@MODEL@\n", all.String(), "@PROGRAMS@",
			strings.Join(programs, " ")).Replace(string(text))
	}

	files["bash-completion/completions/dpl"] = fill("dpl.bash", (*command).bash)
	files["zsh/site-functions/_dpl"] = fill("dpl.zsh", (*command).zsh)
	files["fish/vendor_completions.d/dpl.fish"] = fill("dpl.fish",
		func(*command) string { return "" })

	return files
}

// bash returns the case of c in _dpl_model.
func (c *command) bash() string {
	var flags []string
	var out strings.Builder
	for _, f := range c.Flags {
		if f.Short != "" {
			flags = append(flags, "-"+f.Short)
		}
		flags = append(flags, "--"+f.Name)
		if kind := f.kind(c.Program); kind != "" {
			fmt.Fprintf(&out, "\t\t%s) takes='%s' ;;\n", f.Name, kind)
		}
	}

	return fmt.Sprintf("\t%s)\n\t\tflags='%s' rest='%s' lead=%s\n\t\tcase $2 in\n%s\t\tesac\n\t\t;;\n",
		c.Program, strings.Join(flags, " "), c.takes(), c.leads(), out.String())
}

// zsh returns the case of c in _dpl_flags.
func (c *command) zsh() string {
	escape := strings.NewReplacer(`'`, `'\''`, `[`, `\[`, `]`, `\]`, `:`, `\:`)
	var out strings.Builder
	fmt.Fprintf(&out, "\t%s)\n\t\t_arguments -S", c.Program)
	if kind := c.leads(); kind != "" {
		optional := ":"
		if c.Program == "dpl-work" || c.Program == "dpl-serve" {
			optional = "" // or the command would be completed as well
		}
		fmt.Fprintf(&out, " \\\n\t\t\t'1:%s%s:_dpl_ids %s'", optional, strings.TrimSuffix(kind, "s"), kind)
	} else {
		out.WriteString(" -A '-*'") // no flags after the first argument
	}

	for _, f := range c.Flags {
		text := "[" + escape.Replace(f.Help) + "]"
		out.WriteString(" \\\n\t\t\t")
		switch value := f.zshValue(c.Program); {
		case f.Short != "":
			fmt.Fprintf(&out, "'(-%s --%s)'{-%s,--%s}'%s'", f.Short, f.Name, f.Short, f.Name, text)
		case value == "":
			fmt.Fprintf(&out, "'--%s%s'", f.Name, text)
		case f.Repeated:
			fmt.Fprintf(&out, "'*--%s=%s%s'", f.Name, text, value)
		default:
			fmt.Fprintf(&out, "'--%s=%s%s'", f.Name, text, value)
		}
	}

	switch c.takes() {
	case "command":
		out.WriteString(" \\\n\t\t\t'*::: : _dpl_command'")
	case "files":
		out.WriteString(" \\\n\t\t\t'*:file:_files'")
	}

	out.WriteString("\n\t\t;;\n")
	return out.String()
}

// zshValue returns how _arguments completes the value of f, "" if it has none.
func (f flagModel) zshValue(program string) string {
	message := ":" + strings.NewReplacer(":", `\:`, "|", " or ").Replace(f.Value) + ":"
	kind := f.kind(program)
	words, fixed := strings.CutPrefix(kind, "words ")

	switch {
	case kind == "":
		return ""
	case fixed:
		return message + "(" + words + ")"
	case kind == "any":
		return message + " "
	case kind == "directories":
		return message + "_files -/"
	case kind == "files":
		return message + "_files"
	}

	return message + "_dpl_ids " + kind
}

// fish returns the file of c.
func (c *command) fish() string {
	var out strings.Builder
	var valued []string
	for _, f := range c.Flags {
		if f.Value != "" {
			valued = append(valued, f.Name)
		}
	}

	condition := ""
	fmt.Fprintf(&out, "source (status dirname)/dpl.fish\n\n")
	if c.takes() != "files" {
		fmt.Fprintf(&out, "complete -c %s -f\n", c.Program)
	}

	if kind := c.leads(); kind != "" {
		fmt.Fprintf(&out, "complete -c %s -f -n 'test (count (commandline -opc)) = 1' "+
			"-a '(__dpl_ids %s)'\n", c.Program, kind)
	}

	if c.takes() == "command" {
		name := "__" + strings.ReplaceAll(c.Program, "-", "_") + "_command"
		fmt.Fprintf(&out, "function %s\n    __dpl_command %s\nend\n", name,
			strings.Join(valued, " "))
		fmt.Fprintf(&out, "complete -c %s -f -n 'test -n \"$(%s)\"' -a '(__dpl_rest (%s))'\n",
			c.Program, name, name)
		condition = fmt.Sprintf(" -n 'test -z \"$(%s)\"'", name)
	}

	for _, f := range c.Flags {
		fmt.Fprintf(&out, "complete -c %s%s -l %s", c.Program, condition, f.Name)
		if f.Short != "" {
			fmt.Fprintf(&out, " -s %s", f.Short)
		}
		fmt.Fprintf(&out, "%s -d '%s'\n", f.fishValue(c.Program),
			strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(f.Help))
	}

	return out.String()
}

// fishValue returns how fish completes the value of f.
func (f flagModel) fishValue(program string) string {
	kind := f.kind(program)
	words, fixed := strings.CutPrefix(kind, "words ")
	switch {
	case kind == "":
		return ""
	case fixed:
		return " -x -a '" + words + "'"
	case kind == "any":
		return " -x"
	case kind == "directories":
		return " -x -a '(__fish_complete_directories (commandline -ct))'"
	case kind == "files":
		return " -r -F"
	}

	return " -x -a '(__dpl_ids " + kind + ")'"
}
