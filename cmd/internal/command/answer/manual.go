package answer

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-answer does, in one line.
const Summary = "Show open questions, and answer them."

//go:embed examples.txt
var examples string

// Main runs dpl-answer.
func Main() {
	cli.Main(&answer{}, cli.Manual{
		Summary: Summary,
		Usage: `
[--to NAME] [--ids]
ID [--to NAME]
ID [--to NAME] [--shown HASH] --allow|--deny [TEXT]
ID [--to NAME] [--shown HASH] TEXT
`,
		Details: `
Without arguments it lists them; on a terminal it shows one after the other, and asks for a
letter, or for the word allow if it has more than 200 lines. What the asker has written is
behind a margin, and what is not plainly visible in it is written as \u{202e}. The first answer
counts. Exits 76 if the question is decided already, or is your own, 4 if it has expired or was
withdrawn. Refusing your own keeps programs from answering themselves by mistake: what keeps
them from it altogether is another user.
`,
		Flags: `
id
	the question, or the first 5 characters of its id or more; may be given as the first
	argument
shown
	answer only the question with this hash, which --json, --on-alert and the page say
allow-self
	answer a question of one's own operation or process; that is recorded
sign
	sign the answer with this key of SSH, for dpl-ask --signers
participant
	who answers (the name of the user)
TEXT
	the answer, one of the choices or its number; or why it is allowed or denied
`,
		Exits: `
0
4
	The question has expired or was withdrawn.
64
65
66
70
71
74
75
76
	Refused: the question is decided, is one's own or may be, has changed since it was
	shown, or wants a signature or another kind of answer. Nothing has changed.
77
78
`,
		Examples: examples,
	})
}
