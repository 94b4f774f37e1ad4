/*
 * The exit record of a start (spec §19). Passes over one service, one after the other under the
 * group's lock, start it, and learn how it ended from the record that its keeper writes. SIGKILL may
 * hit a pass, a process or a keeper at any step. There are at most N starts.
 */
#ifndef N
#define N 3
#endif

mtype = { none, waiting, running, gone };                  /* a process */
mtype = { absent, reserved, torn, exec, ended, complete }; /* a record */
mtype state[N + 1];   /* of each process, by start */
mtype record[N + 1];
byte status[N + 1];   /* that the process has ended with: 1 or 2 */
byte written[N + 1];  /* that the record says */
bit kept[N + 1];      /* its keeper is there */
bit struck[N + 1];    /* SIGKILL has hit the keeper, or the process while it wrote */
bit executed[N + 1];
byte judged[N + 1];   /* how often a pass has committed its end */
byte spawned;

byte entry;           /* the committed start, 0: none */

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

proctype keeper(byte me) {
	if
	:: state[me] == gone
	:: atomic { struck[me] = 1; goto done }
	fi;
	if
	:: record[me] == reserved -> record[me] = absent; goto done
	:: record[me] == torn -> goto done /* nobody can tell how far it got */
	:: record[me] == absent -> goto done
	:: record[me] == exec
	fi;
	record[me] = torn;
	if
	:: atomic { struck[me] = 1; goto done }
	:: atomic { record[me] = ended; written[me] = status[me] }
	fi;
	if
	:: atomic { struck[me] = 1; goto done }
	:: record[me] = complete
	fi;
done:
	kept[me] = 0
}

active proctype pass() {
	mtype is, says;
	bit keeps, known;

again:
	if
	:: entry == 0 -> goto start
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
		:: is != gone -> goto again
#ifndef BUG_NOT_AWAITED
		:: is == gone && keeps -> goto again
#endif
		:: else
		fi
	fi;
#ifdef BUG_REMOVED_BEFORE_COMMIT
	record[entry] = absent;
#endif
	if
	:: goto again /* killed */
	:: true
	fi;
	atomic { /* commit: the end is judged */
		judged[entry]++;
		assert(judged[entry] == 1);
		assert(!known || written[entry] == status[entry] && status[entry] != 0);
		assert(known || struck[entry] || !executed[entry]); /* a known end is not lost */
#ifndef BUG_NOT_FORGOTTEN
		entry = 0
#endif
	};
#ifdef BUG_NOT_FORGOTTEN
	if
	:: goto again /* killed */
	:: entry = 0
	fi;
#endif
start:
	if
	:: spawned == N -> goto done
	:: else
	fi;
	atomic {
		spawned++; state[spawned] = waiting; record[spawned] = reserved; kept[spawned] = 1;
		run process(spawned); run keeper(spawned)
	};
	if
	:: atomic { state[spawned] == waiting -> state[spawned] = gone }; goto again /* killed */
	:: true
	fi;
	entry = spawned;
	if
	:: atomic { state[spawned] == waiting -> state[spawned] = running }
	:: atomic { state[spawned] == waiting -> state[spawned] = gone } /* killed */
	:: state[spawned] == gone
	fi;
	goto again;
done:
	skip
}
