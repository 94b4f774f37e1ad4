/*
 * The end of input (spec §15.8): a pipeline of N stages that are calls of one run, which another
 * call keeps open. Each stage is a command, its runner and its keeper, and its pipe is open while
 * one of the three is there. The last command publishes when it sees the end of its input, unless
 * it got TERM before. At most FAULTS times a command fails, which also stands for its kill, or
 * cannot be started, or a runner or a keeper is killed.
 *
 * With OUTER the last command has no runner of its own: it is part of the command of the runner
 * that calls the other stages, and that has the last number.
 *
 * There is no time: whoever waits for ever is a deadlock. There are two exceptions. If both the
 * runner and the keeper of a command are killed, nobody stops it, and a hold is over after a
 * minute. And a hold waits for a dead caller's keeper to send TERM, which stands for two looks.
 */
#ifndef N
#define N 3 /* 2 to 4 */
#endif
#ifndef FAULTS
#define FAULTS 3
#endif
#define LAST (N - 1)

mtype = { none, live, crashed, cleaningUp };         /* a frame */
mtype = { waiting, working, well, failed, stopped }; /* a command; by TERM it may end well */
mtype frame[N];
mtype command[N];
bit runner[N];   /* it is there */
bit keeper[N];
bit begun[N];    /* the runner has pushed its call, or could not */
bit struck[N];   /* the runner was killed while its call was open */
byte lost[N];    /* how many of runner and keeper were killed */
bit crashes[N];  /* the file says that the call has crashed, in its stack or its events */
bit failing;     /* the operation is in cleanup */
byte faults;

#ifdef OUTER
#define calls(i, j) ((i) == LAST && (j) != LAST)
#else
#define calls(i, j) 0
#endif
#define any(what, i) (what(i, 0) || what(i, 1) || what(i, N - 2) || what(i, N - 1))

#ifdef BUG_CLOSED_FIRST
bit closed[N];
#define open(i) (command[i] == working || runner[i] && !closed[i] || keeper[i])
#else
#define open(i) (command[i] == working || runner[i] || keeper[i])
#endif

#define lives(j) (frame[j] != none && frame[j] != crashed && runner[j])
#define news(i, j) (frame[j] == crashed || frame[j] != none && !runner[j])
#define inner(i, j) (calls(i, j) && runner[j]) /* i waits for j */

/* What a hold of i waits for: j is alive, or dead and its command, at least, is not. */
#ifdef BUG_OWN_CALLER
#define alive(i, j) (i != (j) && lives(j))
#else
#define alive(i, j) (i != (j) && lives(j) && !(calls(j, i) && frame[j] == cleaningUp))
#endif
#ifdef BUG_STACK_ALONE
#define ended(j) (frame[j] != none && !lives(j))
#else
#define ended(j) (crashes[j] || frame[j] != none && !lives(j))
#endif
#ifdef BUG_DEAD_CALLER
#define works(i, j) (i != (j) && ended(j) && !calls(j, i) && command[j] == working && lost[j] < 2)
#else
#define works(i, j) (i != (j) && ended(j) && command[j] == working && lost[j] < 2)
#endif
#ifdef BUG_DEAD_ENDED
#define hold() !any(alive, me)
#else
#define hold() (!any(alive, me) && !any(works, me))
#endif

/* There was nobody to record how j ended. */
#define hidden(i, j) (command[j] != well && lost[j] == 2)

/* pass is that of each edit. */
inline pass() {
	j = 0;
	do
	:: j < N && frame[j] == crashed -> frame[j] = none; j++
	:: j < N && frame[j] != crashed && frame[j] != none && !runner[j] ->
		frame[j] = crashed; crashes[j] = 1; failing = 1; j++
	:: j < N && (frame[j] == none || lives(j)) -> j++
	:: j == N -> break
	od;
	j = 0
}

proctype process(byte me) {
	byte j;
	bit holds;

	{
		(!calls(LAST, me) || begun[LAST]);
		if
		:: atomic {
			pass(); begun[me] = 1;
			if
			:: failing -> holds = 1
			:: else -> frame[me] = live; command[me] = working
			fi
		   }
		:: atomic { /* it cannot start its command */
			me != LAST && faults < FAULTS -> faults++; begun[me] = 1;
#ifndef BUG_NOT_STARTED
			failing = 1; holds = 1
#endif
		   }
		fi;
		if
		:: frame[me] == none ->
#ifdef BUG_REFUSED
			holds = 0;
#endif
			goto ended
		:: else
		fi;

		do
		:: atomic { any(news, me) -> pass() }
#ifdef OUTER
		:: me == LAST && failing && frame[me] == live ->
#ifndef BUG_CLEANING_FIRST
			atomic { if :: command[me] == working -> command[me] = stopped :: else fi };
			frame[me] = cleaningUp
#else
			frame[me] = cleaningUp;
			atomic { if :: command[me] == working -> command[me] = stopped :: else fi }
#endif
#endif
		:: atomic { failing && command[me] == working -> command[me] = stopped }
		:: command[me] != working && !any(inner, me) -> break
		od;

#ifdef BUG_CLOSED_FIRST
		atomic { closed[me] = 1; keeper[me] = 0 };
#endif
		atomic {
			pass(); frame[me] = none; failing = (failing || command[me] == failed);
#ifdef BUG_OWN_STATUS
			holds = (command[me] == failed)
#else
			holds = failing
#endif
		};
ended:
#ifdef BUG_DISMISSED_FIRST
		keeper[me] = 0;
#endif
		if
		:: holds -> hold()
		:: !holds
		fi;
		atomic { holds = 0; keeper[me] = 0; runner[me] = 0 }
	} unless { !runner[me] }
}

proctype keep(byte me) {
	byte j;

	{
		atomic { !runner[me] -> if :: command[me] == working -> command[me] = stopped :: else fi;
#ifdef BUG_NO_PASS
			skip
#else
			pass()
#endif
		};
#ifndef BUG_KEEPER_ENDS
		if
		:: failing -> hold()
		:: else
		fi
#endif
	} unless { !keeper[me] };
	keeper[me] = 0
}

/* The command of a stage, and what is killed. */
proctype world(byte me) {
	byte j;

end:	do
	:: atomic { command[me] == working && (me == 0 || !open(me - 1)) ->
		command[me] = well;
		if
		:: me == LAST && lost[me] < 2 && !any(hidden, me) -> /* it publishes */
			for (j : 0 .. LAST - 1) { assert(command[j] == well && (!struck[j] || lost[j] == 2)) }
		:: else
		fi
	   }
	:: atomic { command[me] == working && faults < FAULTS -> faults++; command[me] = failed }
	:: atomic { begun[me] && runner[me] && faults < FAULTS ->
		faults++; lost[me]++; struck[me] = (frame[me] != none); runner[me] = 0
	   }
	:: atomic { begun[me] && keeper[me] && faults < FAULTS -> faults++; lost[me]++; keeper[me] = 0 }
	od
} /* unreached: endless */

init {
	byte i;
	atomic {
		for (i : 0 .. LAST) {
			frame[i] = none; command[i] = waiting; runner[i] = 1; keeper[i] = 1
		}
		for (i : 0 .. LAST) { run process(i); run keep(i); run world(i) }
	}
}
