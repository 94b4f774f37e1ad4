//go:build linux

package testscripts

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// testServicesPage runs the entry point of spec/containers.md as the first process of a container:
// it starts services, and stops them in order when the container is stopped. A container with
// another host name that takes its place starts them again.
func testServicesPage(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	page := read(t, "spec/containers.md")
	script := fenced(t, section(t, page, "Services"), "sh")
	// Ends of sleep tell nothing.
	script = regexp.MustCompile(`-- sleep 1d`).ReplaceAllString(script,
		`-- sh -c 'trap "echo $$DPL_SERVICE >>stopped; exit" TERM; echo >>begun; while :; do sleep 0.05; done'`)
	write(t, o.dir+"/services.sh", "PATH="+bin+":$PATH\nhostname $1\n"+script, 0o755)
	probes := commandsIn(t, section(t, page, "Kubernetes"))

	for i, name := range []string{"first", "second"} {
		outside, first := o.entryIn([]string{"-pu --mount-proc", "-Urpu --mount-proc"}, "sh",
			"services.sh", name)
		poll.Until(t, "web runs", func() bool { return o.probe(probes["readinessProbe"]) })
		poll.Until(t, "both can be told to stop", func() bool {
			begun, _ := os.ReadFile(o.dir + "/begun")
			return len(begun) == 2*(i+1)
		})
		if !o.probe(probes["livenessProbe"]) {
			t.Error("the liveness probe fails while web runs")
		}
		if err := syscall.Kill(first, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if got, _ := exitStatus(outside.Wait()); got != "0" {
			t.Errorf("%s ends with %s: %s", name, got, o.text("said"))
		}
		o.want("shop.supervisors.json", "supervisors.*.state=stopped stopped")
		if o.probe(probes["readinessProbe"]) {
			t.Error("the readiness probe succeeds after the end")
		}
	}
	if got := o.text("stopped"); got != "web\ndb\nweb\ndb\n" {
		t.Errorf("stopped: %q", got)
	}
	if !o.probe(probes["preStop"]) {
		t.Error("preStop fails when all services have stopped")
	}
}

// commandsIn returns the commands in manifests of Kubernetes, by the member before them. They are
// arrays of JSON.
func commandsIn(t *testing.T, text string) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	member := ""
	for line := range strings.Lines(text) {
		if m := regexp.MustCompile(`^ *(?:- )?(\w+):`).FindStringSubmatch(line); m != nil &&
			m[1] != "exec" && m[1] != "command" && m[1] != "image" {
			member = m[1]
		}
		if m := regexp.MustCompile(`command: (\[.*?\])`).FindStringSubmatch(line); m != nil {
			var argv []string
			if err := json.Unmarshal([]byte(m[1]), &argv); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			all[member] = argv
		}
	}
	return all
}

// probe reports whether a command succeeds.
func (o *observed) probe(argv []string) bool {
	o.t.Helper()
	if len(argv) == 0 {
		o.t.Fatal("the page has no such command")
	}
	cmd := o.command("env", argv...)
	cmd.Path, cmd.Args = "/usr/bin/env", append([]string{"env"}, argv...)
	cmd.Env = append(cmd.Env, "PATH="+o.bin+":"+os.Getenv("PATH"))
	return cmd.Run() == nil
}

// testManifests runs the commands of the manifests that are not probes.
func testManifests(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	page := section(t, read(t, "spec/containers.md"), "Kubernetes")
	commands := make(map[string][]string)
	for _, manifest := range blocks(page, "yaml") {
		name := strings.TrimPrefix(strings.SplitN(manifest, "\n", 2)[0], "# ")
		commands[name] = commandsIn(t, manifest)["name"]
	}

	worker := commands["workers.yaml"]
	if !o.probe(commands["janitor.yaml"]) || len(worker) == 0 {
		t.Fatalf("the commands of the manifests: %q", commands)
	}
	o.run("dpl-enqueue", "build", "--", "sh", "-c", "echo >"+o.dir+"/done")
	outside, first := o.entry(worker[0], worker[1:]...)
	o.there("done")
	poll.Until(t, "the end of the task",
		func() bool { return o.probe([]string{"dpl-status", "--queue", "build", "--check", "empty"}) })
	host, _ := os.Hostname()
	if q := o.text("ledger/queues/build.json"); !strings.Contains(q, `"dpl-work-`+host+`-1"`) {
		t.Errorf("the attempt does not name the container: %s", q)
	}

	syscall.Kill(first, syscall.SIGTERM)
	if got, _ := exitStatus(outside.Wait()); got != "143" {
		t.Errorf("the worker ends with %s: %s", got, o.text("said"))
	}
}
