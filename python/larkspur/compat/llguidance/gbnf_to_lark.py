"""GBNF, llama.cpp's grammar language, to Lark.

`any_to_lark` gives Larkspur's own conversion, whose lexer mode `exact` keeps the language. That mode is one for a whole
grammar, so that a text that is to be put into another one, as Guidance does, must do without: `gbnf_to_lark` writes
every character as a lexeme of its own, for which `longest` is the same.
The syntax tree is there for clients that walk it.
"""

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Optional

from larkspur import GrammarError, convert
from larkspur.errors import again


@dataclass
class Position:
    """A place in a text."""

    text: str
    pos: int

    def __str__(self) -> str:
        line = self.text.count("\n", 0, self.pos) + 1
        before, after = self.text[max(0, self.pos - 20) : self.pos], self.text[self.pos : self.pos + 20]
        return f"line {line}, {before!r} ^ {after!r}"


class GbnfToLarkError(Exception):
    """A mistake in a GBNF text, and its place."""

    def __init__(self, pos: Position, message: str) -> None:
        self.pos = pos
        super().__init__(f"{message} at {pos}")

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (type(self), *self.args), self.__dict__


class GbnfGrammarError(GbnfToLarkError, GrammarError):
    """The same as Larkspur tells it, with all mistakes."""

    def __init__(self, text: str, error: GrammarError) -> None:
        GrammarError.__init__(self, str(error), diagnostics=error.diagnostics)
        before = text.encode()[: error.span[0] if error.span else 0]
        self.pos = Position(text, len(before.decode("utf-8", "ignore")))


class ASTNode(ABC):
    """A part of a rule; its `str` is Lark."""

    @abstractmethod
    def __str__(self) -> str: ...

    def is_atomic(self) -> bool:
        """Whether it can be repeated without parentheses."""
        return True

    def is_terminal(self) -> bool:
        """Whether it can stand in a terminal."""
        return all(child.is_terminal() for child in self.children())

    def top_str(self) -> str:
        """Its text as the whole body of a rule."""
        return str(self)

    def simplify(self) -> "ASTNode":
        """The same without groups of one."""
        return self

    def children(self) -> list["ASTNode"]:
        """Its parts."""
        return []


@dataclass
class LiteralNode(ASTNode):
    """A literal; `value` has its escapes."""

    value: str

    def __str__(self) -> str:
        return f'"{self.value}"'


@dataclass
class RegexNode(ASTNode):
    """One character of a class."""

    rx: str

    def __str__(self) -> str:
        return f"/{self.rx}/"


@dataclass
class RuleRefNode(ASTNode):
    """A rule's name."""

    name: str
    target: Optional["RuleNode"] = None

    def is_terminal(self) -> bool:
        return self.target is not None and self.target.rule_is_terminal

    def __str__(self) -> str:
        return self.name if self.target is None else self.target.name


@dataclass
class RepetitionNode(ASTNode):
    """Something between `min_times` and `max_times` (`None`: any number of) times."""

    node: ASTNode
    min_times: int
    max_times: int | None

    def children(self) -> list[ASTNode]:
        return [self.node]

    def simplify(self) -> ASTNode:
        self.node = self.node.simplify()
        return self

    def __str__(self) -> str:
        inner = str(self.node)
        if not self.node.is_atomic() and not inner.startswith("("):
            inner = f"({inner})"
        return inner + self.suffix()

    def suffix(self) -> str:
        """The operator."""
        short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((self.min_times, self.max_times))
        most = "" if self.max_times is None else str(self.max_times)
        return short or f"{{{self.min_times},{most}}}"


@dataclass
class SequenceNode(ASTNode):
    """One after the other."""

    nodes: list[ASTNode]

    def __str__(self) -> str:
        return " ".join(map(str, self.nodes)) or '""'

    def is_atomic(self) -> bool:
        return False

    def simplify(self) -> ASTNode:
        self.nodes = [node.simplify() for node in self.nodes]
        return self.nodes[0] if len(self.nodes) == 1 else self

    def children(self) -> list[ASTNode]:
        return self.nodes


@dataclass
class AlternativeNode(ASTNode):
    """One of several."""

    alternatives: list[ASTNode]

    def __str__(self) -> str:
        return f"({' | '.join(map(str, self.alternatives))})"

    def top_str(self) -> str:
        return "\n     | ".join(map(str, self.alternatives))

    def is_atomic(self) -> bool:
        return False

    def simplify(self) -> ASTNode:
        self.alternatives = [node.simplify() for node in self.alternatives]
        return self.alternatives[0] if len(self.alternatives) == 1 else self

    def children(self) -> list[ASTNode]:
        return self.alternatives


