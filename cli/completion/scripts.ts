// SPDX-License-Identifier: Apache-2.0

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/**
 * Each script asks the command itself, as it was typed, what may come next: a line per word, with its description after a
 * tab, or `:files`.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for talosmith
_talosmith() {
  local line current="\${COMP_WORDS[COMP_CWORD]}"
  [[ $current == "=" ]] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
    fi
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _talosmith talosmith
`,
  zsh: `#compdef talosmith
# zsh completion for talosmith
_talosmith() {
  local line
  local -a lines described
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${lines[1]} == :files ]]; then
    _files
    return
  fi
  for line in $lines; do
    if [[ $line == *$'\\t'* ]]; then
      described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      described+=("\${line//:/\\\\:}")
    fi
  done
  _describe talosmith described
}
if [ "$funcstack[1]" = "_talosmith" ]; then
  _talosmith
elif (( $+functions[compdef] )); then
  compdef _talosmith talosmith
fi
`,
  fish: `# fish completion for talosmith
function __talosmith_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines ($words[1] __complete -- $words[2..-1] 2>/dev/null)
  if test "$lines[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c talosmith -f -a '(__talosmith_complete)'
`,
};
