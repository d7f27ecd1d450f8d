"""Patterns and parsers of the Lark toolkit as Lark text: what `larkspur.parserllm` completes, without a model."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

from larkspur import Engine, Grammar, GrammarError
from larkspur._lark import parser_text, patterns_text


def accepts(grammar: Grammar, text: str) -> bool:
    matcher = grammar.matcher()
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


TEXTS = ["", "1", "٣", "a", "A", "ab", "AB", "a b", "a\nb", "a/b", "/", "\\/", "12\r\n", "k", "K", "\u212a", "\n"]


@pytest.mark.parametrize(
    "pattern",
    [
        re.compile(r"\d", re.ASCII),
        re.compile(r"\d"),
        re.compile("(?a)k", re.IGNORECASE),
        re.compile("k", re.IGNORECASE),
        re.compile("(?i)ab"),
        "(?#names)(?i)(?s)a.b",
        re.compile("\n  # first\n (?s) a . b", re.VERBOSE),
        "(?x) a  # one / two",
        re.compile("a\nb"),
        re.compile("a\\\nb"),
        re.compile("a\nb", re.VERBOSE),
        re.compile("a [\n ] b | a \\\n b", re.VERBOSE),
        re.compile("\\d+\r\n"),
        re.compile("a/b"),
        re.compile(r"[/]"),
        re.compile(r"\\/"),
        re.compile(".", re.DOTALL),
        "a|b",
        "",
    ],
    ids=str,
)
def test_patterns_match_what_they_match_in_python(engine: Engine, pattern: Any) -> None:
    grammar = engine.lark(patterns_text([pattern]), lexer="exact")
    assert [text for text in TEXTS if accepts(grammar, text)] == [text for text in TEXTS if re.fullmatch(pattern, text)]


def test_patterns_of_regex(engine: Engine) -> None:
    regex = pytest.importorskip("regex")
    grammar = engine.lark(patterns_text([regex.compile(r"\d", regex.ASCII), regex.compile("x", regex.IGNORECASE)]))
    assert accepts(grammar, "1") and accepts(grammar, "X") and not accepts(grammar, "٣")
    with pytest.raises(ValueError, match="VERSION1"):
        patterns_text([regex.compile("[a--b]", regex.VERSION1)])


WORD_X = 'start: W "x"\nW: /[a-z]+/'
LISTED = 'start: ("list" | "listen") "ed"'
KEYWORD = 'start: ID | "if" "!"\nID: /[a-z]+/'
STATEMENTS = 'start: (ID ";" | "if" ID ";")+\nID: /[a-z]+/\n%ignore " "'
TEMPLATE = 'start: list{ITEM, ","} [end]\nlist{item, comma}: item (comma item)*\nend: "É" | "\\t\\\\"\nITEM: "q"i'
BLOCKS = (
    'start: (item | NL)*\nitem: W ["(" W ")"] NL [BEGIN item+ END]\nW: /[a-z]+/\nNL: /\\n[ \\t]*/\n'
    '%declare BEGIN END\n%ignore " "\n'
)


@pytest.mark.parametrize(
    ("grammar", "options", "texts"),
    [
        (WORD_X, {}, ["abx"]),
        (WORD_X, {"lexer": "dynamic_complete"}, ["abx", "ab"]),
        (LISTED, {}, ["listed", "listened", "list"]),
        (LISTED, {"lexer": "dynamic_complete"}, ["listed"]),
        (KEYWORD, {}, ["if", "if!"]),
        (KEYWORD, {"parser": "lalr"}, ["if", "if!", "iff", "ab"]),
        (STATEMENTS, {"parser": "lalr"}, ["if;", "if a;", "ab; c;"]),
        ('start: "abc" X\nX: /x/', {"parser": "lalr", "g_regex_flags": re.I}, ["abcx", "ABCX"]),
        ('start: "k" /\\d/', {"parser": "lalr", "g_regex_flags": re.I | re.A}, ["k1", "K1", "k٣", "\u212a1"]),
        ('start: "a b" /x # c\\/\\/\n y/x', {"parser": "lalr", "g_regex_flags": re.X}, ["a bxy", "abxy"]),
        ('start: /(?i)a/ "b"', {}, ["ab", "Ab", "aB"]),
        ('start: A B | C\nA.2: "a"\nB: "x"\nC: /[a-z]/', {"parser": "lalr", "priority": "invert"}, ["ax", "a"]),
        ('start: /\\p{Lu}/', {"regex": True}, ["A", "a"]),
        (TEMPLATE, {"parser": "lalr"}, ["Q,q\t\\", "qÉ", "q", ","]),
        (TEMPLATE, {"g_regex_flags": re.S}, ["Q,q\t\\", "qÉ", "q", ","]),
        ('start: "a" C*\nC: " "\n%ignore C', {"parser": "lalr", "lexer_callbacks": {}}, ["a ", " a"]),
    ],
)
def test_parsers_keep_their_language(engine: Engine, grammar: str, options: dict[str, Any], texts: list[str]) -> None:
    lark = pytest.importorskip("lark")
    if options.get("regex"):
        pytest.importorskip("regex")
    check(engine, lark.Lark(grammar, **options), texts)


def check(engine: Engine, parser: Any, texts: list[str]) -> None:
    text, start = parser_text(parser)
    grammar = engine.lark(text, start=start)
    assert {each: accepts(grammar, each) for each in texts} == {each: parses(parser, each) for each in texts}


def parses(parser: Any, text: str) -> bool:
    from lark.exceptions import LarkError

    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


def test_parsers_with_imports(engine: Engine, tmp_path: Path) -> None:
    lark = pytest.importorskip("lark")
    (tmp_path / "main.lark").write_text('start: list\n%import .numbers.list\n%import common.WS\n%ignore WS\n')
    (tmp_path / "numbers.lark").write_text('list: NUM ("," NUM)*\nNUM: /[0-9]+/\n')
    for options in ({}, {"parser": "lalr"}):
        check(engine, lark.Lark.open(str(tmp_path / "main.lark"), **options), ["1, 2", "1,"])
        paths = [str(tmp_path / "none"), str(tmp_path)]
        check(engine, lark.Lark("start: list\n%import numbers.list", import_paths=paths, **options), ["1,2", "1,"])


def test_parsers_that_are_not_of_a_text(engine: Engine) -> None:
    lark = pytest.importorskip("lark")
    file = io.BytesIO()
    parser = lark.Lark('start: "a" | "b"\n%ignore " "', parser="lalr")
    parser.save(file)
    file.seek(0)
    check(engine, lark.Lark.load(file), ["a ", "c"])
    check(engine, lark.Lark(parser.grammar, parser="lalr"), ["a ", "c"])

    def edit(terminal: Any) -> None:
        terminal.pattern = lark.lexer.PatternStr("edited")

    check(engine, lark.Lark('start: X\nX: "a"', edit_terminals=edit), ["a", "edited"])


def test_parsers_with_blocks(engine: Engine) -> None:
    lark = pytest.importorskip("lark")
    from lark.indenter import Indenter

    class Blocks(Indenter):  # type: ignore[misc, unused-ignore]
        NL_type, INDENT_type, DEDENT_type, tab_len = "NL", "BEGIN", "END", 4
        OPEN_PAREN_types, CLOSE_PAREN_types = ["LPAR", "LSQB"], ["RPAR", "RSQB"]

    class Others(Blocks):
        def process(self, stream: Any) -> Any:
            return super().process(stream)

    texts = ["a\n", "a\n b\n c\nd\n", "a(\nb)\n", "a\n\tb\n    c\n", "a\n\tb\n   c\n"]
    check(engine, lark.Lark(BLOCKS, parser="lalr", postlex=Blocks()), texts)
    with pytest.raises(ValueError, match="postlex=Others"):
        parser_text(lark.Lark(BLOCKS, parser="lalr", postlex=Others()))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"parser": "lalr", "lexer": "basic"}, "lexer='basic'"),
        ({"parser": "cyk"}, "lexer='basic'"),
        ({"parser": "lalr", "use_bytes": True}, "use_bytes"),
        ({"parser": "lalr", "lexer_callbacks": {"A": lambda token: token}}, "lexer_callbacks"),
        ({"parser": "lalr", "start": ["start", "other"]}, r"\['start', 'other'\]"),
    ],
)
def test_options_that_cannot_be_carried_over(options: dict[str, Any], name: str) -> None:
    lark = pytest.importorskip("lark")
    with pytest.raises(ValueError, match=name):
        parser_text(lark.Lark('start: A\nother: A\nA: "a"', **options))


def test_mistakes_are_shown_in_the_text_of_the_parser(engine: Engine) -> None:
    lark = pytest.importorskip("lark")
    text, start = parser_text(lark.Lark('start: A "b"\nA: /(a)\\1/', parser="lalr"))
    with pytest.raises(GrammarError, match="<lark>:2:"):
        engine.lark(text, start=start)
