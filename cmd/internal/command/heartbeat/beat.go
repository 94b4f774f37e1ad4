package heartbeat

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// beater sends the heartbeats of one actor.
type beater struct {
	env     *cli.Env
	ledger  *fileops.Ledger
	op      string // "": every operation that names the supervisor
	group   string // the group of service
	service string // "": none
	answer  int    // the status of the service's heartbeat
	asked   []group.OpenAsk
	printed string // what was printed about asked last
	actor   protocol.Actor
	report  observe.Report
	spend   []policy.Amount

	progress bool // the service has made progress
}

// beater returns a beater for what the flags ask for.
func (c *heartbeat) beater(env *cli.Env) (*beater, error) {
	b := &beater{env: env, op: string(c.Op)}
	var err error
	if b.actor, err = c.actor(env); err != nil {
		return nil, err
	}
	if b.group, b.service, err = c.serviceOf(b.actor); err != nil {
		return nil, err
	}

	b.report = observe.Report{Cleaning: c.Cleaning, Readiness: c.Readiness, Note: (*string)(c.Note)}
	b.actor.Heartbeats, b.progress = c.Heartbeat, c.Progress
	b.spend = cli.Amounts(c.Spend)
	participates := b.actor.Call != "" || b.actor.Participant != ""

	switch {
	case b.op == "" && participates:
		return nil, cli.Usagef("--op is required for a participant, or $DPL_OP")
	case c.Cleaning && !participates:
		return nil, cli.Usagef("--cleaning goes with --call or --participant")
	case c.Heartbeat && b.actor.Supervisor == "" && b.service == "":
		return nil, cli.Usagef("--heartbeat goes with --service or --supervisor: dpl-push " +
			"--heartbeat promises those of a call")
	case c.Progress && b.service == "":
		return nil, cli.Usagef("--progress goes with --service")
	case c.Spend != nil && b.service == "":
		return nil, cli.Usagef("--spend goes with --service or --supervisor, and --group")
	case (b.report.Readiness != "" || b.report.Note != nil) && !participates && b.service == "":
		return nil, cli.Usagef("--readiness and --note go with --call, --participant or --group")
	}

	if b.actor.Process, err = cli.Identify(c.PID); err != nil {
		return nil, err
	}
	if b.actor.PID = int(c.PID); c.PID == 0 {
		b.actor.PID = os.Getppid()
	}

	b.ledger, err = env.Open()

	return b, err
}

// actor returns the sender of the heartbeat. Flags hide the environment, so a participant started
// by a supervisor does not send heartbeats in the supervisor's name, whatever operation --op names.
func (c *heartbeat) actor(env *cli.Env) (a protocol.Actor, err error) {
	call, participant, supervisor := string(c.Call), string(c.Participant), string(c.Supervisor)
	participates := env.Variable("DPL_CALL") != "" || env.Variable("DPL_PARTICIPANT") != ""
	served := !participates || c.Given("group")
	switch {
	case c.Given("call", "participant", "supervisor", "service"):
		a.Call, a.Participant, a.Supervisor = call, participant, supervisor
	case call != "":
		a.Call = call
	case participant != "":
		a.Participant = participant
	case supervisor != "" && served:
		a.Supervisor = supervisor
	case env.Variable("DPL_SERVICE") != "" && served:
		// serviceOf reads it.
	default:
		err = cli.Usagef("one of --call, --participant, --supervisor and --service is required, " +
			"or $DPL_CALL, $DPL_PARTICIPANT, $DPL_SUPERVISOR or $DPL_SERVICE")
	}

	return a, err
}

// serviceOf returns the service to send a heartbeat for, and its group: that of --service or
// $DPL_SERVICE, or the one with the id of the supervisor. A participant that a service has started
// sends none for the service.
func (c *heartbeat) serviceOf(a protocol.Actor) (group, service string, err error) {
	alone := a == protocol.Actor{}
	if a.Supervisor == "" && !c.Given("service") && !alone {
		if c.Given("group") {
			err = cli.Usagef("--group goes with --service or --supervisor, or $DPL_SERVICE or " +
				"$DPL_SUPERVISOR")
		}
		return "", "", err
	}

	group, service = string(c.Group), string(c.Service)
	switch {
	case group == "" && (c.Given("service") || alone):
		return "", "", cli.Usagef("--service goes with --group, or $DPL_GROUP")
	case group == "":
		return "", "", nil
	case service == "" && c.Given("supervisor"):
		service = a.Supervisor
	case service == "":
		return "", "", cli.Usagef("--service is required with --group %s: $DPL_SERVICE and "+
			"$DPL_SUPERVISOR are of the group $DPL_GROUP", group)
	}

	return group, service, nil
}

// beat sends one heartbeat, prints the result, and returns the exit status.
func (b *beater) beat() (int, error) {
	registration, err := b.registration()
	if err != nil {
		return 0, err
	}

	result, status, err := b.operations()
	if err != nil {
		return status, err
	}
	if b.env.JSON() {
		b.env.PrintJSON(append(registration, result...))
	}
	return cli.Worse(b.answer, status), nil
}

