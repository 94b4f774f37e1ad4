/*
 * The exit record of a start (spec §19), with a finish command (§25.2) and a pass at each end
 * (§19.5). Passes over one service, one after the other under the group's lock, start it, and learn
 * how it ended from the record that its keeper writes. One pass comes again and again, as from a
 * timer; a keeper makes another one at the end. SIGKILL may hit a pass, a process or a keeper at any
 * step. There are at most N starts.
 */
#ifndef N
#define N 3
#endif

mtype = { none, waiting, running, gone };                  /* a process */
mtype = { absent, reserved, torn, exec, ended, complete }; /* a record */
mtype = { unknown, over };                                 /* a finish command */
mtype state[N + 1];   /* of each process, by start */
mtype record[N + 1];
byte status[N + 1];   /* that the process has ended with: 1 or 2 */
byte written[N + 1];  /* that the record says */
bit kept[N + 1];      /* its keeper is there */
bit struck[N + 1];    /* SIGKILL has hit the keeper, or the process while it wrote */
bit executed[N + 1];
byte judged[N + 1];   /* how often a pass has committed its end */
mtype finish[N + 1];  /* what the record says of the finish command, 0: nothing */
byte finished[N + 1]; /* how often that has begun */
byte finishing;       /* how many of them run */
byte spawned;

byte entry;           /* the committed start, 0: none */
bit lock;             /* of the group */

proctype process(byte me) {
	if
	:: state[me] == running /* released */
	:: state[me] == gone -> goto done
	:: atomic { state[me] == waiting -> state[me] = gone; goto done }
	fi;
	record[me] = torn; /* a write in place is no single step */
	if
	:: atomic { struck[me] = 1; state[me] = gone; goto done }
	:: true
	fi;
	atomic { record[me] = exec; executed[me] = 1 };
	if
	:: atomic { status[me] = 1; state[me] = gone }
	:: atomic { status[me] = 2; state[me] = gone }
	fi;
done:
	skip
}

/* lose is a kill of the keeper. */
inline lose() { struck[me] = 1; goto done }

proctype keeper(byte me) {
	if
	:: state[me] == gone
	:: atomic { lose() }
	fi;
	if
	:: record[me] == reserved -> record[me] = absent; goto done
	:: record[me] == torn -> goto done /* nobody can tell how far it got */
	:: record[me] == absent -> goto done
	:: record[me] == exec
	fi;
	record[me] = torn;
	if
	:: atomic { lose() }
	:: atomic { record[me] = ended; written[me] = status[me] }
	fi;
#ifdef BUG_FINISH_AFTER_NAME
	record[me] = complete;
#endif
	if
	:: atomic { lose() }
	:: goto name /* no finish command */
	:: true
	fi;
#ifndef BUG_FINISH_AFTER_NAME
	record[me] = torn;
	if
	:: atomic { lose() }
	:: atomic { record[me] = ended; finish[me] = unknown }
	fi;
#endif
	if
	:: atomic { lose() }
	:: atomic {
		finishing++; finished[me]++;
		assert(finished[me] == 1 && executed[me])
	}
	fi;
	if
	:: atomic { finishing--; lose() } /* it dies with the keeper */
	:: finishing--
	fi;
#ifndef BUG_FINISH_AFTER_NAME
	record[me] = torn;
	if
	:: atomic { lose() }
	:: atomic { record[me] = ended; finish[me] = over }
	fi;
#endif
name:
	if
	:: atomic { lose() }
	:: record[me] = complete
	fi;
	if
	:: atomic { lose() }
	:: run pass(me); goto replaced
	:: true /* no pass at its end */
	fi;
done:
	kept[me] = 0;
replaced:
	skip
}

/* pass makes one pass in place of the keeper of the start prompt, or without end if that is 0. */
proctype pass(byte prompt) {
	mtype is, says;
	bit keeps, known;

again:
#ifdef BUG_PROMPT_UNLOCKED
	if
	:: prompt != 0
	:: atomic { prompt == 0 && lock == 0 -> lock = 1 }
	fi;
#else
	atomic { lock == 0 -> lock = 1 };
#endif
	if
	:: prompt != 0 && entry != prompt -> goto end /* another pass has seen this end */
	:: prompt == 0 && entry == 0 -> goto start
	:: else
	fi;
#ifdef BUG_READ_BEFORE_LOOK
	says = record[entry];
#endif
	is = state[entry];
	keeps = kept[entry];
#ifndef BUG_READ_BEFORE_LOOK
	says = record[entry];
#endif
	known = 0;
	if
	:: says == complete -> known = 1
	:: says == ended && is == gone && !keeps -> known = 1
#ifdef BUG_TORN_TAKEN
	:: says == torn && is == gone && !keeps -> known = 1
#endif
	:: else ->
		if
		:: is != gone -> goto end
#ifndef BUG_NOT_AWAITED
		:: is == gone && keeps -> goto end
#endif
		:: else
		fi
	fi;
#ifdef BUG_REMOVED_BEFORE_COMMIT
	record[entry] = absent;
#endif
	if
	:: goto end /* killed */
	:: true
	fi;
	atomic { /* commit: the end is judged */
		judged[entry]++;
		assert(judged[entry] == 1);
		assert(!known || written[entry] == status[entry] && status[entry] != 0);
		assert(known || struck[entry] || !executed[entry]); /* a known end is not lost */
		assert(finish[entry] != over || finished[entry] == 1);
#ifndef BUG_NOT_FORGOTTEN
		entry = 0
#endif
	};
#ifdef BUG_NOT_FORGOTTEN
	if
	:: goto end /* killed */
	:: entry = 0
	fi;
#endif
start:
	if
	:: spawned == N -> goto end
	:: else
	fi;
	atomic {
		spawned++; state[spawned] = waiting; record[spawned] = reserved; kept[spawned] = 1;
		run process(spawned); run keeper(spawned)
	};
	if
	:: atomic { state[spawned] == waiting -> state[spawned] = gone }; goto end /* killed */
	:: true
	fi;
	entry = spawned;
	if
	:: atomic {
		state[spawned] == waiting -> state[spawned] = running;
		assert(spawned == 1 || state[spawned - 1] == gone);
		assert(finishing == 0) /* of an earlier start */
	}
	:: atomic { state[spawned] == waiting -> state[spawned] = gone } /* killed */
	:: state[spawned] == gone
	fi;
end:
#ifdef BUG_PROMPT_UNLOCKED
	if
	:: prompt == 0 -> lock = 0
	:: else
	fi;
#else
	lock = 0;
#endif
	if
	:: prompt == 0 && !(spawned == N && entry == 0) -> goto again
	:: prompt != 0 -> kept[prompt] = 0
	:: else
	fi
}

init { run pass(0) }
