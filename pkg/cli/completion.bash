# Completion of vnd: commands, flags and their values; else files. zsh reads this, too.
_vnd_words() {
	case "$1" in
# TABLE
	*) return 1 ;;
	esac
}
_vnd_complete() {
	local current="${COMP_WORDS[COMP_CWORD]}" command=vnd word follow i
	for ((i = 1; i < COMP_CWORD; i++)); do
		word="${COMP_WORDS[i]}"
		[[ "$word" != -* ]] && _vnd_words "$command $word" >/dev/null && command="$command $word"
	done
	follow="$(_vnd_words "$command ${COMP_WORDS[COMP_CWORD-1]}" || _vnd_words "$command")"
	COMPREPLY=($(compgen -W "$follow" -- "$current"))
}
complete -o default -F _vnd_complete vnd
