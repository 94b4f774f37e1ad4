package linearize

import "pgregory.net/rapid"

// tour has the machine get every answer once: chance may leave one out.
func (m *machine) tour(t *rapid.T) {
	push := command{verb: "push", call: "c1", participant: "p1", contained: true}
	supervised, again, other := push, push, push
	supervised.supervisor, again.reuse = "s1", true
	other.call, other.participant = "c2", "p2"
	cleaning := command{verb: "heartbeat", call: "c1", cleaning: true}
	beat, supervise := command{verb: "heartbeat", call: "c1"}, command{verb: "heartbeat",
		supervisor: "s1"}
	pop, fail := command{verb: "pop", call: "c1"}, command{verb: "pop", call: "c2", fail: true}
	ack := command{verb: "ack", call: "c1", supervisor: "s1"}
	abort, cleanup := command{verb: "abort"}, command{verb: "cleanup"}
	late := other
	late.supervisor = "s1"

	create := supervised
	create.create = m.mode.create
	taken := other
	taken.call = "c1"
	m.all(t, beat, pop, ack, abort, cleanup, create, taken, beat, cleaning, ack)
	m.all(t, command{verb: "heartbeat", call: "c2"}, command{verb: "pop", call: "c2"},
		command{verb: "ack", call: "c2", supervisor: "s1"})
	m.now += threshold + 1
	m.all(t, late, beat, supervise, ack)
	over := []command{beat, push, pop, abort, ack, cleanup, cleanup, cleanup, push}
	m.all(t, over...)
	m.all(t, again, abort, beat, pop)
	m.all(t, again, pop)
	m.all(t, again, other, fail, beat, pop)
	m.all(t, again, other)
	m.now += threshold + 1
	m.all(t, pop) // and with it the call above, which crashes
}

func (m *machine) all(t *rapid.T, commands ...command) {
	for _, c := range commands {
		m.do(t, c)
	}
}
