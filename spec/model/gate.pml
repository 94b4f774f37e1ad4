/*
 * The start gate (spec §11.5). Passes over one supervisor, one after the other under the group's lock: spawn a stage that
 * waits, commit its pid, release it. SIGKILL may hit a pass, a stage and a supervisor at any step. N bounds the stages that are made.
 */
#ifndef N
#define N 3
#endif

mtype = { none, waiting, running, gone };
mtype state[N + 1]; /* of each process; its number is its pid */
bit held[N + 1];    /* somebody holds the other end of what the stage waits on */
bit released[N + 1];
byte spawned;       /* how many processes there have been */

/* the registry */
byte entry;           /* the pid that is committed, 0: none */
bit starting;       /* the outcome of the start is not known */
bit wanted;         /* state running */
byte attempts;

byte lives;         /* commands that run */
byte releases;      /* starts that were released */
bit executed[N + 1];

proctype process(byte me) {
	/* the stage */
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
	assert(wanted && entry == me); /* never lost track of */
#endif
	atomic { state[me] = gone; lives-- };
done:
	skip
}

active proctype pass() {
	byte child;

again:
	child = 0;
	/* decide on what is committed */
	atomic {
		if
		:: wanted && entry && state[entry] != gone -> starting = (starting && !executed[entry]); goto next
		:: wanted && entry && state[entry] == gone && starting ->  /* startLost: at no charge */
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
	/* the result: the end of the exec pipe says that exec was done, or that the stage is gone */
#ifdef BUG_SPAWN_AFTER_COMMIT
	entry = child;
#endif
	atomic { starting = 0; held[child] = 0 };
next:
	goto again;
done:
	skip
}
