package ask

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-ask does, in one line.
const Summary = "Ask a person, and wait for the answer."

//go:embed examples.txt
var examples string

// Main runs dpl-ask.
func Main() {
	cli.Main(&ask{}, cli.Manual{
		Summary: Summary,
		Usage: `
TEXT [--input FILE] [--rules FILE...] [--to NAME] [--timeout D]
TEXT --kind question|--choice TEXT... [--to NAME] [--timeout D]
TEXT --key KEY --wait D
TEXT --park
--explain-rules --rules FILE... [--input FILE]
`,
		Details: `
Prints the answer. Exits 0 if it was answered or allowed: any other status is no. 1: it was
denied; 124: nobody answered in time; 5: it was withdrawn; 75: it is still open; 77: the asker
could change --rules or --signers, or a yes does not count: it was given to another question, is
in no line of the record, or has no signature by one of --signers. A person answers with
dpl-answer; dpl-status --queue ask also shows the question. It is withdrawn when nobody waits
for the answer any more: dpl-ask was killed, or with --key, the call or process that asks has
ended.
`,
		Flags: `
question
	the question; may be given as the first argument, but a text of others is safe only as
	--question=TEXT, because it may begin with a hyphen
kind
	permission: it is allowed or denied (the default); question: it is answered with a text
choice
	an answer that may be chosen; makes it a question, and may be repeated
input
	the request for a permission: a JSON object with tool, and argv or command; - is
	standard input
rules
	rules that may decide at once; deny goes before ask, and ask before allow, in all files
signers
	take no yes from a person without a signature by one of FILE, as ssh-keygen -Y verify
	has it
fresh
	with --signers, and --key or --park: a signature counts for D
explain-rules
	ask nothing: list the rules of --rules; with --input, say why each one matches or not,
	and what they decide
timeout
	unanswered after D it is over (5m for a permission, 24h for a question)
wait
	with --key: wait for D only, and exit 75; asking again goes on waiting
key
	join the question with this key, of the same task or else operation, or find its answer
park
	do not wait: block the task of this attempt on the question, and exit 75
on-alert
	run COMMAND with sh, to tell a person of the question: a line of JSON is its input
participant
	who asks (that of the call, or dpl-ask-PID)
call
	the call that asks: its end withdraws the question
pid
	the process that asks, such as $PPID, where there is no call: one above dpl-ask, whose
	end withdraws the question
`,
		Exits: `
0
	Answered, or allowed.
1
	Denied.
4
	With --key or --park: the attempt at a task, or the run, in which it asks is over.
5
	The question was withdrawn.
64
65
66
69
	The process of --pid or the call of --call has ended.
70
71
73
74
75
	The question is still open, with --wait or --park; or another process held the lock for
	longer than --lock-timeout.
76
	Refused: the key is that of another question, the process of --pid is not above dpl-ask,
	the queue is closed, or there are too many open questions. Nothing has changed.
77
	A yes does not count, or the asker could change --rules or --signers; or another user
	owns the ledger, or may write to it.
78
124
	Nobody has answered within --timeout.
128+N
	Signal N asked it to end: the question was withdrawn, unless it has a key.
`,
		Examples: examples,
	})
}