// registration sends the heartbeat to the group.
func (b *beater) registration() (cli.Object, error) {
	if b.service == "" {
		return nil, nil
	}

	p := group.ServiceProcess{
		Service: b.service, PID: b.actor.PID, Process: b.actor.Process,
		Heartbeats: b.actor.Heartbeats, Progress: b.progress, Spend: b.spend,
	}

	var verdict observe.Verdict
	edit, err := b.env.EditGroup(b.ledger, b.group, fileops.Existing,
		func(g group.Group, seen observe.Observation) (after group.Group, err error) {
			after, verdict, err = g.BeatService(p, b.report, seen)
			b.asked = after.Asked(b.service, seen)
			return after, err
		})

	if err != nil {
		return nil, cli.Named("heartbeat", b.group, b.service, err)
	}

	b.answer = cli.StatusOfVerdict(verdict)
	if !b.env.JSON() {
		b.printAsked()
	}
	result := append(cli.GroupResult(edit, b.service), cli.Member{"status", b.answer},
		cli.Member{"asked", b.askedObjects()})

	return cli.Object{{"registration", result}}, nil
}

// operations sends the heartbeat to one operation, or to all.
func (b *beater) operations() (cli.Object, int, error) {
	if b.actor.Call == "" && b.actor.Participant == "" && b.actor.Supervisor == "" {
		return nil, cli.StatusOK, nil
	}

	if b.op != "" {
		result, status, err := b.one(b.op)
		if errors.Is(err, fileops.ErrArchived) {
			result, err = cli.Object{{"operationId", b.op}, {"status", status}}, nil
		}
		return result, status, err
	}

	ids, err := session.OperationsOf(b.ledger, b.actor.Supervisor)
	if err != nil {
		return nil, 0, err
	}

	worst, results := cli.StatusOK, []cli.Object{}
	for _, id := range ids {
		result, status, err := b.one(id)
		if errors.Is(err, fileops.ErrArchived) || errors.Is(err, fileops.ErrNotFound) {
			continue // it has ended since it was listed
		}

		if err != nil {
			b.env.Warnf("%v", err)
		} else {
			results = append(results, result)
		}

		worst = cli.Worse(worst, status)
	}

	return cli.Object{{"status", worst}, {"operations", results}}, worst, nil
}

// one sends the heartbeat to one operation.
func (b *beater) one(id string) (cli.Object, int, error) {
	actor := b.actor
	actor.Run = b.env.RunOf(id)
	edit, err := b.env.Edit(b.ledger, id, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Heartbeat(actor, b.report, seen)
		})

	if err != nil {
		return nil, cli.StatusOf(err), cli.Named("heartbeat", id, b.subject(), err)
	}

	status := cli.StatusOver
	if !edit.Archived {
		status = cli.StatusOfVerdict(edit.After.Verdict(b.actor))
	}

	crashed := []cli.Object{}
	for _, f := range edit.After.Reported(b.actor.Supervisor) {
		crashed = append(crashed, cli.CrashedCall(edit.After, f))
		if !b.env.JSON() && !b.env.DryRun() {
			fmt.Fprintln(b.env.Stdout, reportLine(edit.After.ID, f))
		}
	}

	result := append(cli.Result(edit), cli.Object{{"status", status}, {"crashed", crashed}}...)
	return result, status, nil
}

// summons returns the message for the process after a heartbeat with status 3 or 5, or "". A
// service does not have to end because one of its operations does.
func (b *beater) summons(status int) string {
	where := cmp.Or(b.op, b.actor.Supervisor)
	switch {
	case b.answer == cli.StatusCrashed:
		return fmt.Sprintf("%s: %s was declared dead: register it again", b.group, b.service)
	case b.answer == cli.StatusCleanUp:
		return fmt.Sprintf("%s: %s must end", b.group, b.service)
	case status == cli.StatusCrashed:
		return where + ": declared crashed"
	case b.service != "":
		return ""
	}

	return where + ": aborted or in cleanup: clean up and pop"
}

func (b *beater) subject() string {
	return cmp.Or(b.actor.Call, b.actor.Participant, b.actor.Supervisor)
}

// reportLine describes a crashed call to its supervisor, in columns separated by tabs.
func reportLine(op string, f *protocol.Frame) string {
	handle := cmp.Or(f.SupervisorHandle, "-")
	crash := *cmp.Or(f.Crash, &protocol.Crash{PreviousState: "-"})
	return strings.Join([]string{
		op, f.CallID, harmless.Text(strings.NewReplacer("\t", " ", "\n", " ").Replace(handle)),
		f.ParticipantID,
		fmt.Sprint(crash.StaleFor.Milliseconds()), string(crash.PreviousState),
	}, "\t")
}
