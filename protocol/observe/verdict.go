package observe

// A Verdict is what the answer to a heartbeat tells its sender to do (spec §5.2, §10.3).
type Verdict string

const (
	VerdictContinue Verdict = "continue"
	VerdictAsked    Verdict = "asked"   // a service: give a checkpoint, and go on
	VerdictCleanUp  Verdict = "cleanUp" // clean up and pop; a service: end
	VerdictOver     Verdict = "over"    // the operation is terminal
	VerdictCrashed  Verdict = "crashed" // it was declared crashed, or the service dead
)
