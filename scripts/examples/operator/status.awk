# status.awk: show a queue, which dpl-status --json prints, as the state of a project.

# A member: its depth, name and value.
match($0, /^ *"[A-Za-z]*": /) {
    name = substr($0, 1, RLENGTH - 3)
    value = substr($0, RLENGTH + 1)
    depth = index(name, "\"") - 1
    name = substr(name, depth + 2)
    gsub(/^"|"?,?$/, "", value)
    gsub(/\\"/, "\"", value)
    if (value == "null") value = ""

    if (depth == 2) part = name
    if (name == "ends") { ends = depth; next }
    if (ends && depth > ends) { attempts = attempts ", " value " " name; next }
    ends = 0
    is[part "." name] = value

    # An attempt at a task. The newest has the highest epoch.
    if (name == "taskId") task = value
    if (part != "queue" && name == "lastEpoch" && (newer = value + 0 > newest)) {
        newest = value + 0
        is["last.lastReason"] = "" # it may have none
    }
    if (newer && name ~ /^last(End|Reason)$/) { is["last." name] = value; last = task }
    if (part == "tasks" && depth == 6 && name == "state" && value ~ /blocked|dead/) stuck = stuck ", " task
    if (part == "ended" && name == "end" && value == "done") done = task
}

END {
    state = toupper(is["state.state"])
    if (is["queue.reason"] != "") state = state ": " is["queue.reason"] " (" is["queue.by"] ")"
    goal = is["queue.completed"] == "true" ? "completed" : "open"

    print "status       " state
    print "iteration    " is["queue.done"] + 0 (done ? ", last task " done : "")
    print "goal         " goal ": " is["queue.description"]
    print "queue        " is["counts.waiting"] " waiting, " is["counts.claimed"] " claimed" \
        (is["counts.waiting"] + is["counts.claimed"] == 0 ? ": exhausted" : "")
    print "tasks        " is["queue.done"] + 0 " completed, " \
        is["counts.blocked"] + is["counts.dead"] " blocked" (stuck ? ":" substr(stuck, 2) : "")
    print "attempts     " is["queue.claimed"] + 0 (attempts ? ":" substr(attempts, 2) : "")
    print "last report  " (last ? last ": " is["last.lastEnd"] : "none") \
        (is["last.lastReason"] != "" ? ": " is["last.lastReason"] : "")
    permits = is["queue.permits"]
    print "mode         " (permits == "" ? "AUTO" : "MANUAL, " permits " may go")
}
