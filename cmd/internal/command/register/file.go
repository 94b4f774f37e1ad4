package register

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// maxServicesFile limits the size of a services file, which people write.
const maxServicesFile = 16 << 20

// registerFile registers the services of a file (spec §31).
func (c *register) registerFile(env *cli.Env) error {
	r, err := c.fileRegistration(env)
	if err != nil {
		return err
	}

	l, err := c.NewLedger.Create(env)
	if err != nil {
		return err
	}

	if err := checkLinks(l, string(c.Group), r.File.Services); err != nil {
		return cli.Named("register", string(c.Group), string(c.File), err)
	}

	groupID, heard := string(c.Group), false
	var plan []group.Planned
	edit, err := env.Session.EditGroup(l, groupID, fileops.OrCreate,
		func(g group.Group, seen observe.Observation) (after group.Group, err error) {
			heard, _ = g.OrchestratorHeard(seen)
			after, plan, err = g.RegisterAll(r, seen)
			return after, err
		})

	if err != nil {
		return cli.Named("register", groupID, string(c.File), err)
	}

	warnOutdated(env, edit, plan)
	c.report(env, edit, plan)
	if !heard && !c.NoPass && !env.DryRun() && env.CheckGroupTrust(l) == nil {
		c.pass(env, l, groupID)
	}

	return nil
}

// fileRegistration returns what the file asks for.
func (c *register) fileRegistration(env *cli.Env) (r group.FileRegistration, err error) {
	if r.By, err = env.ActorID(); err != nil {
		return r, err
	}

	text, err := readServices(string(c.File))
	if err != nil {
		return r, err
	}

	if r.File, err = group.DecodeServices(text); err != nil {
		if errors.Is(err, wire.ErrCorrupt) {
			err = cli.WithStatus(cli.StatusCorrupt, errors.New(err.Error()))
		}
		return r, cli.Named("register", string(c.Group), string(c.File), err)
	}

	base := "."
	if c.File != "-" {
		base = filepath.Dir(string(c.File))
	}
	if base, err = filepath.Abs(base); err != nil {
		return r, err
	}
	if err := cli.CheckText(base); err != nil {
		return r, cli.Usagef("--file: directory %q: %v", base, err)
	}

	for _, d := range r.File.Services {
		if !filepath.IsAbs(d.StartInfo.Dir) {
			d.StartInfo.Dir = filepath.Join(base, d.StartInfo.Dir)
		}
	}

	r.Prune, r.Resume = c.Prune, c.Resume
	r.Recorded.Umask = currentUmask()
	r.Recorded.Variables, err = environment(nil)
	return r, err
}

// readServices returns the content of a services file.
func readServices(file string) (string, error) {
	from := os.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = cli.WithStatus(cli.StatusNotFound, err)
		}
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}

	text, err := io.ReadAll(io.LimitReader(from, maxServicesFile+1))
	if err == nil && len(text) > maxServicesFile {
		err = cli.WithStatus(cli.StatusCorrupt,
			fmt.Errorf("%s: it has more than %d MiB", file, maxServicesFile>>20))
	}
	return string(text), err
}

// warnOutdated names the changed services that still run with their old settings, or would.
func warnOutdated(env *cli.Env, edit session.GroupEdit, plan []group.Planned) {
	var old []string
	for _, p := range plan {
		if p.What == group.PlanChange && p.ID != "" && edit.After.Service(p.ID).Outdated() {
			old = append(old, p.ID)
		}
	}

	id := edit.After.ID
	switch {
	case len(old) == 0:
	case env.DryRun():
		env.Warnf("%s: %s would run with old settings until their next start", id,
			strings.Join(old, ", "))
	default:
		env.Warnf("%s: %s still run with old settings, until their next start: dpl-restart "+
			"--group %s --service ID", id, strings.Join(old, ", "), id)
	}
}

// report prints the plan: with --json, in a dry run, or with -v.
func (c *register) report(env *cli.Env, edit session.GroupEdit, plan []group.Planned) {
	if env.JSON() {
		env.PrintJSON(append(cli.GroupResult(edit, ""), cli.Member{"plan", planJSON(plan)}))
		return
	}

	for _, p := range plan {
		line := fmt.Sprintf("%-6s %s%s", p.What, cmp.Or(p.ID, "the group"),
			details(p, edit.After.Service(p.ID)))
		if env.DryRun() {
			fmt.Fprintln(env.Stdout, line)
		} else if p.What != group.PlanKeep {
			env.Logf("%s: %s", edit.After.ID, line)
		}
	}
}

// details returns what there is to say about p besides its name. s is the service after it, or nil.
func details(p group.Planned, s *group.Service) string {
	switch {
	case p.Members != nil:
		return ": " + strings.Join(p.Members, ", ")
	case p.AfterStop:
		return ": it is stopped first"
	case p.What == group.PlanKeep && s.Over():
		return fmt.Sprintf(": it is %s, and stays so: see dpl-restart", s.State)
	}
	return ""
}

func planJSON(plan []group.Planned) []cli.Object {
	rows := []cli.Object{}
	for _, p := range plan {
		rows = append(rows, cli.Object{{"supervisorId", cli.OrNull(p.ID)}, {"action", p.What},
			{"members", append([]string{}, p.Members...)}, {"afterStop", p.AfterStop}})
	}
	return rows
}

// checkFile returns an error for flags that do not go with --file.
func (c *register) checkFile() error {
	if c.File == "" {
		if c.Prune {
			return cli.Usagef("--prune goes with --file")
		}
		return nil
	}

	others := c.GivenBesides("group", "file", "prune", "resume", "no-pass", "shared", "commit",
		"resource-root")
	if len(others) > 0 {
		return cli.Usagef("--%s does not go with --file: the file says it", others[0])
	}
	if len(c.Command) > 0 {
		return cli.Usagef("COMMAND does not go with --file: the file says it")
	}

	return nil
}
