# Completions of the dpl commands for bash, made by scripts/docs from --help --json.

# _dpl_model PROGRAM [FLAG]: set known if PROGRAM is known, flags to its flags, rest to the kind of
# its arguments, takes to the kind of value that FLAG takes, "" for none, and lead to the kind of id
# that the first argument may be, "" if it may be none
_dpl_model() {
	known=1 flags='' rest='' takes='' lead=''
	case $1 in
@MODEL@
	*) known='' ;;
	esac
}

# _dpl_words: set words to the words of the line, joined where COMP_WORDBREAKS has split them, cword
# to the index of the word to complete, cur to that word up to the cursor, and at[N] to the index in
# COMP_WORDS at which word N begins
_dpl_words() {
	local i word glue=
	words=() at=() cword=0 cur=
	for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 0)) && [[ $word =~ ^[=:]+$ || $glue && $word ]]; then
			words[${#words[@]} - 1]+=$word
			glue=
			[[ $word =~ ^[=:]+$ ]] && glue=1
		else
			at[${#words[@]}]=$i
			words[${#words[@]}]=$word
			glue=
		fi
		((i == COMP_CWORD)) && cword=$((${#words[@]} - 1)) cur=${words[cword]}
	done
}

# _dpl_given FLAG: set REPLY to the value of FLAG on the line, with a variable or tilde at its
# beginning expanded, or to "" if the line has none
_dpl_given() {
	local i
	REPLY=
	for ((i = 1; i < ${#words[@]}; i++)); do
		((i == cword)) && continue
		case ${words[i]} in
		--) break ;;
		--"$1"=* | -"$1"=*) REPLY=${words[i]#*=} ;;
		--"$1" | -"$1") ((i + 1 != cword)) && REPLY=${words[i + 1]} ;;
		esac
	done
	local variable='^"?\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?(.*)$'
	if [[ $REPLY =~ $variable ]]; then
		REPLY=${!BASH_REMATCH[1]}${BASH_REMATCH[2]}
	fi
	REPLY=${REPLY//[\"\'\\]/}
	REPLY=${REPLY/#\~\//$HOME/}
}

# _dpl_ids ARGUMENT...: print ids in the ledger of the line, or nothing
_dpl_ids() {
	type -P dpl-status >/dev/null || return
	_dpl_given ledger
	dpl-status --ids ${REPLY:+"--ledger=$REPLY"} "$@" 2>/dev/null
}

# _dpl_of KIND: print the operations, calls, groups, services, queues, tasks, or things that can be
# ready, that fit the line
_dpl_of() {
	local op group queue
	_dpl_given queue; queue=${REPLY:-$DPL_QUEUE}
	[[ ! $REPLY && $lead == queues && ${words[1]} != -* ]] && ((cword > 1)) && queue=${words[1]}
	_dpl_given op; op=${REPLY:-$DPL_OP}
	_dpl_given group; group=${REPLY:-$DPL_GROUP}
	if [[ $1 = ready ]]; then
		_dpl_given group
		[[ $REPLY || ! $op ]] && set -- services || set -- calls
	fi
	case $1 in
	operations) _dpl_ids ;;
	groups) _dpl_ids --groups ;;
	calls) [[ $op ]] && _dpl_ids --op "$op" ;;
	services) [[ $group ]] && _dpl_ids --group "$group" ;;
	queues) _dpl_ids --queues ;;
	tasks) [[ $queue ]] && _dpl_ids --queue "$queue" ;;
	esac
}

# _dpl_value KIND: complete cur, a value
_dpl_value() {
	local IFS=$'\n'
	case $1 in
	operations | calls | groups | services | queues | tasks | ready)
		COMPREPLY=($(compgen -W "$(_dpl_of "$1")" -- "$cur"))
		;;
	directories) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
	files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
	words\ *) COMPREPLY=($(IFS=' '; compgen -W "${1#words }" -- "$cur")) ;;
	esac
}

# _dpl_rest N: complete the arguments after the flags, which begin at word N
_dpl_rest() {
	local IFS=$'\n'
	if [[ $rest != command ]]; then
		_dpl_value "$rest"
		return
	fi
	if declare -F _command_offset >/dev/null; then
		_command_offset "${at[$1]}"
		return
	fi
	compopt -o filenames 2>/dev/null
	if ((cword == $1)); then
		COMPREPLY=($(compgen -c -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}

# _dpl_line PROGRAM: complete the line after PROGRAM, the first of words
_dpl_line() {
	local i first=1 known flags rest takes lead
	_dpl_model "$1"
	if [[ $lead && ${words[1]} != -* ]]; then
		if ((cword == 1)); then
			_dpl_value "$lead"
			return
		fi
		first=2
	fi
	for ((i = first; i < cword; i++)); do
		case ${words[i]} in
		--) break ;;
		-*=*) ;;
		-?*)
			_dpl_model "$1" "$(_dpl_name "${words[i]}")"
			if [[ $takes ]] && ((++i == cword)); then
				_dpl_value "$takes"
				return
			fi
			;;
		*) break ;;
		esac
	done
	_dpl_model "$1"
	if ((i < cword)); then
		[[ ${words[i]} = -- ]] && ((i++))
		_dpl_rest "$i"
		return
	fi
	case $cur in
	-*=*)
		_dpl_model "$1" "$(_dpl_name "${cur%%=*}")"
		local flag=${cur%%=*}=
		cur=${cur#*=}
		_dpl_value "$takes"
		[[ $COMP_WORDBREAKS = *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$flag}")
		;;
	-*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
	*) if [[ $rest ]]; then _dpl_rest "$i"; else COMPREPLY=($(compgen -W "$flags" -- "$cur")); fi ;;
	esac
}

# _dpl_name FLAG: print the name of FLAG, without dashes
_dpl_name() {
	local name=${1#-}
	printf %s "${name#-}"
}

# _dpl: complete a line of dpl or dpl-*
_dpl() {
	local IFS=$' \t\n' words at cword cur REPLY
	COMPREPLY=()
	_dpl_words
	local program=${words[0]##*/}
	if [[ $program = dpl ]]; then
		if ((cword == 1)) || [[ ${words[1]} = help && $cword = 2 ]]; then
			# compgen -W expands its words, so only plain names may reach it.
			local plain='s/^dpl-\([A-Za-z0-9._+-]*\)$/\1/p'
			local names="demo help links version $(compgen -c dpl- | sed -n "$plain" | sort -u)"
			COMPREPLY=($(compgen -W "$names" -- "$cur"))
			return
		fi
		program=dpl-${words[1]}
		words=("${words[@]:1}") at=("${at[@]:1}")
		((cword--))
	fi
	local known flags rest takes lead
	_dpl_model "$program"
	[[ $known ]] && _dpl_line "$program"
	# Bash replaces only the part after the last colon.
	if [[ $cur = *:* && $COMP_WORDBREAKS = *:* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
	fi
}

complete -F _dpl dpl @PROGRAMS@
