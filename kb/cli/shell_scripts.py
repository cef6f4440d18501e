"""--show-completion and --install-completion: the script that makes a shell ask kb what can follow."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from kb.cli.terminal import say, tell
from kb.errors import InvalidInput

_BASH = """\
_kb_complete() {
    local IFS=$'\\n' found value
    found=$(%(python)s -m kb.cli.complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [ $? -eq 3 ]; then
        COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
        compopt -o filenames 2>/dev/null
        return
    fi
    COMPREPLY=()
    for value in $found; do
        COMPREPLY+=("$(printf '%%q' "$value")")
    done
}
complete -o nosort -F _kb_complete kb 2>/dev/null || complete -F _kb_complete kb
"""
_ZSH = """\
#compdef kb
_kb() {
    local text
    text=$(%(python)s -m kb.cli.complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $? == 3 )); then
        _files
        return
    fi
    [[ -n $text ]] || return 1
    local -a found
    found=("${(@f)text}")
    _describe -V kb found
}
if [ "$funcstack[1]" = "_kb" ]; then
    _kb "$@"
else
    compdef _kb kb
fi
"""
_FISH = """\
function __kb_complete
    set -l typed (commandline -ct)
    test -n "$typed"; or set typed ""
    set -l words (commandline -opc) $typed
    %(python)s -m kb.cli.complete fish $words[2..-1] 2>/dev/null
    if test $status -eq 3
        __fish_complete_path "$typed"
    end
end
complete -c kb -f -k -a '(__kb_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion_script(shell: str) -> str:
    """The script for a shell; it starts this Python, which takes 50 ms.

    raises  InvalidInput for a shell that is not known
    """
    if shell not in SCRIPTS:
        raise InvalidInput(f"no completion for '{shell}'", fix=f"name one of: {', '.join(SCRIPTS)}")
    return SCRIPTS[shell] % {"python": shlex.quote(sys.executable)}


def show_or_install(option: str, shell: str | None) -> None:
    """Do what --show-completion or --install-completion asks for.

    shell  None takes the one in $SHELL
    raises  InvalidInput
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    script = completion_script(name)
    if option == "--show-completion":
        say(script.rstrip("\n"))
        return
    place = _place(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(script, encoding="utf-8")
    say(f"wrote {place}")
    tell(_HINTS[name])


_HINTS = {
    "bash": 'open a new shell; without the package bash-completion add to ~/.bashrc: eval "$(kb --show-completion bash)"',
    "zsh": "add to ~/.zshrc, unless it is there: fpath+=~/.zfunc; autoload -Uz compinit && compinit",
    "fish": "open a new shell",
}


def _place(shell: str) -> Path:
    if shell == "bash":
        data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
        return Path(data).expanduser() / "bash-completion" / "completions" / "kb"
    if shell == "zsh":
        return Path("~/.zfunc/_kb").expanduser()
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "fish" / "completions" / "kb.fish"
