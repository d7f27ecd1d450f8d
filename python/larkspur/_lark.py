"""What Python has of grammars, as Lark text: patterns, and parsers of the Lark toolkit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_FLAGS = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}
# The package `regex` has other numbers, and flags that change what a pattern means.
_REGEX_FLAGS = {0x80: "a", 0x2: "i", 0x8: "m", 0x10: "s", 0x40: "x"}
_REGEX_ONLY = {0x100: "VERSION1", 0x800: "WORD", 0x4000: "FULLCASE"}


def patterns_text(patterns: Sequence[Any]) -> str:
    """A grammar of the texts that one of the patterns matches: compiled ones (of `re` or `regex`), or their texts.

    Raises `TypeError` for bytes, and `ValueError` for no patterns and for flags of `regex` that Larkspur does not have.
    """
    if not patterns:
        raise ValueError("one pattern at least is needed")
    lines = ["start: " + " | ".join(f"PATTERN_{index}" for index in range(len(patterns)))]
    for index, pattern in enumerate(patterns):
        text = pattern if isinstance(pattern, (str, bytes)) else pattern.pattern
        if isinstance(text, bytes):
            raise TypeError("patterns are of text, not of bytes")
        flags = 0 if isinstance(pattern, str) else pattern.flags
        lines.append(f"PATTERN_{index}: {_regex(text, _letters(flags, of_re=isinstance(pattern, (str, re.Pattern))))}")
    return "\n".join(lines) + "\n"


def parser_text(parser: Any) -> tuple[str, str]:
    """The grammar of a `lark.Lark` with its options, and its start rule.

    Raises `ValueError` for an option that changes the language and cannot be said in a grammar.
    """
    options = parser.options
    _check(options, parser.lexer_conf.ignore)
    contextual = options.lexer == "contextual"
    settings: dict[str, Any] = {"lexer": "longest" if contextual else "exact", "keywords": contextual}
    if _says_all(parser):
        text, start = parser.source_grammar, options.start[0]
    else:
        names = _names(parser)
        text, start = _compiled(parser, names), names[options.start[0]]
        if options.postlex is not None:
            settings["indenter"] = _indenter(options.postlex, parser.lexer_conf.terminals, names)
    # Behind the text, whose lines keep their numbers.
    return f"{text}\n%larkspur {json.dumps(settings)}\n", start


def _says_all(parser: Any) -> bool:
    """Whether a parser's text says what its terminals are. It is the better one to show mistakes in."""
    options, text = parser.options, getattr(parser, "source_grammar", None)
    plain = not options.g_regex_flags and options.edit_terminals is None and options.postlex is None
    plain = plain and options.priority == "normal" and options.lexer != "dynamic"
    return plain and isinstance(text, str) and not re.search(r"%import\s+(?!common\b)", text)


def _compiled(parser: Any, names: dict[str, str]) -> str:
    """The grammar as Lark compiled it, with what is imported, edited or said for all terminals."""
    options, conf = parser.options, parser.lexer_conf
    flags = _letters(conf.g_regex_flags, of_re=not options.regex)
    symbols = dict(names)
    lines = []
    for terminal in conf.terminals:
        name, body = names[terminal.name], _terminal(terminal.pattern, flags)
        lines.append(f"{name}.{terminal.priority}: {body}")
        if options.lexer == "dynamic" and terminal.pattern.type == "re":
            symbols[terminal.name] = f"whole-{name.lower()}"
            lines.append(f"whole-{name.lower()}: {_WHOLE % body}")
    if options.postlex is not None:
        lines += [f"%declare {names[name]}" for name in (options.postlex.INDENT_type, options.postlex.DEDENT_type)]
    alternatives: dict[str, list[str]] = {}
    for rule in parser.rules:
        body = " ".join(symbols[symbol.name] for symbol in rule.expansion)
        alternatives.setdefault(names[rule.origin.name], []).append(body or '""')
    lines += [f"{name}: " + "\n    | ".join(bodies) for name, bodies in alternatives.items()]
    lines += [f"%ignore {names[name]}" for name in conf.ignore]
    return "\n".join(lines)


# Lark's dynamic lexer takes the longest match of a terminal, and tries all terminals.
_WHOLE = '%%lark {\n  start: %s\n  %%larkspur { "lexer": "longest", "ignore_edges": "none" }\n}'