@dataclass
class RuleNode(ASTNode):
    """A rule, with the comments before it as Lark's."""

    name: str
    alternatives: ASTNode
    comment: str
    rule_is_terminal: bool = False
    order: int = 0

    def children(self) -> list[ASTNode]:
        return [self.alternatives]

    def __str__(self) -> str:
        return f"{self.comment}{self.name}: {self.alternatives.top_str()}"


_NAME = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*(?:#[^\r\n]*)?")
_COUNTS = re.compile(r"\{\s*([0-9]+)\s*(?:(,)\s*([0-9]*)\s*)?\}")
_CHAR = re.compile(r'\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[]["\\nrt])|[^\\]', re.DOTALL)


class GrammarParser:
    """Reads the rules of a GBNF text."""

    def __init__(self) -> None:
        self.curr_comment = ""
        self._text = ""
        self._at = 0

    def parse(self, text: str) -> dict[str, RuleNode]:
        """The rules by name. Raises `GbnfToLarkError` at the first mistake."""
        self._text, self._at = text, 0
        rules = {}
        self._space(True)
        while self._at < len(text):
            rule = self._rule()
            rules[rule.name] = rule
            self._space(True)
        return rules

    def _fail(self, message: str) -> NoReturn:
        raise GbnfToLarkError(Position(self._text, self._at), message)

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _space(self, newlines: bool) -> None:
        while True:
            found = _BLANK.match(self._text, self._at)
            assert found is not None
            blank = found[0]
            if "#" in blank:
                self.curr_comment += "//" + blank.lstrip(" \t")[1:] + "\n"
            self._at = found.end()
            if not newlines or self._next() not in ("\n", "\r"):
                return
            self._at += 1

    def _take(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = pattern.match(self._text, self._at)
        if found is None:
            self._fail(f"Expected {what}")
        self._at = found.end()
        return found

    def _rule(self) -> RuleNode:
        name = self._take(_NAME, "name")[0]
        self._space(False)
        if not self._text.startswith("::=", self._at):
            self._fail("Expected ::=")
        self._at += 3
        self._space(True)
        comment, self.curr_comment = self.curr_comment, ""
        return RuleNode(name, self._alternatives(False), comment)

    def _alternatives(self, nested: bool) -> AlternativeNode:
        alternatives: list[ASTNode] = [self._sequence(nested)]
        while self._next() == "|":
            self._at += 1
            self._space(True)
            alternatives.append(self._sequence(nested))
        return AlternativeNode(alternatives)

    def _sequence(self, nested: bool) -> SequenceNode:
        nodes: list[ASTNode] = []
        while True:
            self._space(nested)
            node = self._atom()
            if node is None:
                return SequenceNode(nodes)
            self._space(nested)
            nodes.append(self._repeated(node))

    def _atom(self) -> ASTNode | None:
        char = self._next()
        if char == '"':
            self._at += 1
            return LiteralNode("".join(self._chars('"')))
        if char == "[":
            return RegexNode(self._class())
        if char == "(":
            self._at += 1
            self._space(True)
            inner = self._alternatives(True)
            if self._next() != ")":
                self._fail("Expected ')'")
            self._at += 1
            return inner
        if char == ".":
            self._at += 1
            return RegexNode(r"(.|\n)")
        if char and _NAME.match(char):
            return RuleRefNode(self._take(_NAME, "name")[0])
        return None

    def _repeated(self, node: ASTNode) -> ASTNode:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._next())
        if simple is not None:
            self._at += 1
            return RepetitionNode(node, *simple)
        if self._next() != "{":
            return node
        least, comma, most = self._take(_COUNTS, "counts such as {2,3}").groups()
        if not comma:
            return RepetitionNode(node, int(least), int(least))
        return RepetitionNode(node, int(least), int(most) if most else None)

    def _chars(self, end: str) -> Iterator[str]:
        """The characters up to `end`, each with its escape."""
        while self._next() != end:
            if not self._next():
                self._fail("Unexpected end of input")
            yield self._take(_CHAR, "an escape such as \\n, \\x41 or \\u0041")[0]
        self._at += 1

    def _class(self) -> str:
        self._at += 1
        negated = self._next() == "^"
        self._at += negated
        chars = list(self._chars("]"))
        parts, index = [], 0
        while index < len(chars):
            if index + 2 < len(chars) and chars[index + 1] == "-":
                parts.append(f"{_in_class(chars[index])}-{_in_class(chars[index + 2])}")
                index += 3
            else:
                parts.append(_in_class(chars[index]))
                index += 1
        if not parts:
            return r"(.|\n)" if negated else r"[a&&b]"
        return f"[{'^' if negated else ''}{''.join(parts)}]"


def _decoded(char: str) -> str:
    if not char.startswith("\\"):
        return char
    if char[1] in "xuU":
        return chr(int(char[2:], 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(char[1], char[1])


def _in_class(char: str) -> str:
    """A character in a class of a regex, between slashes."""
    decoded = _decoded(char)
    return decoded if decoded.isascii() and decoded.isalnum() else f"\\u{{{ord(decoded):x}}}"


def resolve(rules: dict[str, RuleNode], *, terminals: bool = True) -> None:
    """Binds names to rules, and gives rules the names that Lark wants: `root` becomes `start`, and, with `terminals`,
    what can be a terminal gets a name in upper case. Raises `Exception` for names without a rule."""

    def rename(rule: RuleNode, name: str) -> None:
        if name in rules:
            raise Exception(f"Rule '{name}' already exists")
        del rules[rule.name]
        rule.name = name
        rules[name] = rule

    for order, rule in enumerate(rules.values()):
        rule.order = order
        rule.alternatives = rule.alternatives.simplify()
    for rule in rules.values():
        for node in _descendants(rule):
            if isinstance(node, RuleRefNode):
                if node.name not in rules:
                    raise Exception(f"Rule '{node.name}' not found")
                node.target = rules[node.name]
    if "root" not in rules:
        raise Exception("No 'root' rule found")
    rename(rules["root"], "start")
    changed = terminals
    while changed:
        changed = False
        for rule in rules.values():
            if rule.name != "start" and not rule.rule_is_terminal and rule.alternatives.is_terminal():
                rule.rule_is_terminal = changed = True
    for rule in list(rules.values()):
        name = re.sub(r"([a-z])([A-Z])", r"\1_\2", rule.name.replace("-", "_")).lower()
        name = name if name[0].isalpha() or name[0] == "_" else f"r_{name}"
        name = name.upper() if rule.rule_is_terminal else name
        if name != rule.name:
            rename(rule, name)


def _descendants(node: ASTNode) -> Iterator[ASTNode]:
    open_nodes = node.children()
    while open_nodes:
        each = open_nodes.pop()
        yield each
        open_nodes += each.children()


def _split(node: ASTNode) -> ASTNode:
    """The same with every literal as a sequence of characters."""
    if isinstance(node, LiteralNode):
        chars: list[ASTNode] = [RegexNode(f"[{_in_class(char)}]") for char in _CHAR.findall(node.value)]
        return chars[0] if len(chars) == 1 else SequenceNode(chars)
    if isinstance(node, RepetitionNode):
        return RepetitionNode(_split(node.node), node.min_times, node.max_times)
    if isinstance(node, SequenceNode):
        return SequenceNode([_split(each) for each in node.nodes])
    if isinstance(node, AlternativeNode):
        return AlternativeNode([_split(each) for each in node.alternatives])
    return node


def gbnf_to_lark(text: str) -> str:
    """A GBNF text as a Lark text that can also be put into another grammar.

    Raises `GbnfToLarkError`, and `Exception` for names without a rule.
    """
    rules = GrammarParser().parse(text)
    resolve(rules, terminals=False)
    written = ["%llguidance {}\n"]
    for rule in sorted(rules.values(), key=lambda rule: rule.order):
        written.append(str(RuleNode(rule.name, _split(rule.alternatives), rule.comment)))
    return "\n".join(written) + "\n"


def is_lark_syntax(text: str) -> bool:
    """Whether a text looks like Lark: it has a rule `start`, or options."""
    return re.search(r"(?m)^\s*(%llguidance\b|%larkspur\b|start\s*:)", text) is not None


def any_to_lark(text: str) -> str:
    """A GBNF text as Lark; Lark as it is. Raises `GbnfToLarkError` with all mistakes, which is a `larkspur.GrammarError`, too."""
    if is_lark_syntax(text):
        return text
    try:
        return convert("gbnf", text, "lark")[0]
    except GrammarError as error:
        raise GbnfGrammarError(text, error) from None


def main() -> None:
    """Writes a `.lark` file beside each `.gbnf` file that is named."""
    if len(sys.argv) < 2:
        print("Usage: gbnf_to_lark.py FILE…")
        sys.exit(1)
    for name in sys.argv[1:]:
        path = Path(name)
        path.with_suffix(".lark").write_text(gbnf_to_lark(path.read_text("utf-8")), "utf-8")
        print(f"{name}... OK")


if __name__ == "__main__":
    main()
