/*
 * Ownership (spec §11.1). Each of N owners makes passes; a pass may be paused at any step, and be killed. Time passes only in
 * that the heartbeat of the orchestrator becomes stale, which any clock may say too early or too late for another's pass.
 */
#ifndef N
#define N 3
#endif

byte owner; /* in the registry, 0: none yet */
bit fresh;  /* the heartbeat of its last pass is not stale */
byte lock;  /* who holds the group's lock */
short owed; /* takeovers without their alert, orchestratorTakeover; below 0: alerts without a takeover */

inline look() {
	atomic { saw = owner; sawFresh = fresh }
}

proctype orchestrator(byte me) {
	byte saw; bit sawFresh;

again:
#ifdef BUG_DECIDE_BEFORE_LOCK
	look();
	atomic { lock == 0 -> lock = me };
#else
	atomic { lock == 0 -> lock = me };
	look();
#endif
	if
	:: saw && saw != me && sawFresh -> goto unlock /* stands by */
	:: goto unlock /* killed */
	:: !(saw && saw != me && sawFresh)
	fi;
	/* acts, and commits the owner, the alert and its heartbeat */
	atomic {
		assert(owner == saw); /* nobody has taken over since */
		assert(owed == 0);
		if
		:: owner && owner != me -> owed++
		:: else
		fi;
		owner = me; fresh = 1;
#ifndef BUG_ALERT_APART
		if
		:: saw && saw != me -> owed--
		:: else
		fi
#endif
	};
#ifdef BUG_ALERT_APART
	if
	:: goto unlock /* killed */
	:: saw && saw != me -> owed--
	:: !(saw && saw != me)
	fi;
#endif
unlock:
	atomic { lock = 0; saw = 0; sawFresh = 0; goto again }
} /* unreached: endless */

active proctype clock() {
end:	do
	:: fresh -> fresh = 0
	od
} /* unreached: endless */

init {
	byte i;
	atomic {
		for (i : 1 .. N) {
			run orchestrator(i)
		}
	}
}
