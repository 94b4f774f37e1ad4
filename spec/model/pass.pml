/*
 * A pass over an operation (spec §4) with a stack of N calls of N participants. The odd
 * participants have the supervisor. Each verb is one edit and one step. Participants and the
 * supervisor may die at any time. Heartbeats may be late, so a live participant may look stale.
 */
#ifndef N
#define N 3
#endif

mtype = { absent, live, crashed, cleanedUp };
mtype frame[N];
bit alive[N];     /* the participant's process */
bit stale[N];     /* its last heartbeat is too old */
bit dead[N];      /* it was declared crashed */
byte told[N];     /* 1: its crash was reported to the supervisor, 2: ten thresholds ago */
bit supervisor;   /* the supervisor's process is alive */
bit entry;        /* its status in the file is alive */

#define has(set, i) (((set) >> (i)) & 1)
#define tended(i) ((i) % 2 == 1 && entry)
#define lost(i) (frame[i] == crashed && tended(i) && told[i] < 2)

inline crash(c) {
	assert(!alive[c] || stale[c] || c % 2 == 1 && !entry); /* there is evidence */
	frame[c] = crashed; dead[c] = 1
}

/* Steps 1 to 4. The heartbeat of me was just sent. */
inline begin() {
	was = 0; i = 0;
	do
	:: i < N -> was = was | ((frame[i] == crashed) << i); i++
	:: else -> break
	od;
	entry = (entry && supervisor);
	i = 0;
	do
	:: i < N && frame[i] == live && (!alive[i] || stale[i] || i % 2 == 1 && !entry) -> crash(i); i++
	:: i < N && !(frame[i] == live && (!alive[i] || stale[i] || i % 2 == 1 && !entry)) -> i++
	:: i == N -> break
	od
}

/* Steps 7 and 8. */
inline finish() {
	i = 0;
	do
#ifdef BUG_SAME_PASS
	:: i < N && frame[i] == crashed && !lost(i) ->
#else
	:: i < N && frame[i] == crashed && has(was, i) && !lost(i) ->
#endif
		assert(has(was, i)); /* callers could see that it crashed */
		frame[i] = cleanedUp; i++
	:: i < N && !(frame[i] == crashed && has(was, i) && !lost(i)) -> i++
	:: i == N -> break
	od;
	i = 0;
	do
	:: i < N && (frame[i] == absent || frame[i] == cleanedUp) -> frame[i] = absent; i++
	:: else -> break
	od;
	i = 0; was = 0
}

proctype participant(byte me) {
	byte i, was;

	do
	:: atomic { /* heartbeat */
		alive[me] && frame[me] != absent ->
#ifdef BUG_REVIVAL
		frame[me] = live;
#endif
		stale[me] = (stale[me] && frame[me] != live);
		begin(); finish();
		assert(!dead[me] || frame[me] != live)
	   }
	:: atomic { /* pop */
		alive[me] && frame[me] != absent ->
		stale[me] = (stale[me] && frame[me] != live);
		begin();
		frame[me] = absent; i = me + 1;
		do
#ifdef BUG_CASCADE
		:: i < N && (frame[i] == cleanedUp || frame[i] == crashed) ->
#else
		:: i < N && (frame[i] == absent || frame[i] == cleanedUp ||
			frame[i] == crashed && !tended(i)) ->
#endif
			assert(!lost(i));
			frame[i] = absent; i++
		:: else -> break
		od;
		finish()
	   }
	:: atomic { alive[me] = 0; break }
	od
}

active proctype watcher() {
	byte i, was;

end:	do
	:: atomic { supervisor -> /* a heartbeat, which reports crashes to it */
		begin();
		i = 0;
		do
		:: i < N && i % 2 == 1 && frame[i] == crashed && told[i] == 0 -> told[i] = 1; i++
		:: i < N && !(i % 2 == 1 && frame[i] == crashed && told[i] == 0) -> i++
		:: i == N -> break
		od;
		finish()
	   }
	:: atomic { supervisor && frame[1] == crashed && told[1] ->
		begin(); frame[1] = cleanedUp; finish()
	   }
#if N > 3
	:: atomic { supervisor && frame[3] == crashed && told[3] ->
		begin(); frame[3] = cleanedUp; finish()
	   }
#endif
	:: supervisor = 0
	od
} /* unreached: endless */

active proctype janitor() {
	byte i, was;
#ifdef BUG_TWO_HOLDS
	byte seen;

	do
	:: atomic { frame[0] == live && (!alive[0] || stale[0]) -> seen = 1 };
	   atomic { if :: frame[0] == live -> crash(0) :: else fi; seen = 0 }
	:: atomic { begin(); finish() }
	od
#else
	do
	:: atomic { begin(); finish() }
	od
#endif
} /* unreached: endless */

/* Time passes. */
active proctype clock() {
end:	do
#ifndef BUG_UNACKNOWLEDGED_KEPT
	:: atomic { told[1] == 1 -> told[1] = 2 }
#if N > 3
	:: atomic { told[3] == 1 -> told[3] = 2 }
#endif
#endif
	:: atomic { frame[0] == live && !stale[0] -> stale[0] = 1 }
	:: atomic { frame[1] == live && !stale[1] -> stale[1] = 1 }
	od
} /* unreached: endless */

init {
	byte i;
	atomic {
		supervisor = 1; entry = 1;
		for (i : 0 .. N - 1) {
			frame[i] = live; alive[i] = 1;
			run participant(i)
		}
	}
}

/* Once all participants are dead the stack becomes empty, whatever the supervisor does. N must be
 * from 2 to 4. */
#define all(what) (what(0) && what(1) && what(N - 2) && what(N - 1))
#define gone(i) (frame[i] == absent)
#define died(i) (frame[i] != 0 && !alive[i])
ltl drains { [] (all(died) -> <> all(gone)) }
