"""Completion scripts, made from the command table.

The scripts hold the table's names, so completing commands and flags costs nothing. Only for words
that a store has (paths, tags, entities, workspaces) they call ``memhtml complete``.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from memhtml.cli.command import GLOBAL_FLAGS, Kind, Noun
from memhtml.cli.commands import every_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memhtml.cli.command import Command, Flag

__all__ = ["SCRIPTS", "bash_script", "fish_script", "zsh_script"]


def bash_script() -> str:
    """Return the script for bash, 3.2 and later."""
    cases = "\n".join(
        f"    {shlex.quote(c.name)}) words={shlex.quote(_bash_words(c))} ;;"
        for c in every_command()
    )
    values = "\n".join(
        f"    {shlex.quote(key)}) words={shlex.quote(' '.join(choices))} ;;"
        for key, choices in _choices().items()
    )
    flags = "\n".join(f"    {_bash_flag_case(noun)}" for noun in Noun if _flags_of(noun))
    arguments = "\n".join(
        f"    {'|'.join(map(shlex.quote, names))}) kind={noun.value} ;;"
        for noun in Noun
        if (names := _takers(noun))
    )
    takers = "|".join(f"--{name}" for name in _value_flags())
    return f"""\
# bash completion for memhtml
_memhtml() {{
  local -a line=()
  local current before command="" pair="" word words="" kind="" repo="" i last
  COMPREPLY=()
  # Bash parts words at colons and equal signs; an entity has the one, --flag=value the other.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    last=$(( ${{#line[@]}} - 1 ))
    if (( last >= 0 )) && [[ "$word" == [:=]* || "${{line[last]}}" == *[:=] ]]; then
      line[last]+="$word"
    else
      line+=("$word")
    fi
  done
  last=$(( ${{#line[@]}} - 1 ))
  current="${{line[last]}}"
  before=""
  (( last > 0 )) && before="${{line[last-1]}}"
  if [[ "$current" == --*=* ]]; then
    before="${{current%%=*}}"
    current="${{current#*=}}"
  fi
  for ((i = 0; i < last; i++)); do
    word="${{line[i]}}"
    if (( i > 0 )); then
      case "${{line[i-1]}}" in
        --repo) repo="$word"; continue ;;
        {takers}) continue ;;
      esac
    fi
    case "$word" in
      --repo=*) repo="${{word#*=}}" ;;
      -*) ;;
      *)
        if [[ -z "$command" ]]; then command="$word"
        elif [[ -z "$pair" ]]; then pair="$command $word"
        fi ;;
    esac
  done
  case "$pair" in {"|".join(shlex.quote(n) for n in _pairs())}) command="$pair" ;; esac
  case "$command $before" in
{values}
    *" --repo") COMPREPLY=($(compgen -d -- "$current")); return ;;
{flags}
    {"|".join(f'*" --{name}"' for name in _value_flags())}) return ;;
  esac
  if [[ -z "$words$kind" ]]; then
    case "$command" in
    "") words={shlex.quote(" ".join([*_first_words(), *_globals()]))} ;;
{cases}
{_bash_families()}
    esac
    [[ "$current" == -* ]] || case "$command" in
{arguments}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$kind" in
    "") ;;
    file) COMPREPLY+=($(compgen -f -- "$current")) ;;
    *) _memhtml_store_words "$kind" "$current" "$repo" ;;
  esac
}}
_memhtml_store_words() {{
  local word lead=""
  # What stands before the last colon is a word of its own to bash, and stays as it is.
  [[ "$COMP_WORDBREAKS" == *:* && "$2" == *:* ]] && lead="${{2%:*}}:"
  while IFS= read -r word; do
    COMPREPLY+=("${{word#"$lead"}}")
  done < <(memhtml ${{3:+--repo "${{3/#\\~/$HOME}}"}} complete --text "$1" -- "$2" 2>/dev/null)
  if [[ ${{#COMPREPLY[@]}} -eq 1 && "${{COMPREPLY[0]}}" == */ ]]; then
    compopt -o nospace 2>/dev/null
  fi
}}
complete -o filenames -F _memhtml memhtml
"""


def _bash_flag_case(noun: Noun) -> str:
    patterns = "|".join(f'*" --{name}"' for name in _flags_of(noun))
    return f"{patterns}) kind={noun.value} ;;"


def zsh_script() -> str:
    """Return the script for zsh, a function to be found as ``_memhtml`` in ``$fpath``."""
    firsts = "\n".join(
        f"    {_zsh_quote(word + ':' + summary)}" for word, summary in _first_words().items()
    )
    families = "\n".join(
        f"    {family}) subcommands=({' '.join(_zsh_quote(f'{w}:{s}') for w, s in members)}) ;;"
        for family, members in _families().items()
    )
    cases = "\n".join(
        f"    {shlex.quote(c.name)})\n      _arguments -s {' '.join(_zsh_specs(c))} ;;"
        for c in every_command()
    )
    return f"""\
#compdef memhtml
_memhtml() {{
  local -a commands subcommands memhtml_repo
  while (( CURRENT > 2 )) && [[ "$words[2]" == -* ]]; do
    if [[ "$words[2]" == --repo ]]; then
      (( CURRENT > 3 )) || {{ _files -/; return }}
      memhtml_repo=(--repo ${{(Q)~words[3]}})
      words[2]=(); (( CURRENT-- ))
    fi
    words[2]=(); (( CURRENT-- ))
  done
  local command="$words[2]"
  commands=(
{firsts}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'memhtml command' commands
    return
  fi
  case "$command" in
{families}
  esac
  if (( $#subcommands )); then
    if (( CURRENT == 3 )); then
      _describe -t commands "memhtml $command" subcommands
      return
    fi
    command="$command $words[3]"
    shift words; (( CURRENT-- ))
  fi
  shift words; (( CURRENT-- ))
  case "$command" in
{cases}
  esac
}}
_memhtml_store_words() {{
  local -a found
  local i=${{words[(I)--repo]}}
  (( i )) && memhtml_repo=(--repo ${{(Q)~words[i+1]}})
  found=(${{(f)"$(memhtml $memhtml_repo complete --text $1 -- ${{(Q)PREFIX}} 2>/dev/null)"}})
  compadd -S '' -- ${{(M)found:#*/}}
  compadd -- ${{found:#*/}}
}}
if [[ "$funcstack[1]" == _memhtml ]]; then
  _memhtml "$@"
else
  compdef _memhtml memhtml
fi
"""


_FISH_WORDS = """\
function __memhtml_store_words
    set -l repo
    set -l words (commandline -opc)
    for i in (seq (count $words))
        switch $words[$i]
            case --repo
                set repo --repo $words[(math $i + 1)]
            case '--repo=*'
                set repo $words[$i]
        end
    end
    set -l beginning (commandline -ct | string replace -r '^--[a-z-]+=' '' | string unescape)
    memhtml $repo complete --text $argv[1] -- $beginning 2>/dev/null
end"""


def fish_script() -> str:
    """Return the script for fish."""
    lines = ["# fish completion for memhtml", _FISH_WORDS, "complete -c memhtml -f"]
    lines += [
        f"complete -c memhtml -n __fish_use_subcommand -a {word} -d {_fish_quote(summary)}"
        for word, summary in _first_words().items()
    ]
    lines += [f"complete -c memhtml {_fish_flag(flag)}" for flag in GLOBAL_FLAGS]
    for command in every_command():
        first, _, second = command.name.partition(" ")
        seen = f"__fish_seen_subcommand_from {first}"
        if second:
            lines.append(
                f"complete -c memhtml -n '{seen}' -a {second} -d {_fish_quote(command.summary)}"
            )
            seen += f"; and __fish_seen_subcommand_from {second}"
        lines += [f"complete -c memhtml -n '{seen}' {_fish_flag(flag)}" for flag in command.flags]
        for argument in command.arguments:
            if argument.noun is Noun.FILE:
                lines.append(f"complete -c memhtml -n '{seen}' -F")
            elif argument.noun:
                lines.append(f"complete -c memhtml -n '{seen}' -a {_fish_words(argument.noun)}")
            elif argument.choices:
                lines.append(
                    f"complete -c memhtml -n '{seen}' -a {_fish_quote(' '.join(argument.choices))}"
                )
    return "\n".join(lines) + "\n"


SCRIPTS: Mapping[str, Callable[[], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}


def _first_words() -> dict[str, str]:
    """Return each command's first word with a summary; a family's is the list of its members."""
    words: dict[str, str] = {}
    for command in every_command():
        first, _, second = command.name.partition(" ")
        if second:
            words[first] = f"{words[first]}, {second}" if first in words else second
        else:
            words[first] = command.summary
    return words


def _families() -> dict[str, list[tuple[str, str]]]:
    families: dict[str, list[tuple[str, str]]] = {}
    for command in every_command():
        first, _, second = command.name.partition(" ")
        if second:
            families.setdefault(first, []).append((second, command.summary))
    return families


def _pairs() -> list[str]:
    return [command.name for command in every_command() if " " in command.name]


def _takers(noun: Noun) -> list[str]:
    """Return the commands that take such a word by its place."""
    return [c.name for c in every_command() if any(a.noun is noun for a in c.arguments)]


def _flags_of(noun: Noun) -> list[str]:
    """Return the flags that take such a word, but for --repo, which takes a folder."""
    flags = [flag for command in every_command() for flag in command.flags]
    return sorted({flag.name for flag in flags if flag.noun is noun})


def _globals() -> list[str]:
    return [f"--{flag.name}" for flag in GLOBAL_FLAGS]


def _value_flags() -> list[str]:
    """Return the flags that take the next word."""
    flags = [flag for command in every_command() for flag in command.flags]
    return sorted({flag.name for flag in (*flags, *GLOBAL_FLAGS) if flag.kind is not Kind.BOOLEAN})


def _choices() -> dict[str, tuple[str, ...]]:
    """Return what may follow ``command --flag``."""
    return {
        f"{command.name} --{flag.name}": flag.choices
        for command in every_command()
        for flag in command.flags
        if flag.choices
    }


def _bash_words(command: Command) -> str:
    words = [choice for argument in command.arguments for choice in argument.choices]
    if command.name == "help":
        words += [*_first_words()]
    return " ".join([*words, *(f"--{flag.name}" for flag in command.flags), *_globals()])


def _bash_families() -> str:
    return "\n".join(
        f"    {family}) words={shlex.quote(' '.join(word for word, _ in members))} ;;"
        for family, members in _families().items()
    )


def _zsh_specs(command: Command) -> Iterator[str]:
    for flag in (*command.flags, *GLOBAL_FLAGS):
        repeat = "*" if flag.repeatable else ""
        value = mark = ""
        if flag.kind is not Kind.BOOLEAN:
            mark = "="
            action = f"({' '.join(flag.choices)})" if flag.choices else _zsh_action(flag.noun)
            value = f":{_zsh_escape(flag.metavar or flag.kind)}:{action}"
        yield _zsh_quote(f"{repeat}--{flag.name}{mark}[{_zsh_escape(flag.summary)}]{value}")
    for argument in command.arguments:
        choices = f"({' '.join(argument.choices)})"
        action = choices if argument.choices else _zsh_action(argument.noun)
        yield _zsh_quote(f"{'*' if argument.repeatable else ''}:{argument.name}:{action}")


def _zsh_action(noun: Noun | None) -> str:
    if noun is Noun.FILE:
        return "_files"
    return f"{{_memhtml_store_words {noun.value}}}" if noun else ""


def _zsh_escape(text: str) -> str:
    return text.replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _zsh_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_words(noun: Noun) -> str:
    return f"'(__memhtml_store_words {noun.value})'"


def _fish_flag(flag: Flag) -> str:
    parts = [f"-l {flag.name}", f"-d {_fish_quote(flag.summary)}"]
    if flag.short:
        parts.append(f"-s {flag.short}")
    if flag.kind is not Kind.BOOLEAN:
        parts.append("-x" if flag.noun is not Noun.FILE else "-r -F")
        if flag.choices:
            parts.append(f"-a {_fish_quote(' '.join(flag.choices))}")
        elif flag.noun not in {None, Noun.FILE}:
            parts.append(f"-a {_fish_words(flag.noun)}")
    return " ".join(parts)
