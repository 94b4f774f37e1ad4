package question

import (
	"slices"
	"strings"
)

// runs reports whether the command words runs other programs that its words name. A rule that
// allows it must name every word. The list is a reminder: any program may do that.
func runs(words []string) bool {
	switch base(words[0]) {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "env",
		"eval", "exec", "command", "builtin", "noglob", "nocorrect", "coproc", "trap", "alias", "source",
		".", "sudo", "doas", "su", "runuser", "pkexec", "setpriv", "xargs", "parallel", "find", "ssh",
		"nohup", "timeout", "time", "nice", "ionice", "chrt", "taskset", "setsid", "flock", "stdbuf",
		"watch", "chroot", "script", "unshare", "nsenter", "strace", "ltrace", "systemd-run", "dpl",
		"dpl-run", "dpl-work", "dpl-serve":
		return true
	case "git":
		return len(words) > 1 && strings.HasPrefix(words[1], "-") // -c, -C, --exec-path
	}
	return false
}

// moves reports whether program may change the directory of the commands behind it.
func moves(program string) bool {
	return slices.Contains([]string{"cd", "chdir", "pushd", "popd", ".", "source", "eval", "command",
		"builtin", "alias", "trap", "exec"}, program)
}

// Warnings returns what rule may allow that its reader may not expect, one sentence each.
func (rule *Rule) Warnings() (all []string) {
	if rule.Decide != Allow || rule.Argv == nil {
		return nil
	}
	program := base(rule.Argv[0])
	switch {
	case program == "dpl-answer":
		all = append(all, "dpl-answer answers questions, also those of the asker")
	case slices.Contains([]string{"dpl", "dpl-run", "dpl-work", "dpl-serve", "dpl-register", "dpl-enqueue", "dpl-orchestrate",
		"dpl-cleanup", "dpl-ask", "dpl-check", "dpl-restart"}, program):
		all = append(all, program+" runs the commands that it is given")
	}
	if w := rule.wildcard(); w != "" && interprets(program) {
		all = append(all, program+" runs what its arguments or files say: with "+w+" that may be anything")
	}
	return all
}

// interprets reports whether program is known to run what its arguments, or files that they name,
// say.
func interprets(program string) bool {
	name := strings.TrimRight(program, ".0123456789") // python3.12
	return slices.Contains([]string{"python", "pypy", "perl", "node", "deno", "bun", "ruby", "php",
		"lua", "awk", "gawk", "mawk", "nawk", "sed", "make", "gmake", "ninja", "npm", "npx", "pnpm", "yarn",
		"tar", "rsync", "docker", "podman", "kubectl", "vim", "vi", "ed", "emacs", "less", "man", "gdb", "pwsh"},
		name)
}

// base returns word without the directory before it.
func base(word string) string { return word[strings.LastIndexByte(word, '/')+1:] }
