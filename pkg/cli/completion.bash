# Completion of vnd: commands, flags and their values; else files.
declare -A _vnd_words
# TABLE
_vnd_complete() {
	local current="${COMP_WORDS[COMP_CWORD]}" path=vnd word i
	for ((i = 1; i < COMP_CWORD; i++)); do
		word="${COMP_WORDS[i]}"
		[[ -n "${_vnd_words["$path $word"]+there}" && "$word" != -* ]] && path="$path $word"
	done
	local words="${_vnd_words["$path"]}" before="${COMP_WORDS[COMP_CWORD-1]}"
	[[ "$before" == --* && -n "${_vnd_words["$path $before"]+there}" ]] && words="${_vnd_words["$path $before"]}"
	COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _vnd_complete vnd
