// Package checking is how commands that settle attempts run dpl-check (spec §45). They do not link
// it: what it needs would make each of them slower, and most tasks have no check.
package checking

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol/check"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Program returns the path of dpl-check: beside this program, or else in $PATH.
func Program() (string, error) {
	const name = "dpl-check"
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	if err == nil {
		beside := filepath.Join(filepath.Dir(own), name+filepath.Ext(own))
		if path, err := exec.LookPath(beside); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(name)
}

// Judge returns the arguments for a check of the attempt whose files are in dir, by rules on
// standard input. exit is its exit status, or -1; since the file of the snapshot, or "".
func Judge(dir string, exit int, since string) []string {
	args := []string{"--rules=-", "--json", "--dir=" + dir}
	if exit >= 0 {
		args = append(args, "--exit="+strconv.Itoa(exit))
	}
	if since != "" {
		args = append(args, "--since="+since)
	}
	return args
}

// Start returns a snapshot of what rules say must change in dir, or "" if nothing must.
func Start(rules, dir string) (string, error) {
	decoded, err := check.Decode(rules)
	if err != nil || decoded.Changed == nil {
		return "", err
	}
	path, err := Program()
	if err != nil {
		return "", err
	}

	cmd := exec.Command(path, "--rules=-", "--snapshot", "--dir="+dir)
	cmd.Stdin = strings.NewReader(rules)
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && len(e.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(e.Stderr)))
	}
	return string(out), err
}

// Outcome returns how an attempt ends, given the exit status and the report of dpl-check.
func Outcome(status int, report string) queue.Outcome {
	findings, err := check.DecodeReport(report)
	switch {
	case status == 0 && err == nil && findings.Verdict() == check.Passed:
		return queue.Outcome{End: queue.Done}
	case status == 1 && err == nil && findings.Verdict() == check.Failed:
		return queue.Outcome{End: queue.Rejected, Reason: findings.Summary()}
	case err == nil && findings.Verdict() == check.Unchecked:
		return queue.Outcome{End: queue.Uncertain, Reason: "unchecked: its check looks at nothing"}
	case err == nil && findings.Verdict() != check.Passed:
		return queue.Outcome{End: queue.Uncertain, Reason: findings.Summary()}
	}
	return Broken("dpl-check exited " + strconv.Itoa(status))
}

// Broken returns how an attempt ends that could not be checked, because of why.
func Broken(why string) queue.Outcome {
	return queue.Outcome{End: queue.Uncertain, Reason: "it could not be checked: " + why}
}
