package cli

// generalExits are the exit statuses that commands share, with the meaning that they have where the
// command says nothing else: see Manual. The tables in spec/ are compared with the help of commands.
const generalExits = `
0
	Done.
1
	The condition is false or can no longer come true; or a handler failed.
3
	The operation is aborted or in cleanup: clean up and pop. For a service: end.
4
	The operation is over.
5
	You were declared crashed. Popping still works. A service must register again.
6
	The service is asked for a checkpoint: give one with --note, and go on.
64
	Wrong flags or ids.
65
	A file is not valid. It stays as it is; the message says where it is wrong, and why.
66
	No such ledger, operation, call, supervisor, group, service, queue or task.
69
	The supervisor or the process is dead.
70
	A bug in DPL.
71
	The change was made but might not survive a power cut, or its result could not be
	printed; or only a part of it was made, as the message says; or it is unknown whether it
	was made. Look at dpl-status before you repeat it.
73
	The ledger cannot be created.
74
	An error of the operating system. Nothing has changed.
75
	Another process held the lock for longer than --lock-timeout. Nothing has changed; try
	again.
76
	Refused by the protocol; the message says why. Nothing has changed.
77
	Another user owns the ledger, or may write to it.
78
	The ledger was written by a newer version, has lost its ledger.json, or differs from
	what the flags say.
124
	Timed out.
125
	dpl-run itself failed, not its command.
126
	The command of dpl-run cannot be executed.
127
	The command of dpl-run does not exist.
`
