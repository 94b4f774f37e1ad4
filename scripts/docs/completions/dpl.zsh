#compdef dpl @PROGRAMS@
# Completions of the dpl commands for zsh, made by scripts/docs from --help --json.

# _dpl_given FLAG: set REPLY to the value of FLAG on the line, with a variable or tilde at its
# beginning expanded, or to "" if the line has none
_dpl_given() {
	local -i i
	local word MATCH MBEGIN MEND
	local -a match mbegin mend
	REPLY=
	for ((i = 2; i <= $#_dpl_line; i++)); do
		((i == _dpl_current)) && continue
		word=$_dpl_line[i]
		case $word in
		--) break ;;
		(--|-)$1=*) REPLY=${word#*=} ;;
		(--|-)$1) ((i + 1 != _dpl_current)) && REPLY=$_dpl_line[i+1] ;;
		esac
	done
	REPLY=${(Q)REPLY}
	if [[ $REPLY =~ '^\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?(.*)$' ]]; then
		REPLY=${(P)match[1]}$match[2]
	fi
	REPLY=${REPLY/#\~\//$HOME/}
}

# _dpl_ids [OPTION...] KIND: complete ids of operations, calls, groups, services, or things that can
# be ready, queues or tasks, in the ledger of the line. The OPTIONs go to compadd.
_dpl_ids() {
	local REPLY op group ledger queue kind=$argv[-1]
	local -a ids which
	_dpl_given queue; queue=${REPLY:-$DPL_QUEUE}
	if [[ -z $REPLY && $_dpl_line[1]:t = dpl-(claim|enqueue|queue|settle) &&
		$_dpl_line[2] != -* && $_dpl_current -gt 2 ]]; then
		queue=$_dpl_line[2]
	fi
	_dpl_given op; op=${REPLY:-$DPL_OP}
	_dpl_given ledger; ledger=$REPLY
	_dpl_given group; group=${REPLY:-$DPL_GROUP}
	if [[ $kind = ready ]]; then
		[[ -n $REPLY || -z $op ]] && kind=services || kind=calls
	fi
	case $kind in
	groups) which=(--groups) ;;
	calls) [[ -n $op ]] || return; which=(--op $op) ;;
	services) [[ -n $group ]] || return; which=(--group $group) ;;
	queues) which=(--queues) ;;
	tasks) [[ -n $queue ]] || return; which=(--queue $queue) ;;
	esac
	(($+commands[dpl-status])) || return
	ids=(${(f)"$(dpl-status --ids ${ledger:+--ledger} $ledger $which 2>/dev/null)"})
	compadd "${@[1,-2]}" -a ids
}

# _dpl_command: complete words as the line of another command
_dpl_command() {
	if [[ $words[1] = -- ]]; then
		shift words
		((CURRENT--))
	fi
	if ((CURRENT == 1)); then
		_command_names -e
	else
		_normal
	fi
}

# _dpl_flags PROGRAM: complete the line after PROGRAM
_dpl_flags() {
	local curcontext=$curcontext context state
	local -A opt_args
	local -a _dpl_line=($words)
	local -i _dpl_current=CURRENT
	case $1 in
@MODEL@
	esac
}

# _dpl_umbrella: complete the line after dpl, like that of dpl-COMMAND
_dpl_umbrella() {
	if ((CURRENT == 2)) || [[ $words[2] = help && $CURRENT = 3 ]]; then
		local -aU names=(demo help links version ${${(k)commands[(I)dpl-*]}#dpl-})
		compadd -a names
		return
	fi
	shift words
	words[1]=dpl-$words[1]
	((CURRENT--))
	_normal
}

_dpl() {
	if [[ $service = dpl ]]; then
		_dpl_umbrella
	else
		_dpl_flags $service
	fi
}

_dpl "$@"
