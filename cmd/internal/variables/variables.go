// Package variables knows the variables of the environment that name objects of a ledger. Each
// belongs to an object: a variable of a call means nothing outside of its operation
// (spec/reference.md, Environment).
package variables

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Ledger is the variable to whose object all others belong.
const Ledger = "DPL_LEDGER"

// owner returns the variable that names the object to which variable belongs, or "". It is the only
// table of them.
func owner(variable string) string {
	switch variable {
	case "DPL_RUN", "DPL_CALL", "DPL_PARTICIPANT", "DPL_TMP", "DPL_HANDLE":
		return "DPL_OP"
	case "DPL_SERVICE", "DPL_SUPERVISOR":
		return "DPL_GROUP"
	case "DPL_EXIT_CODE", "DPL_EXIT_STATUS", "DPL_EXIT_REASON", "DPL_EXIT_DETAIL",
		"DPL_RESTART_FILE":
		return "DPL_SERVICE"
	case "DPL_EPOCH", "DPL_SPEC", "DPL_LOG", "DPL_PREVIOUS", "DPL_SAME_ERROR":
		return "DPL_TASK"
	case "DPL_TASK":
		return "DPL_QUEUE"
	case "DPL_OP", "DPL_GROUP", "DPL_QUEUE", "DPL_ATTEMPT", "DPL_REASON":
		return Ledger
	}
	return ""
}

// Of returns the name of the variable for the flag, which names the same object.
func Of(flag string) string {
	return "DPL_" + strings.ToUpper(flag)
}

// Owner returns the flag that names the object to which the object of flag belongs, such as op for
// call, or "" for none.
func Owner(flag string) string {
	return strings.ToLower(strings.TrimPrefix(owner(Of(flag)), "DPL_"))
}

// Environ returns env with set, in which each variable is given as NAME=VALUE. Variables of an
// object that set replaces are left out: with another DPL_OP, the DPL_CALL in env means nothing.
func Environ(env []string, set ...string) []string {
	stale := Stale(env, set...)
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, named := strings.Cut(entry, "=")
		return named && (slices.Contains(stale, name) || has(set, name))
	})
	return append(env, set...)
}

// Outside returns env without the variables names, and those that belong to their objects.
func Outside(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		for ; name != ""; name = owner(name) {
			if slices.Contains(names, name) {
				return true
			}
		}
		return false
	})
}

// Stale returns the names of the variables in env that mean nothing once those of set are set, and
// are not in set. An object is replaced even by one of the same name, except a ledger.
func Stale(env []string, set ...string) (names []string) {
	moved := false
	for _, entry := range set {
		if dir, is := strings.CutPrefix(entry, Ledger+"="); is {
			moved = !SameLedger(dir, value(env, Ledger))
		}
	}

	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if has(set, name) || slices.Contains(names, name) {
			continue
		}
		for o := owner(name); o != ""; o = owner(o) {
			remains := o == "DPL_GROUP" || o == "DPL_SERVICE"
			if o == Ledger && moved ||
				o != Ledger && has(set, o) && (!remains || value(set, o) != value(env, o)) {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// SameLedger reports whether the directory dir is that of variable, a value of $DPL_LEDGER. If that
// is "", nobody has said that the other variables belong to another ledger.
func SameLedger(dir, variable string) bool {
	if variable == "" || dir == variable {
		return true
	}

	one, err := os.Stat(dir)
	other, otherErr := os.Stat(variable)
	if err == nil && otherErr == nil {
		return os.SameFile(one, other)
	}

	dir, err = filepath.Abs(dir)
	variable, otherErr = filepath.Abs(variable)
	return err == nil && otherErr == nil && dir == variable
}

func has(entries []string, name string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool {
		return len(entry) > len(name) && entry[:len(name)] == name && entry[len(name)] == '='
	})
}

func value(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, is := strings.CutPrefix(entry, name+"="); is {
			return value
		}
	}
	return ""
}
