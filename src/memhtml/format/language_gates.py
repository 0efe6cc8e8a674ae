"""Line grammars that can only say no: what a fence must look like to be stamped.

A statistical model is sure of itself on kinds of text it never saw. These rules are cheap, read
by people, and independent of the model, so a retrained model cannot loosen them. A *veto* means
that no language fits (a diff, a tree, a log, another language's unmistakable line); a
*confirmation* is asked only of the language that won.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.format.language_features import code_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["unconfirmed", "veto"]

_FLAGS = re.MULTILINE | re.ASCII

# Lines that none of the twelve has. One expression, so that each line start is visited once; the
# name of the group that matched is the answer.
_FOREIGN_LINES = {
    "diff": r"\+(?!\+|--)|@@ |diff --git |--- a/|Index: \S",
    "markdown": r"```|~~~|\[[^\]\n]+\]: \S+$",
    "grammar": r"[ \t]*<[\w -]+>[ \t]*:",
    "traceback": r"Traceback \(most recent|[ \t]+at \S+ ?\(?\S+:\d+|goroutine \d+ \[",
    "failure": r"npm (?:ERR!|error|WARN|warn) |thread '[^']*' panicked|panic: ",
    "http": r"HTTP/\d|(?:GET|POST|PUT|PATCH|DELETE|HEAD) (?:/|https?:)",
    "table": r"[ \t]*[+|]?[-=]{3,}\+[-=+]{2,}|[ \t]*\|[-: ]{3,}\|",
    "php": r"[ \t]*<\?(?:php|=)",
    "c": r"[ \t]*#[ \t]*(?:include\b|define[ \t]+\w+|pragma\b|ifn?def\b|undef\b)",
    "csharp": r"using (?:static )?[A-Z][\w.]*;",
    "java": r"(?:import (?:static )?|package )[\w.]+(?:\.\*)?;|public (?:final )?class ",
    "powershell": (
        r"PS[ >][^\n]*>|[ \t]*(?:\$\w+[ \t]*=[ \t]*)?(?:Get|Set|New|Add|Remove|Invoke|Start|Stop"
        r"|Import|Export|Install|Write|Out|Select|Where|ForEach|Test|Enable|Disable|Update|Find|Register"
        r"|Copy|Move|Clear|Connect|ConvertTo|ConvertFrom)-[A-Z]\w+|\$env:"
    ),
    "windows_shell": r"@echo (?:off|on)\b|[A-Z]:\\[^\n>]*>|(?:REM|setx?) [A-Z%]",
    "cmake": r"[ \t]*(?:cmake_minimum_required|add_executable|target_\w+|find_package)[ \t]*\(",
    "make": (
        r"\.PHONY\b|(?!(?:case|default|else|try|def|class|if|for|while|with)\b)[\w./%$() -]+:"
        r"(?![=:])[^\n\"'{]*\n\t\S"
    ),
    "hcl": (
        r'[ \t]*(?:resource|variable|module|provider|data|output) "[^"\n]*"(?: "[^"\n]*")? \{'
        r"|(?:terraform|locals) \{$"
    ),
    "nginx": r"[ \t]*(?:server|http|upstream \S+|location [^{\n]+) \{[ \t]*$",
    "graphql": r"[ \t]*(?:extend )?(?:type|input) \w+(?: implements [\w &]+)? \{[ \t]*$",
    "protobuf": r'syntax = "proto|[ \t]*(?:message|service) \w+ \{[ \t]*$',
    "elixir": r"[ \t]*(?:defmodule|defp?|defmacro) [^\n]* do[ \t]*$",
    "haskell": r"[a-z]\w*'? :: \S",
    "mermaid": (
        r"(?:graph|flowchart) (?:TD|TB|BT|LR|RL)\b"
        r"|(?:sequence|class|state|er|git)[dD]iagram|gantt$|pie "
    ),
    "solidity": r"[ \t]*pragma solidity\b",
    "kotlin": r"[ \t]*(?:(?:suspend|private|override|internal) )*fun (?:<[^>\n]*> )?[\w.`]+\(",
    "swift": r"import (?:UIKit|SwiftUI|Foundation)[ \t]*$|[ \t]*(?:guard|if) let \w+ = [^\n;]*\{$",
    "lua": r"[ \t]*local (?:function \w+\(|\w+ = )",
    "vim": r"let g:|set nocompatible|augroup |Plug '",
}
_foreign_line_re = re.compile(
    "^(?:" + "|".join(f"(?P<{name}>{line})" for name, line in _FOREIGN_LINES.items()) + ")", _FLAGS
)

# Kinds of text in which a single such line proves nothing, so a share of the lines must agree.
_FOREIGN_SHARES = tuple(
    (name, re.compile(pattern, re.ASCII).match, share)
    for name, pattern, share in (
        ("tree", r"\s*[\u2500-\u257f]|\s*(?:\||`|\+|\\)--+\s?\S|\|   +[|`+]", 0.2),
        ("table", r"\s*\|.*\|\s*$|\s*[\u2550-\u256c\u2502]", 0.5),
        (
            "log",
            (
                r"\[?\d{4}[-/]\d\d[-/]\d\d[T ,]+\d\d:\d\d|\[?\d\d:\d\d:\d\d\b"
                r"|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b[\]:]?\s"
                r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
            ),
            0.3,
        ),
        ("dockerfile", r"(?:FROM|RUN|COPY|ADD|ENTRYPOINT|CMD|WORKDIR|EXPOSE|ENV|ARG) \S", 0.5),
        ("prose list", r"\s*(?:[-*\u2022]|\d+[.)]) (?:\w[\w',()/-]* ){4,}\S+$", 0.5),
        ("prose", r"[A-Z][\w',()-]*(?: [\w'()`\"/-]+[,;:]?){5,}[.!?:]?$", 0.6),
    )
)


def veto(code: str) -> str | None:
    r"""Return the kind of text that *code* plainly is, where that rules out every language.

    >>> veto("@@ -1 +1 @@\n-a\n+b"), veto("import os")
    ('diff', None)
    """
    found = _foreign_line_re.search(code)
    if found:
        return found.lastgroup
    if "::=" in code:
        return "grammar"
    lines = code_lines(code)
    for name, looks_so, share in _FOREIGN_SHARES:
        if sum(1 for line in lines if looks_so(line)) > share * len(lines):
            return name
    return None


def unconfirmed(language: str, code: str) -> str | None:
    """Return what *code* lacks to be *language*, or None where nothing speaks against it."""
    lines = code_lines(code)
    if language in _PROGRAMS and _compiler_output_re.search(code):
        return "it reads as a compiler's or a linter's output"
    check = _CONFIRMATIONS.get(language)
    return check(code, lines) if check else None


_PROGRAMS = frozenset({"rust", "go", "python", "javascript", "typescript"})
_compiler_output_re = re.compile(
    r"^(?:error(?:\[E\d+\])?: |warning: |[ \t]*-->[ \t]+\S+:\d+:\d+"
    r"|\S+:\d+(?::\d+)?: (?:error|warning|note)\b|\S+:\d+:\d+: )",
    _FLAGS,
)

_json_line = re.compile(
    r'\s*(?:["\[\]{},]|-?\d|true\b|false\b|null\b|//|/\*|\*|\.\.\.|#)', re.ASCII
).match
_json_body_re = re.compile(r'["\]}]')

_toml_line = re.compile(
    r"""\s*(?:
        \# | \[\[?[^\]=]+\]\]?\s*(?:\#.*)?$
        | (?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*
          \s*=\s*(?:["'\[{+-]|\d|true\b|false\b|inf\b|nan\b)
        | ["'\]\[{},] | -?\d | true\b | false\b | \.\.\.
    )""",
    re.ASCII | re.VERBOSE,
).match
_toml_pair_re = re.compile(r"^[ \t]*[\w.\"'-]+\s*=|^[ \t]*\[", _FLAGS)
_toml_foreign_re = re.compile(r"[;(]\s*$|^[ \t]*(?:export|const|let|var)\s", _FLAGS)

_yaml_line = re.compile(
    r"""\s*(?:\#|-(?:\s|$)|---|\.\.\.|["']?[^\s:{}\[\]"'<>][^:<>]*["']?\s*:(?:\s|$)|\{\{|[{}\[\]])""",
    re.ASCII,
).match

_sql_re = re.compile(
    r"\b(?:SELECT\b[\s\S]*?\bFROM\b|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM"
    r"|(?:CREATE|ALTER|DROP)\s+(?:OR\s+REPLACE\s+)?(?:(?:TEMP(?:ORARY)?|UNIQUE|VIRTUAL|EXTERNAL"
    r"|MATERIALIZED|FOREIGN)\s+)*(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA|FUNCTION|TRIGGER|TYPE|USER"
    r"|ROLE|EXTENSION|PROCEDURE|SEQUENCE|SOURCE|SINK|POLICY)|SELECT\s+\S|GRANT\s+\w+|PRAGMA\s+\w+"
    r"|EXPLAIN\s+\w+|SHOW\s+\w+|VACUUM|CALL\s+[\w.]+\(|DESCRIBE\s+\w+|ROLLBACK\b|SAVEPOINT\b"
    r"|CREATE\s+\w+|COPY\s+\w+|BEGIN\b|PRIMARY\s+KEY|NOT\s+NULL|REFERENCES\b|ORDER\s+BY"
    r"|GROUP\s+BY|(?:FROM|WHERE|SET)\s+\S+)",
    re.IGNORECASE | re.ASCII,
)

_go_re = re.compile(
    r"\b(?:func|package|import|return|struct|interface|range|defer|chan|nil|err|var|const|type"
    r"|switch|case|go|if|for|string|bool|byte|int\d*|error)\b|:=|\[\]|&\w+\{",
    re.ASCII,
)
_go_foreign_re = re.compile(
    r"^[ \t]*func\b[^\n]*->|^(?![ \t]*(?://|\*))[^\n\"`]*;[ \t]*$|^[ \t]*(?:let|fn|def) \w", _FLAGS
)

_css_re = re.compile(r"[{}]|^[ \t]*[-\w]+\s*:\s*[^;]+;|^@import\b", _FLAGS)
_css_foreign_re = re.compile(
    r"^[ \t]*(?:\$[\w-]+\s*:|@(?:include|mixin|extend|use|forward|if|else|each|function|return)\b"
    r"|@[\w-]+\s*:\s|\.[\w-]+\([^)]*\);)|#\{|^[ \t]*//|:[ \t][^;\n]*\$[a-z]",
    _FLAGS,
)

_tag_re = re.compile(r"<([A-Za-z][A-Za-z0-9-]*)")
_HTML_TAGS = frozenset(
    """a abbr address area article aside audio b base blockquote body br button canvas caption code
    col colgroup dd del details dfn dialog div dl dt em embed fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main map
    mark menu meta nav noscript object ol optgroup option output p picture pre progress q s samp
    script section select slot small source span strong style sub summary sup svg table tbody td
    template textarea tfoot th thead time title tr u ul video""".split()
)
_html_foreign_re = re.compile(
    r"\s*(?:<\?xml|(?:import|export|const|function)\s|[A-Z][\w-]+: )", re.ASCII
)
_script_attribute_re = re.compile(r"\w=\{")

_python_foreign_re = re.compile(
    r"^[ \t]*(?:end|fi|done|esac)\s*$|^[ \t]*(?:const|let|var|func|fn|function|use)\s"
    r"|^[ \t]*\}\s*else\b|^[ \t]+\w+ : [\['\w]|^[ \t]*(?:endif|endforeach)\b"
    r"|^[ \t]*(?:my|our)\s+[$@%(]|^[ \t]*sub\s+\w+\s*\{",
    _FLAGS,
)
_bash_foreign_re = re.compile(
    r"^[ \t]*end\s*$|^[ \t]*(?:const|let|var|func|fn|def|class|import|use)\s+[\w{*(]", _FLAGS
)
_typed_re = re.compile(
    r"\w\??\s*:\s*(?:[A-Z]\w*|string|number|boolean|any|void|unknown|never|null|readonly)\b"
    r"|^[ \t]*(?:export\s+)?(?:declare\s+)?(?:interface|type|enum|abstract\s+class|namespace)\s+\w+"
    r"|\b(?:import|export)\s+type\b|\bas\s+(?:const|any|unknown|string|number|[A-Z]\w*)\b"
    r"|\w<(?:[A-Z{]\w*|string|number|boolean|any|unknown|typeof\b)[^\n]{0,80}>\s*[({]"
    r"|^[ \t]*@[A-Z]\w*\(|\b(?:private|public|protected|readonly)\s+\w|\bimplements\s+[A-Z]"
    r"|\bsatisfies\s+[A-Z]|\w!\.|\binfer\s|\bkeyof\s",
    _FLAGS,
)
_script_re = re.compile(
    r"=>|\b(?:const|let|var|function|return|await|new|require|import|export|class|this"
    r"|console|typeof|if|for)\b|\w\(|</?\w",
    re.ASCII,
)


def _share(looks_so: Callable[[str], object], lines: list[str]) -> float:
    return sum(1 for line in lines if looks_so(line)) / max(1, len(lines))


def _lacks_json(code: str, lines: list[str]) -> str | None:
    if _share(_json_line, lines) < 0.97 or not _json_body_re.search(code):
        return "a line cannot begin so in JSON"
    return None


def _lacks_toml(code: str, lines: list[str]) -> str | None:
    multiline = '"""' in code or "'''" in code
    if _share(_toml_line, lines) < (0.6 if multiline else 0.97):
        return "a line is neither a TOML pair nor a TOML table"
    if not _toml_pair_re.search(code):
        return "there is no key and no table"
    return "a line belongs to a program" if _toml_foreign_re.search(code) else None


def _lacks_yaml(_code: str, lines: list[str]) -> str | None:
    if not lines or not _yaml_line(lines[0]) or _share(_yaml_line, lines) < 0.5:
        return "the lines are not keys and items"
    return None


def _lacks_sql(code: str, _lines: list[str]) -> str | None:
    return None if _sql_re.search(code) else "there is no statement"


def _lacks_go(code: str, _lines: list[str]) -> str | None:
    if not _go_re.search(code):
        return "there is no Go keyword"
    return "a line cannot be Go" if _go_foreign_re.search(code) else None


def _lacks_css(code: str, _lines: list[str]) -> str | None:
    if not _css_re.search(code):
        return "there is no rule and no declaration"
    return "it needs a CSS preprocessor" if _css_foreign_re.search(code) else None


def _lacks_html(code: str, lines: list[str]) -> str | None:
    tags = _tag_re.findall(code)
    known = sum(1 for tag in tags if tag in _HTML_TAGS or "-" in tag)
    if 2 * known < len(tags) or (not tags and not code.lstrip().startswith("<!")):
        return "most elements are not HTML's"
    if _html_foreign_re.match(code) or _script_attribute_re.search(code):
        return "it is XML, or markup inside a script"
    if lines and lines[0].lstrip()[:1] not in "<{" and _share(_opens_tag, lines) < 0.5:
        return "it does not begin with an element"
    return None


_opens_tag = re.compile(r"\s*<", re.ASCII).match


def _lacks_python(code: str, _lines: list[str]) -> str | None:
    return "a line cannot be Python" if _python_foreign_re.search(code) else None


def _lacks_bash(code: str, _lines: list[str]) -> str | None:
    return "a line cannot be a shell's" if _bash_foreign_re.search(code) else None


def _lacks_typescript(code: str, _lines: list[str]) -> str | None:
    return None if _typed_re.search(code) else "nothing in it is more than JavaScript"


def _lacks_javascript(code: str, lines: list[str]) -> str | None:
    if _share(_json_line, lines) >= 0.97 or not _script_re.search(code):
        return "it is data, not a script"
    return None


_CONFIRMATIONS: Mapping[str, Callable[[str, list[str]], str | None]] = {
    "bash": _lacks_bash,
    "css": _lacks_css,
    "go": _lacks_go,
    "html": _lacks_html,
    "javascript": _lacks_javascript,
    "json": _lacks_json,
    "python": _lacks_python,
    "sql": _lacks_sql,
    "toml": _lacks_toml,
    "typescript": _lacks_typescript,
    "yaml": _lacks_yaml,
}
