package ask

import (
	"cmp"
	"encoding"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/question"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// permissionTimeout is how long a program waits for a permission.
const permissionTimeout = 5 * time.Minute

// patience is how much longer than its timeout dpl-ask may take to read and edit files.
const patience = 5 * time.Second

// expires returns for how long the question is asked.
func (c *ask) expires() time.Duration {
	timeout := cli.QuestionTimeout
	if c.kind() == queue.AskPermission && !c.Park {
		timeout = permissionTimeout
	}
	return cmp.Or(time.Duration(c.Timeout), timeout)
}

// limit ends this process when its timeout and patience are over. Otherwise whoever can write the
// ledger could make files that take long to read, or hold a lock, until the program that asked waits
// no longer and goes on without an answer.
func (c *ask) limit(env *cli.Env) *time.Timer {
	exit := func() { os.Exit(cli.StatusTimeout) }
	return time.AfterFunc(min(c.expires(), wire.Longest-patience)+patience, func() {
		time.AfterFunc(time.Second, exit) // also if the message cannot be written
		env.Warnf("nobody has answered: timed out, while files were read or locked")
		env.Flush()
		exit()
	})
}

// mostInput is the size of the largest input, and of the largest file of rules.
const mostInput = 1 << 20

// question returns what is asked, and what the rules say to it.
func (c *ask) question(env *cli.Env) (queue.Question, error) {
	q := queue.Question{
		Kind: c.kind(), Signed: c.Signers != "", Key: string(c.Key), Expires: c.expires(),
	}

	spec := queue.AskSpec{Text: string(c.Question)}
	for _, choice := range c.Choice {
		spec.Choices = append(spec.Choices, string(choice))
	}
	q.Text = spec.Brief()
	if c.Input != "" {
		request, err := c.input(&spec)
		if err != nil {
			return q, err
		}
		q.Text = request.Listed(q.Text)
		if err := c.applyRules(env, request, &q); err != nil {
			return q, err
		}
	}

	q.Spec = spec.Content()
	if c.Park && q.Key == "" {
		q.Key = q.Spec.Hash() // the next attempt asks the same, and finds the answer
	}
	return q, nil
}

// input reads the request, and stores it in spec.
func (c *ask) input(spec *queue.AskSpec) (question.Request, error) {
	text, err := c.Input.Read(mostInput)
	if err != nil {
		return question.Request{}, err
	}
	request, err := question.DecodeRequest(text)
	if err == nil {
		spec.Input, err = queue.CompactObject(text)
	}
	if err != nil {
		return request, fmt.Errorf("%s: %w", c.Input.Name(), err)
	}
	return request, nil
}

// sign adds to q who asks: the call, the process of --pid, or this process, and with --park the
// task. Without a key, this process waits for the answer, and its end withdraws the question.
func (c *ask) sign(env *cli.Env, l *fileops.Ledger, q *queue.Question) error {
	me, err := process.Self()
	if err != nil {
		return err
	}
	self := os.Getpid()

	a := queue.Asker{Participant: string(c.Participant), Origin: origin(env)}
	if ppid := os.Getppid(); ppid > 1 { // 1 is an ancestor of every process
		a.Origin.Process, _ = process.Identify(ppid) // it may have ended
	}
	if q.Ruled == nil { // the name is for the person who is asked
		a.User = cli.UserName()
	}
	run := ""
	switch {
	case c.Call != "":
		if run, err = c.signCall(env, l, &a); err != nil {
			return err
		}
	case c.PID != 0:
		a.PID = int(c.PID)
		a.Participant = cmp.Or(a.Participant, "pid-"+strconv.Itoa(a.PID))
		if a.Process, err = ancestor(c.PID); err != nil {
			return err
		}
	case c.Key != "" && !c.Park:
		return cli.Usagef("--key needs somebody who comes back: --pid $PPID, or a call (dpl-run)")
	default:
		a.PID, a.Process = self, me
	}
	a.Participant = cmp.Or(a.Participant, "dpl-ask-"+strconv.Itoa(self))
	if q.Key == "" {
		a.Waiter = me
	} else if q.Scope, err = c.scope(env, l, run, &a); err != nil {
		return err
	}
	q.Asker = a
	return nil
}

// ancestor returns the identity of the process pid, which must be above this one: no program asks
// in the name of another, as far as that can be told.
func ancestor(pid cli.PID) (observe.Process, error) {
	p, err := cli.Identify(pid)
	if err != nil || !p.Known() {
		return p, err
	}
	above, whole := process.Ancestors()
	if whole && !slices.ContainsFunc(above, p.Is) {
		return p, cli.WithStatus(cli.StatusRefused, fmt.Errorf(
			"--pid %d: that process has not started dpl-ask: give one above it, such as $PPID", pid))
	}
	return p, nil
}

// origin returns where this is asked, as its environment says. Flags change nothing of that.
func origin(env *cli.Env) (o queue.Origin) {
	id := func(name string, check func(string) error) string {
		if value := env.Variable(name); check(value) == nil {
			return value
		}
		return ""
	}
	o.Operation, o.Participant = id("DPL_OP", wire.CheckID), id("DPL_PARTICIPANT", wire.CheckID)
	o.Queue, o.Task = id("DPL_QUEUE", queue.CheckID), id("DPL_TASK", queue.CheckTaskID)
	return o
}

// signCall names the call that asks, and its process, and returns the run of its operation.
func (c *ask) signCall(env *cli.Env, l *fileops.Ledger, a *queue.Asker) (run string, err error) {
	op, _, err := l.ReadOperation(string(c.Op))
	if err != nil {
		return "", fmt.Errorf("--op %s: %w", c.Op, err)
	}
	frame := op.Frame(string(c.Call))
	if frame == nil {
		return "", fmt.Errorf("--op %s: call %q: %w", c.Op, c.Call, protocol.ErrNoCall)
	}
	a.Operation, a.Call = string(c.Op), string(c.Call)
	a.PID, a.Process = frame.PID, frame.Process
	a.Participant = cmp.Or(a.Participant, frame.ParticipantID)
	if mine := env.RunOf(a.Operation); mine != "" && mine != op.RunID {
		return "", cli.WithStatus(cli.StatusOver, fmt.Errorf("--op %s: run %s, of $DPL_RUN, is over, and "+
			"so is what it would ask", c.Op, mine))
	}
	return op.RunID, nil
}

// scope returns within which a key means the same question: the task in whose attempt this runs, or
// else the run of the operation, or else the process. So the answer to an earlier piece of work is
// never one to this. With --park it adds the task to a.
func (c *ask) scope(env *cli.Env, l *fileops.Ledger, run string, a *queue.Asker) (string, error) {
	if c.Park || env.Variable("DPL_QUEUE") != "" && env.Variable("DPL_TASK") != "" {
		queueID, id, epoch, err := attempt(env)
		if err != nil {
			return "", err
		}
		q, err := l.ReadQueue(queueID)
		if err != nil {
			return "", cli.InQueue(cli.QueueID(queueID), err)
		}
		t := q.Task(id)
		if t == nil || t.Claim == nil || t.Claim.Epoch != epoch {
			return "", cli.WithStatus(cli.StatusOver, fmt.Errorf("%s: attempt %d at task %s is over, and "+
				"so is what it would ask", queueID, epoch, id))
		}
		if c.Park {
			a.Queue, a.Task, a.Epoch = queueID, id, epoch
		}
		return queue.TaskScope(queueID, t), nil
	}

	p := observe.Identity(a.PID, a.Process)
	switch {
	case run != "":
		return queue.RunScope(run), nil
	case p.Known():
		return queue.ProcessScope(p), nil
	}
	return "", fmt.Errorf("--key with --pid %d: which process that is cannot be told here: give a call",
		c.PID)
}

// attempt returns the attempt in which this runs, as its environment says.
func attempt(env *cli.Env) (queueID, task string, epoch int64, err error) {
	var q cli.QueueID
	var t cli.TaskID
	var n cli.Epoch
	for _, v := range []struct {
		name  string
		value encoding.TextUnmarshaler
	}{{"DPL_QUEUE", &q}, {"DPL_TASK", &t}, {"DPL_EPOCH", &n}} {
		if err := v.value.UnmarshalText([]byte(env.Variable(v.name))); err != nil {
			return "", "", 0, cli.Usagef("--park and --key in an attempt at a task: $%s: %v", v.name, err)
		}
	}
	return string(q), string(t), int64(n), nil
}
