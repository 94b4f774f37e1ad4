package main

// A command is a program that comes with dpl, or a part of dpl itself.
type command struct{ name, summary string }

// A chapter is a group of commands in the list.
type chapter struct {
	title    string
	commands []command
}

// chapters returns all commands. A test compares the summaries with the help of the commands.
func chapters() []chapter {
	return []chapter{
		{"A call, and its operation", []command{
			{"run", "Run a command as a call of an operation."},
			{"push", "Add a call to an operation."},
			{"heartbeat", "Send a heartbeat for a participant, supervisor or service."},
			{"pop", "Remove a call from an operation."},
			{"abort", "Request the abort of an operation."},
			{"cleanup", "Detect crashed participants and clean up after them."},
		}},
		{"Looking and waiting", []command{
			{"status", "Show operations, groups of services, and queues of tasks."},
			{"wait", "Wait until operations, services or tasks reach a state."},
			{"watch", "Print the events of an operation, a group or a queue."},
		}},
		{"Services", []command{
			{"register", "Register services with their group."},
			{"orchestrate", "Make one pass over a group of services."},
			{"restart", "Request the restart of a service."},
			{"report", "Report what a service has spent or violated."},
			{"shutdown", "Request the stop of a service."},
		}},
		{"Queues", []command{
			{"enqueue", "Add tasks to a queue."},
			{"claim", "Take a task from a queue."},
			{"settle", "Say how an attempt at a task has ended."},
			{"queue", "Create, halt, resume or set up a queue."},
			{"check", "Judge an attempt by rules."},
			{"audit", "Show and verify the record of a queue, an operation or a group."},
		}},
		{"Questions", []command{
			{"ask", "Ask a person, and wait for the answer."},
			{"answer", "Show open questions, and answer them."},
		}},
		{"The ledger", []command{
			{"doctor", "Check a ledger and its file system."},
			{"import", "Import operations from files of the Dart ledger."},
		}},
	}
}

// builtins returns the commands that are part of dpl.
func builtins() chapter {
	return chapter{"Dpl itself", []command{
		{"help", "Print this list, or the help of a command: dpl help push."},
		{"demo", "Show what all this does, on a call chain that is killed."},
		{"version", "Print the version."},
	}}
}

// known reports whether name is a command that comes with dpl.
func known(name string) bool {
	for _, chapter := range chapters() {
		for _, c := range chapter.commands {
			if c.name == name {
				return true
			}
		}
	}
	return false
}
