# complete.zsh DIR LINE...: for each LINE, print a line with the completions of its last word by an
# interactive zsh with the completions in DIR. Everything else on the terminal goes to stderr.
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; unsetopt zle_bracketed_paste prompt_sp prompt_cr; stty -echo'
zpty -w z "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D"
# With -O, -A and -D, compadd does not add matches.
zpty -w z 'compadd() { local -a m; if [[ " $* " != *\ -[OAD]\ * ]]; then builtin compadd -A m "$@"; print -r -- "MATCH:$m"; fi; builtin compadd "$@"; }'
zpty -w z 'report() { print -r -- "<BEGIN>"; _main_complete; print -r -- "<END>"; compstate[insert]= compstate[list]=; }'
zpty -w z 'zle -C report complete-word report; bindkey "^I" report; print READ""Y'
zpty -r z out '*READY*'
shift
for line in "$@"; do
	zpty -w -n z "$line"$'\t'
	zpty -r z out '*<END>*'
	out=${${${out//$'\r'}#*<BEGIN>}%<END>*}
	said=(${(f)out})
	print -r -- ${${(M)said:#MATCH:*}#MATCH:}
	[[ -n ${said:#MATCH:*} ]] && print -ru2 -- "$line: ${(F)said:#MATCH:*}"
	zpty -w -n z $'\C-u'
done
zpty -d z
