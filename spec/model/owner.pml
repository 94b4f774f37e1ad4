/*
 * Ownership (spec §11.1). Each of N owners makes passes. A pass may pause or be killed at any step.
 * Time passes only in that the heartbeat of the orchestrator becomes stale, which a clock may judge
 * too early or too late for the pass of another owner.
 */
#ifndef N
#define N 3
#endif

byte owner; /* in the registry, 0: none yet */
bit fresh;  /* the heartbeat of its last pass is not stale */
byte lock;  /* the holder of the group's lock, 0: none */
short owed; /* takeovers without an alert; negative: alerts without a takeover */

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
	/* Act, and commit the owner, the alert and the heartbeat. */
	atomic {
		assert(owner == saw); /* no other has taken over since */
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
