/*
 * A task of a queue (spec §34 to §37). Each edit is made under the lock (see lock.pml), so it is one
 * step here. An attempt is the processes of dpl-work: a runner that claims, its keeper, and the
 * command. SIGKILL may hit the runner and the keeper at any step; if it hits both, nobody stops the
 * command, and that is not counted. There are at most N claims.
 */
#ifndef N
#define N 3
#endif
#define MAX 2 /* failures after which the task is dead */

mtype = { none, waiting, claimed, dead, done, failed, released, cancelled, crashed };

/* The queue's file. */
mtype task = waiting;
byte epoch;           /* of the claim, 0: none */
byte lastEpoch;       /* of the last claim ever made */
mtype stop = none;    /* what was asked of the claim: released or cancelled */
mtype intent = none;  /* what the command has said about its end */
byte charged;
bit halted;

/* The operations of the attempts, and their processes, by epoch. */
bit pushed[N + 1];
bit aborted[N + 1];
bit runner[N + 1];
bit keeper[N + 1];
bit command[N + 1];
bit killedBoth[N + 1];
bit ran[N + 1];       /* the command has ended well, or said so */
bit tooLate[N + 1];   /* the attempt was to be stopped when it pushed */

byte live;            /* number of commands that run and have somebody who can stop them */

#define current(e) (task == claimed && epoch == e)

/* gone: nobody watches the attempt any more */
#ifdef BUG_KEEPER_IGNORED
#define gone(e) (!runner[e])
#else
#define gone(e) (!runner[e] && !keeper[e])
#endif

/* end: the attempt ends, however somebody says (spec §35.3) */
inline settled(how) {
	if
	:: stop == cancelled -> task = cancelled
	:: stop != cancelled && (how == done || intent == done) -> task = done
	:: stop != cancelled && how != done && intent != done && stop == released -> task = waiting
	:: stop != cancelled && how != done && intent != done && stop != released && how == released ->
		task = waiting
	:: stop != cancelled && how != done && intent != done && stop != released && how != released ->
		charged++;
		if
		:: charged < MAX -> task = waiting
		:: charged == MAX ->
#ifdef BUG_DEAD_FORGOTTEN
			task = none
#else
			task = dead
#endif
		fi
	fi;
	assert(task != none); /* it is never lost */
	assert(task != done || ran[epoch]); /* and done only if it was */
	epoch = 0; stop = none; intent = none
}

/* stopped: the command of an attempt ends */
inline stopped(e) {
	if
	:: command[e] && !killedBoth[e] -> live--; command[e] = 0
	:: command[e] && killedBoth[e] -> command[e] = 0 /* unreached: nobody is left to stop it */
	:: !command[e]
	fi
}

inline killed(e, other) {
	if
	:: !other ->
		killedBoth[e] = 1;
		if
		:: command[e] -> live--
		:: !command[e]
		fi
	:: other
	fi
}

proctype run_(byte me) {
	mtype how = failed;

	/* It has claimed. Push the call, and look again. */
	if
	:: goto dies
	:: atomic { pushed[me] = 1; tooLate[me] = (!current(me) || stop != none) }
	fi;
	if
	:: goto dies
#ifndef BUG_NOT_READ_AGAIN
	:: atomic { !current(me) || stop != none -> how = released; goto settles }
	:: atomic { current(me) && stop == none -> skip }
#else
	:: skip
#endif
	fi;

	/* Run the command. */
	if
	:: goto dies
	:: atomic {
		assert(!tooLate[me]);
		command[me] = 1; live++;
		assert(live <= 1); /* two attempts never run at a time */
	   }
	fi;
	if
	:: goto dies
	:: goto ends
	:: skip /* it runs until it is aborted */
	fi;
end:	atomic { aborted[me] -> stopped(me); how = released; goto settles };
ends:
	if
	:: goto dies
	:: atomic { ran[me] = 1; stopped(me); how = done }
	:: stopped(me)
	:: atomic { /* dpl-settle in the command */
		ran[me] = 1;
		if
		:: current(me) -> intent = done
		:: !current(me)
		fi
	   };
		if
		:: goto dies
		:: stopped(me)
		fi
	fi;

settles:
	if
	:: goto dies
	:: atomic {
		if
		:: current(me) -> settled(how)
		:: !current(me) /* lost */
		fi
	   }
	fi;
	atomic { runner[me] = 0; goto over }
dies:
	atomic { killed(me, keeper[me]); runner[me] = 0 };
over:
	skip
}

proctype keep(byte me) {
	if
	:: atomic { killed(me, runner[me]); keeper[me] = 0; goto over }
	:: atomic {
		!runner[me];
#ifdef BUG_KEEPER_EXITS_FIRST
		keeper[me] = 0
	   };
	atomic { stopped(me); goto over }
#else
		stopped(me)
	   };
	atomic { keeper[me] = 0; goto over }
#endif
	fi;
over:
	skip
}

/* Workers claim while there is a task for them. */
active proctype workers() {
#ifdef BUG_CLAIM_UNLOCKED
	mtype saw;
#else
#define saw task
#endif

end:	do
#ifdef BUG_CLAIM_UNLOCKED
	:: saw != task -> saw = task
#endif
	:: atomic {
		saw == waiting && !halted && lastEpoch < N ->
		lastEpoch++; epoch = lastEpoch; task = claimed; stop = none; intent = none;
		runner[epoch] = 1; keeper[epoch] = 1;
		run run_(epoch); run keep(epoch)
	   }
	od
} /* unreached: endless */

/* Whoever edits the queue ends the attempts of the dead, and aborts those that are to end. */
active proctype others() {
end:	do
	:: atomic { task == claimed && gone(epoch) -> settled(crashed) }
#ifndef BUG_ABORT_ONCE
	:: atomic { task == claimed && stop != none && pushed[epoch] && !aborted[epoch] ->
		aborted[epoch] = 1 }
#endif
	od
} /* unreached: endless */

/* Who still has the epoch of an attempt that is over says its end later. Nobody hears it. */
active proctype late() {
	byte e = 1;

end:	do
	:: atomic {
		epoch > e ->
#ifdef BUG_EPOCH_UNCHECKED
		settled(released);
#endif
		e++
	   }
	od
} /* unreached: endless */

/* An operator halts with --abort, resumes, cancels, and has the task tried again, once each. */
active proctype operator() {
	byte e;

	do
	:: atomic { !halted -> halted = 1; e = 0;
		if
		:: task == claimed && stop == none -> stop = released; e = epoch
		:: !(task == claimed && stop == none)
		fi };
		if
		:: atomic { e && pushed[e] -> aborted[e] = 1 }
		:: skip /* killed before the abort, or it was not there */
		fi;
		break
	:: break
	od;
	atomic { halted = 0 };
	if
#ifdef BUG_REDRIVE_ANY
	:: atomic { task == claimed -> task = waiting; epoch = 0; charged = 0 }
#endif
	:: atomic { task == dead -> task = waiting; charged = 0 }
	:: atomic { task == claimed -> stop = cancelled }
	:: atomic { task == waiting || task == dead -> task = cancelled }
	:: skip
	fi
}

/* When nothing can happen any more, nothing is left behind. */
active proctype end_() {
	byte e;

	timeout;
	assert(task != claimed || (runner[epoch] && stop == none));
	assert(task != waiting || lastEpoch == N);
	for (e : 1 .. N) {
		assert(!keeper[e] || runner[e])
	}
}
