package linearize

// end makes, while no other command runs, what a history must have but workers may leave out. The
// current operation is aborted and fails. In the next one a call crashes and is acknowledged, and
// the operation completes. Both go to the archive.
func (r *recorder) end() {
	do := func(pass int64, c command) { r.do(0, step{command: c, pass: pass}) }
	op := operationID(r.current.Load())
	do(1, command{verb: "push", call: "last", participant: "nobody", contained: true})
	do(1, command{verb: "abort"})
	if shown := r.look(0, op).shown; shown != nil {
		for _, f := range shown.stack {
			r.on(0, step{command: command{verb: "pop", call: f.call}}, op)
		}
	}

	do(1, command{verb: "push", call: "bottom", participant: "nobody"})
	do(1, command{verb: "push", call: "top", participant: "top", supervisor: "s0", contained: true})
	do(1, command{verb: "push", call: "top", participant: "nobody"})
	do(threshold+1, command{verb: "heartbeat", call: "bottom"})
	do(1, command{verb: "heartbeat", supervisor: "s0"})
	do(1, command{verb: "ack", supervisor: "s0", call: "top"})
	do(1, command{verb: "pop", call: "bottom"})
	for range 3 {
		r.do(0, step{command: command{verb: "cleanup"}, all: true, pass: 1})
	}

	for i := range r.current.Load() + 1 {
		r.look(0, operationID(i))
	}
}
