#!/bin/sh
# permission.sh: the hook before each tool of an agent. Rules decide, or a person, and else it is no.
#
# Its input is JSON with tool_name and tool_input, as Claude Code gives it to a hook of PreToolUse.
# Exit status 2 blocks the tool, and the agent is told what is on stderr. Any status of dpl-ask but 0
# becomes 2, because others would let the tool run. Rules with paths mean the directory of dpl-ask.
cd "${CLAUDE_PROJECT_DIR:-.}" || exit 2
dpl-ask --question="${DPL_PARTICIPANT:-an agent} at ${DPL_TASK:-no ticket}" --input - \
    ${RULES:+--rules "$RULES"} ${SIGNERS:+--signers "$SIGNERS"} \
    --timeout "${PERMISSION:-5m}" >&2 || exit 2
echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'
