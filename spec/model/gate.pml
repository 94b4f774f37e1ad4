/*
 * The start gate (spec §11.5). Passes over one service, one after the other under the group's lock,
 * spawn a stage that waits, commit its pid, and release it. SIGKILL may hit a pass, a stage or a
 * service at any step. There are at most N stages.
 */
#ifndef N
#define N 3
#endif

mtype = { none, waiting, running, gone };
mtype state[N + 1]; /* of each process, by pid */
bit held[N + 1];    /* a pass has the write end of the pipe that the stage reads */
bit released[N + 1];
byte spawned;       /* number of processes spawned so far */

/* The registry. */
byte entry;         /* the committed pid, 0: none */
bit starting;       /* the outcome of the start is unknown */
bit wanted;         /* the state is running */
byte attempts;

byte lives;         /* number of commands that run */
byte releases;      /* number of stages that were released */
bit executed[N + 1];

proctype process(byte me) {
	/* The stage. */
#ifndef BUG_SPAWN_AFTER_COMMIT
	if
	:: released[me]
	:: atomic { !released[me] && !held[me] -> state[me] = gone; goto done } /* end of file */
	:: atomic { state[me] = gone; goto done } /* killed */
	fi;
#endif
	if
	:: atomic {
		state[me] == waiting -> state[me] = running; executed[me] = 1; lives++;
		assert(lives <= 1)
	   }
	:: atomic { state[me] = gone; goto done }
	fi;
#ifndef BUG_SPAWN_AFTER_COMMIT
	assert(wanted && entry == me); /* the registry never loses a live process */
#endif
	atomic { state[me] = gone; lives-- };
done:
	skip
}

active proctype pass() {
	byte child;

again:
	child = 0;
	/* Decide on the committed state. */
	atomic {
		if
		:: wanted && entry && state[entry] != gone ->
			starting = (starting && !executed[entry]);
			goto next
		:: wanted && entry && state[entry] == gone && starting ->  /* startLost: no attempt */
			entry = 0; wanted = 0
		:: wanted && entry && state[entry] == gone && !starting -> /* it failed: a restart */
			attempts++; entry = 0; wanted = 0;
			assert(attempts <= releases)
		:: wanted && entry == 0 -> wanted = 0
		:: !wanted
		fi;
		if
		:: spawned == N -> goto done
		:: else
		fi
	};
#ifdef BUG_SPAWN_AFTER_COMMIT
	atomic { wanted = 1; starting = 1; entry = 0 };
	if
	:: goto next /* killed */
	:: true
	fi;
#endif
	atomic {
		spawned++; child = spawned; state[child] = waiting; held[child] = 1;
		run process(child)
	};
#ifdef BUG_RELEASE_BEFORE_COMMIT
	atomic { released[child] = 1; releases++ };
#endif
	if
	:: held[child] = 0; goto next /* killed */
	:: true
	fi;
#ifndef BUG_SPAWN_AFTER_COMMIT
	atomic { wanted = 1; starting = 1; entry = child };
#endif
	if
	:: held[child] = 0; goto next /* killed */
	:: true
	fi;
	atomic { released[child] = 1; releases++ };
	if
	:: held[child] = 0; goto next /* killed */
	:: state[child] == running || state[child] == gone
	fi;
	/* The end of the exec pipe says that exec succeeded or that the stage is gone. */
#ifdef BUG_SPAWN_AFTER_COMMIT
	entry = child;
#endif
	atomic { starting = 0; held[child] = 0 };
next:
	goto again;
done:
	skip
}
