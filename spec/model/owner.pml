/*
 * Ownership (spec §11.1, design O9). Each of N owners makes passes; a pass may be paused at any step, and be killed. Time passes only in
 * that the heartbeat of the orchestrator becomes stale, which any clock may say too early or too late for another's pass.
 */
#ifndef N
#define N 3
#endif
#ifndef TAKEOVERS
#define TAKEOVERS 2
#endif

byte owner;       /* in the registry, 0: none yet */
bit fresh;        /* the heartbeat of its last pass is not stale */
byte lock;        /* who holds the group's lock */
byte alerts;      /* orchestratorTakeover, committed with the new owner */
byte takeovers;   /* how often the owner changed */

proctype orchestrator(byte me) {
	byte saw; bit sawFresh, act;

again:
	atomic {
		saw = 0; sawFresh = 0; act = 0;
		if
		:: takeovers == TAKEOVERS -> goto done
		:: else
		fi
	};
#ifdef BUG_DECIDE_BEFORE_LOCK
	atomic { saw = owner; sawFresh = fresh };
#endif
	atomic { lock == 0 -> lock = me };
#ifndef BUG_DECIDE_BEFORE_LOCK
	atomic { saw = owner; sawFresh = fresh };
#endif
	if
	:: saw && saw != me && sawFresh -> goto unlock /* stands by */
	:: goto unlock /* killed */
	:: !(saw && saw != me && sawFresh)
	fi;
	/* acts, and commits the owner, the alert and its heartbeat */
	atomic {
		assert(owner == saw); /* nobody has taken over since */
		assert(owner == 0 || owner == me || !fresh || sawFresh == 0 && saw == owner);
		if
		:: saw && saw != me -> alerts++
		:: else
		fi;
		if
		:: owner && owner != me -> takeovers++
		:: else
		fi;
		owner = me;
#ifdef BUG_ALERT_APART
		alerts = alerts - (saw && saw != me)
#endif
	};
#ifdef BUG_ALERT_APART
	if
	:: goto unlock /* killed */
	:: alerts = alerts + (saw && saw != me)
	fi;
#endif
	fresh = 1;
	assert(alerts == takeovers);
unlock:
	lock = 0;
	goto again;
done:
	skip
}

active proctype clock() {
end:	do
	:: fresh -> fresh = 0
	od
}

init {
	byte i;
	atomic {
		for (i : 1 .. N) {
			run orchestrator(i)
		}
	}
}
