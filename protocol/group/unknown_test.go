package group

import (
	"testing"

	"github.com/dpl-project/dpl/testscripts/vectors"
)

// The shapes of the files of a group.
var (
	orchestratorShape = vectors.Object("$schema protocolVersion orchestrationGroupId revision "+
		"orchestratorPid "+
		"orchestratorHeartbeat state heartbeatIntervalMs stalenessThresholdMs periodMs "+
		"hostId failover", map[string]*vectors.Shape{"beat": vectors.BeatShape,
		"checks": {Each: vectors.Object("at", map[string]*vectors.Shape{"beat": vectors.BeatShape})}})

	startShape = vectors.Object(
		"command args workingDirectory environment readiness logMaxBytes logKeep logEveryMs logCompress "+
			"runtimeSoftMs "+
			"runtimeMaxMs progressSoftMs progressMaxMs softSignal budget budgetAction "+
			"preflightTimeoutMs preflight finish finishTimeoutMs health healthEveryMs healthTimeoutMs "+
			"healthFailures healthStartMs",
		map[string]*vectors.Shape{
			"exitStatus": vectors.Object("success tempfail failure persistent terminal", nil),
			"restartPolicy": vectors.Object("maxAttempts backoffIntervalsMs resetAfterMs "+
				"jitterPercent deadlineMs intensity intensityPeriodMs",
				map[string]*vectors.Shape{"backoff": vectors.Object("initialMs factor maxMs", nil)}),
		})

	exitShape = vectors.Object("at reason detail class code status error note oomKilled cpuMs "+
		"maxRssKb finishStatus", nil)

	registryShape = vectors.Object("$schema protocolVersion revision owner alertSeq alertsGiven alertsLost",
		map[string]*vectors.Shape{
			"supervisors": {Each: vectors.Object("supervisorId restartable state pid lastHeartbeat "+
				"dependencies restart dependenciesCompleted retries restarts persistentRow "+
				"readiness note restartAttempts lastRestartAttempt killTimeoutMs heartbeats "+
				"startedAt attempt generation startId starting runningSince goneSince firstFailedAt failedAt "+
				"nextAttemptAt restartPending blockedBy progressAt pausedMs spent spentTotal "+
				"stopRequestedAt startAgain removeAfterStop alertOn keepEndedMs onDead "+
				"significant stoppedBy termSentAt", map[string]*vectors.Shape{
				"process": vectors.ProcessShape, "keeper": vectors.ProcessShape,
				"beat": vectors.BeatShape, "grace": vectors.GraceShape,
				"termSentBeat": vectors.BeatShape, "startedBeat": vectors.BeatShape,
				"progressBeat": vectors.BeatShape, "goneBeat": vectors.BeatShape,
				"asked": {Each: vectors.Object("at answered",
					map[string]*vectors.Shape{"beat": vectors.BeatShape})},
				"paused": vectors.Object("at continue",
					map[string]*vectors.Shape{"beat": vectors.BeatShape}),
				"health": vectors.Object("passed failures output", map[string]*vectors.Shape{
					"cannotRun": vectors.Object("at message trouble", nil)}),
				"silence":     vectors.Object("at until by", nil),
				"maintenance": vectors.Object("at until by start", nil),
				"stopFor":     vectors.Object("reason detail then", nil),
				"violations":  {Each: vectors.Object("at code detail action by", nil)},
				"lastExit":    exitShape, "ended": exitShape,
				"startInfo": startShape, "startedWith": startShape,
			})},
			"supervision": vectors.Object("strategy window blocked intensity intensityPeriodMs "+
				"onIntensity restarts set autoShutdown onExit log state reason message endedAt parent "+
				"generation",
				map[string]*vectors.Shape{"rules": {Each: vectors.Object("match action", nil)}}),
			"alertTries":    vectors.Object("seq tries at", nil),
			"audit":         vectors.Object("seq head revision off pending", nil),
			"pendingAlerts": {Each: vectors.Object("seq type supervisorId message timestamp silenced", nil)},
			"events":        vectors.EventsShape,
		})
)

// TestKeepsUnknown checks that every object in the files keeps unknown members, with numbers as
// written.
func TestKeepsUnknown(t *testing.T) {
	const x = `"b": 1e5, "a": [1.0, -0, {"y": 12345678901234567890}, -0.0E-0], "\u00e9\n": {"b": {}, "a": "\u0041\/"}`
	const at = `"2026-01-20T10:30:00Z"`
	const beat = `"beat": {"at": ` + at + `, ` + x + `}`
	const process = `"process": {"pid": 1, ` + x + `}`
	const left = `"leftResources": [{"path": "/r", ` + x + `}]`
	const events = `"events": [{"revision": 1, ` + x + `, ` + left + `}]`
	orchestrator := `{"orchestrationGroupId": "g", "state": "running", "orchestratorHeartbeat": ` +
		at + `, ` + beat + `, ` + x + `}`
	o, err := DecodeOrchestrator(orchestrator)
	if err != nil {
		t.Fatal(err)
	}

	vectors.CheckKeeps(t, orchestrator, o.Encode(), orchestratorShape)

	registry := `{"supervision": {"strategy": "one_for_all", ` + x + `},
		"supervisors": {"s": {"state": "running", "pid": 1,
		"lastHeartbeat": ` + at + `, ` + process + `, ` + beat + `, ` + x + `,
		"keeper": {"pid": 2, ` + x + `},
		"startInfo": {"command": "c", "environment": {"b": "1", "a": "2"}, ` + x + `, "restartPolicy": {` + x + `,
			"backoff": {"initialMs": 1, "maxMs": 2, ` + x + `}}, "exitStatus": {` + x + `}},
		"startedAt": ` + at + `, "startedBeat": {"at": ` + at + `, ` + x + `},
		"progressAt": ` + at + `, "progressBeat": {"at": ` + at + `, ` + x + `},
		"asked": {"runtime": {"at": ` + at + `, ` + beat + `, ` + x + `}},
		"paused": {"at": ` + at + `, ` + beat + `, ` + x + `},
		"stopFor": {"reason": "r", "then": "dead", ` + x + `},
		"termSentAt": ` + at + `, "termSentBeat": {"at": ` + at + `, ` + x + `}, "lastExit": {"at": ` + at + `, ` + x + `}}},
		"pendingAlerts": [{"seq": 1, "timestamp": ` + at + `, ` + x + `}], ` + events + `,
		"audit": {"seq": 0, "revision": 0, ` + x + `}, ` + x + `}`

	r, err := DecodeRegistry(registry)
	if err != nil {
		t.Fatal(err)
	}

	vectors.CheckKeeps(t, registry, r.Encode(), registryShape)
}