def _check(options: Any, ignored: Iterable[str]) -> None:
    """Raises `ValueError` for options that Larkspur has no words for."""
    lexer = options.lexer if isinstance(options.lexer, str) else options.lexer.__name__
    if len(options.start) != 1:
        reason = f"starts with one of {list(options.start)}: give one with one start"
    elif options.parser is None:
        reason = "has the option parser=None: give one with parser='lalr'"
    elif lexer not in ("contextual", "dynamic", "dynamic_complete"):
        reason = f"has the option lexer={lexer!r}: give one with lexer='contextual'"
    elif options.use_bytes:
        reason = "has the option use_bytes: give one of text"
    elif set(options.lexer_callbacks) - set(ignored):
        reason = "has the option lexer_callbacks, for terminals that are not ignored: give one without"
    elif options.postlex is not None and not _is_indenter(type(options.postlex)):
        reason = f"has the option postlex={type(options.postlex).__name__}: give one without, or with an Indenter"
    else:
        return
    raise ValueError(f"the parser {reason}, or the grammar's text")


def _is_indenter(kind: type) -> bool:
    """Whether it is Lark's `Indenter`, with other names at most."""
    methods = ("process", "_process", "handle_NL")
    return all(getattr(getattr(kind, name, None), "__qualname__", "") == f"Indenter.{name}" for name in methods)


def _indenter(postlex: Any, terminals: Iterable[Any], names: dict[str, str]) -> dict[str, Any]:
    """The option `indenter` for Lark's `Indenter`."""
    texts = {terminal.name: terminal.pattern.value for terminal in terminals}
    pairs = zip(postlex.OPEN_PAREN_types, postlex.CLOSE_PAREN_types)
    return {
        "newline": names[postlex.NL_type],
        "indent": names[postlex.INDENT_type],
        "dedent": names[postlex.DEDENT_type],
        "brackets": [[texts[left], texts[right]] for left, right in pairs if left in texts and right in texts],
        "tab": postlex.tab_len,
    }


def _names(parser: Any) -> dict[str, str]:
    """Names for Larkspur by those of Lark, which may hold other letters, and braces where templates were."""
    symbols = {rule.origin.name: False for rule in parser.rules}
    symbols |= {terminal.name: True for terminal in parser.lexer_conf.terminals}
    symbols |= {symbol.name: symbol.is_term for rule in parser.rules for symbol in rule.expansion}
    names: dict[str, str] = {}
    taken = set()
    for index, (name, is_terminal) in enumerate(symbols.items()):
        simple = name.upper() if is_terminal else name.lower()
        if simple in taken or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", simple):
            simple = f"TERMINAL-{index}" if is_terminal else f"rule-{index}"
        taken.add(simple)
        names[name] = simple
    return names


def _terminal(pattern: Any, flags: set[str]) -> str:
    """A terminal's body. A string stays one, as keywords are."""
    letters = flags | set(pattern.flags)
    if pattern.type != "str":
        return _regex(pattern.to_regexp(), flags)
    if {"a", "i"} <= letters and re.search(r"[^\x00-\x7f]|[ks]", pattern.value, re.IGNORECASE):
        return _regex(re.escape(pattern.value), letters)
    return '"' + "".join(map(_character, pattern.value)) + '"' + ("i" if "i" in letters else "")


def _character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def _letters(flags: int, *, of_re: bool = True) -> set[str]:
    """Flags as in `(?i)`. Raises `ValueError` for those of `regex` that Larkspur does not have."""
    for flag, name in ({} if of_re else _REGEX_ONLY).items():
        if flags & flag:
            raise ValueError(f"Larkspur does not have the flag {name} of `regex`")
    return {letter for flag, letter in (_FLAGS if of_re else _REGEX_FLAGS).items() if flags & flag}


def _regex(pattern: str, flags: Iterable[str] = ()) -> str:
    letters = set(flags)
    while found := (_VERBOSE_START if "x" in letters else _START).match(pattern):
        letters |= set(found[1])
        pattern = pattern[found.end() :]
    # A slash ends the regex in Lark.
    pattern = re.sub(r"(\\.)|/", lambda found: found[1] or r"\/", pattern, flags=re.DOTALL)
    on = "".join(letter for letter in "aiLmsx" if letter in letters)
    # With `x` behind the slash the regex may go over lines; what white space means in it is up to the group.
    return f"/(?{on}:{pattern}\n)/x" if "x" in letters else f"/(?{on}-x:{pattern})/x"


# Flags for the whole pattern, with comments before them.
_START = re.compile(r"(?:\(\?#[^)]*\))*\(\?([aiLmsux]+)\)")
_VERBOSE_START = re.compile(r"(?:\s|#[^\n]*\n|\(\?#[^)]*\))*\(\?([aiLmsux]+)\)")
