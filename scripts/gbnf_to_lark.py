#!/usr/bin/env python3
"""GBNF, the grammar language of llama.cpp, to Lark as Larkspur reads it. Standard library only.

    gbnf_to_lark.py [--start RULE] [FILE]        standard input if no file is given

The language stays the same: terminals are read in lexer mode `exact`. What differs in names is said on standard error.
`larkspur convert FILE --to lark` writes the same text, and knows the place and the reason of every mistake; this script
stops at the first one. As a module: `gbnf_to_lark(text, start="root") -> (text, notes)`.
"""

import argparse
import sys

HEADER = '%larkspur { "lexer": "exact", "unproductive": "allow" }\n'
WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
LAST = 0x10FFFF


class GbnfError(ValueError):
    """A mistake in a GBNF text, with its line and column from 1 up."""

    def __init__(self, text, at, message):
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"{self.line}:{self.column}: {message}")


# Nodes are tuples whose first element is one of these. A node is `(kind, value…)`.
SEQUENCE, CHOICE, REPEAT, LITERAL, CLASS, NAME, TOKEN = range(7)


class Parser:
    """Reads definitions as `(name, body, end)`, where `end` is where the body ends."""

    def __init__(self, text):
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0  # some editors write a byte order mark
        self.comments = []  # (start, end)
        self.references = []  # (name, at)
        self.definitions = []
        self.space(True)
        while self.at < len(text):
            self.definitions.append(self.definition())
            self.space(True)

    def fail(self, message, at=None):
        raise GbnfError(self.text, self.at if at is None else at, message)

    def char(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def space(self, newlines):
        while c := self.char():
            if c in " \t" or newlines and c in "\n\r":
                self.at += 1
            elif c == "#":
                start = self.at
                self.at = self.line_end()
                # Some places are looked at twice.
                if not self.comments or self.comments[-1][0] < start:
                    self.comments.append((start, self.at))
            else:
                return

    def line_end(self, start=None):
        start = self.at if start is None else start
        ends = [end for end in (self.text.find(c, start) for c in "\n\r") if end >= 0]
        return min(ends, default=len(self.text))

    def word(self):
        start = self.at
        while self.char() and self.char() in WORD:
            self.at += 1
        return self.text[start : self.at]

    def is_definition(self):
        start = self.at
        has_name = bool(self.word())
        self.space(False)
        found = has_name and self.text.startswith("::=", self.at)
        self.at = start
        return found

    def is_first_on_line(self):
        start = max(self.text.rfind("\n", 0, self.at), self.text.rfind("\r", 0, self.at)) + 1
        return not self.text[start : self.at].strip(" \t")

    def definition(self):
        name = self.word()
        if not name:
            self.fail("a rule is expected: `name ::= …`")
        self.space(False)
        if not self.text.startswith("::=", self.at):
            self.fail("`::=` is expected behind the name of a rule")
        self.at += 3
        self.space(True)
        body, end = self.alternatives()
        return name, body, end

    def alternatives(self):
        # Open groups, the rule's own first: (start, finished alternatives, the sequence so far).
        groups = [(self.at, [], [])]
        end = self.at
        while True:
            nested = len(groups) > 1
            self.space(nested)
            start = self.at
            c = self.char()
            if not c:
                break
            if c in "\n\r":
                self.space(True)
                if self.char() != "|":
                    self.at = start
                    break
                continue
            if c == "|":
                self.at += 1
                _, finished, sequence = groups[-1]
                finished.append(self.sequence(sequence))
                groups[-1] = (groups[-1][0], finished, [])
                end = self.at
                self.space(True)
                if self.is_first_on_line() and self.is_definition():
                    break
            elif c == "(":
                self.at += 1
                self.space(True)
                groups.append((start, [], []))
            elif c == ")":
                if not nested:
                    self.fail("`)` without `(`")
                self.at += 1
                _, finished, sequence = groups.pop()
                groups[-1][2].append(self.choice(finished, sequence))
                end = self.at
            elif c in "*+?{":
                sequence = groups[-1][2]
                if not sequence:
                    self.fail("nothing stands before this repetition")
                counts = self.counts() if c == "{" else {"*": (0, None), "+": (1, None), "?": (0, 1)}[c]
                if c != "{":
                    self.at += 1
                sequence[-1] = (REPEAT, sequence[-1], *counts)
                end = self.at
            elif c in WORD:
                if self.is_definition():
                    if self.is_first_on_line() and nested:
                        break
                    self.fail("a rule begins on a line of its own")
                name = self.word()
                self.references.append((name, start))
                groups[-1][2].append((NAME, name))
                end = self.at
            else:
                groups[-1][2].append(self.symbol(c))
                end = self.at
        if len(groups) > 1:
            self.fail("`(` is not closed", groups[-1][0])
        _, finished, sequence = groups.pop()
        return self.choice(finished, sequence), end

    @staticmethod
    def sequence(parts):
        return parts[0] if len(parts) == 1 else (SEQUENCE, parts)

    def choice(self, finished, sequence):
        parts = finished + [self.sequence(sequence)]
        return parts[0] if len(parts) == 1 else (CHOICE, parts)

    def counts(self):
        start = self.at
        self.at += 1
        self.space(True)
        low = self.number()
        self.space(True)
        high = low
        if self.char() == ",":
            self.at += 1
            self.space(True)
            high = self.number()
            self.space(True)
        if self.char() != "}" or low is None:
            self.fail("counts are `{m}`, `{m,}` or `{m,n}`", start)
        if high is not None and high < low:
            self.fail(f"{low} is more than {high}", start)
        self.at += 1
        return low, high

    def number(self):
        start = self.at
        while self.char() and self.char() in "0123456789":
            self.at += 1
        return int(self.text[start : self.at]) if self.at > start else None

    def symbol(self, c):
        if c == '"':
            return self.string()
        if c == "[":
            return self.characters()
        if c == ".":
            self.at += 1
            return CLASS, ranges_of([(0, LAST)])
        if c in "<!":
            return self.token()
        self.fail(f"{c!r} is not expected here")

    def character(self):
        c = self.char()
        self.at += 1
        if c != "\\":
            return c
        letter = self.char()
        if letter in ("t", "r", "n"):
            self.at += 1
            return {"t": "\t", "r": "\r", "n": "\n"}[letter]
        if letter and letter in '\\"[]-':
            self.at += 1
            return letter
        digits = {"x": 2, "u": 4, "U": 8}.get(letter, 0)
        code = self.text[self.at + 1 : self.at + 1 + digits]
        if not digits or len(code) < digits or any(digit not in "0123456789abcdefABCDEF" for digit in code):
            self.fail("this is no escape", self.at - 1)
        value = int(code, 16)
        if value > LAST or 0xD800 <= value <= 0xDFFF:
            self.fail("there is no such character", self.at - 1)
        self.at += 1 + digits
        return chr(value)

    def string(self):
        start = self.at
        self.at += 1
        parts = []
        while self.char() != '"':
            if not self.char():
                self.fail("the string is not closed", start)
            parts.append(self.character())
        self.at += 1
        return LITERAL, "".join(parts)

    def characters(self):
        start = self.at
        self.at += 1
        negated = self.char() == "^"
        self.at += negated
        ranges = []
        while self.char() != "]":
            if not self.char():
                self.fail("`[` is not closed", start)
            low = high = self.character()
            if self.char() == "-" and not self.text.startswith("-]", self.at):
                self.at += 1
                if not self.char():
                    self.fail("`[` is not closed", start)
                high = self.character()
            if low > high:
                self.fail(f"{low!r} stands behind {high!r} in Unicode", start)
            ranges.append((ord(low), ord(high)))
        self.at += 1
        if not ranges:
            return SEQUENCE, []
        ranges = ranges_of(ranges)
        return CLASS, negate(ranges) if negated else ranges

    def token(self):
        start = self.at
        negated = self.char() == "!"
        self.at += negated
        end = self.text.find(">", self.at, self.line_end())
        inner = self.text[self.at + 1 : end]
        if self.char() != "<" or end < 0 or not inner:
            self.fail("a token is `<name>` or `<[id]>`", start)
        if inner.startswith("[") and inner.endswith("]"):
            digits = inner[1:-1].removeprefix("+")
            if not (digits.isascii() and digits.isdigit() and int(digits) < 1 << 32):
                self.fail("the id of a token is a number", start)
        self.at = end + 1
        return TOKEN, f"<{inner}>", negated


def ranges_of(ranges):
    """Sorted, without surrogates, neighbours joined."""
    cut = []
    for low, high in ranges:
        for low, high in ((low, min(high, 0xD7FF)), (max(low, 0xE000), high)):
            if low <= high:
                cut.append((low, high))
    merged = []
    for low, high in sorted(cut):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def negate(ranges):
    gaps, after = [], 0
    for low, high in ranges:
        if after < low:
            gaps.append((after, low - 1))
        after = high + 1
    return ranges_of(gaps + ([(after, LAST)] if after <= LAST else []))


def lark_name(name):
    out, after_small = [], False
    for c in name:
        if c.isupper() and after_small:
            out.append("_")
        after_small = c.islower() or c.isdigit()
        out.append("_" if c == "-" else c.lower())
    out = "".join(out)
    first = out.removeprefix("_")
    return out if first[:1].islower() else "r_" + first.lstrip("_")


def lark_names(order, start):
    wanted = {name: "start" if name == start else lark_name(name) for name in order}
    names, taken = {}, set()
    # Whoever keeps the name comes first.
    for name in sorted(order, key=lambda name: (name != start, wanted[name] != name)):
        free, number = wanted[name], 2
        while free in taken:
            free, number = f"{wanted[name]}_{number}", number + 1
        taken.add(free)
        names[name] = free
    return names


def escaped(c):
    code = ord(c)
    if c in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[c]
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02X}"
    hidden = ((0x80, 0xA0), (0xAD, 0xAD), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x3000, 0x3000))
    hidden += ((0xE000, 0xF8FF), (0xFEFF, 0xFEFF), (0xFFF0, 0xFFFF))
    if any(low <= code <= high for low, high in hidden):
        return f"\\u{code:04X}"
    return f"\\U{code:08X}" if code >= 0x10000 else c


def lark_string(text):
    return '"' + "".join("\\" + c if c in '"\\' else escaped(c) for c in text) + '"'


def lark_regex(ranges):
    complement = negate(ranges)
    if not complement:
        return "/(.|\\n)/"
    negated = not ranges or ranges[-1][1] == LAST
    out = "/[^" if negated else "/["
    for low, high in complement if negated else ranges:
        ends = ["\\" + chr(code) if chr(code) in "\\][^-/&~|" else escaped(chr(code)) for code in (low, high)]
        out += ends[0]
        if high > low:
            out += ("-" if high > low + 1 else "") + ends[1]
    return out + "]/"


def lark_token(text, negated):
    inner = text[1:-1]
    is_id = inner.startswith("[") and inner.endswith("]")
    is_plain = not is_id and all(c.isascii() and (c.isalnum() or c in "_|-./") for c in inner)
    item = inner[1:-1] if is_id else text if is_plain else lark_string(text)
    if negated:
        return f"<[^{item}]>"
    return item if is_plain else f"<[{item}]>"


ALTERNATIVE, PART, REPEATED = range(3)


class Writer:
    def __init__(self, names):
        self.names = names
        self.out = []
        self.empty = {}  # by id of the node

    def is_empty(self, node):
        """Whether a node is the empty text only. Does not recurse."""
        stack = [node]
        while stack:
            top = stack[-1]
            children = top[1] if top[0] in (SEQUENCE, CHOICE) else [top[1]] if top[0] == REPEAT else []
            waiting = [child for child in children if id(child) not in self.empty]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if top[0] in (SEQUENCE, CHOICE):
                self.empty[id(top)] = all(self.empty[id(child)] for child in children)
            elif top[0] == REPEAT:
                self.empty[id(top)] = top[3] == 0 or self.empty[id(top[1])]
            else:
                self.empty[id(top)] = top[0] == LITERAL and not top[1]
        return self.empty[id(node)]

    def word(self, text):
        self.out.append(text if self.out and self.out[-1].endswith("(") else " " + text)

    def rule(self, name, body):
        self.out.append(f"{name}:")
        for index, alternative in enumerate(body[1] if body[0] == CHOICE else [body]):
            if index:
                self.out.append("\n" + " " * len(name) + "|")
            self.node(alternative)
        self.out.append("\n")

    def node(self, node):
        # Tasks: a node with its place, or text that is appended as it is.
        stack = [(node, ALTERNATIVE)]
        while stack:
            task = stack.pop()
            if isinstance(task, str):
                self.word("|") if task == "|" else self.out.append(task)
                continue
            node, place = task
            if self.is_empty(node):
                continue
            kind = node[0]
            if kind == SEQUENCE:
                live = [part for part in node[1] if not self.is_empty(part)]
                if len(live) == 1:
                    stack.append((live[0], place))
                    continue
                self.open_if(place == REPEATED, stack)
                stack += [(part, PART) for part in reversed(live)]
            elif kind == CHOICE:
                self.open_if(True, stack)
                for index, part in reversed(list(enumerate(node[1]))):
                    stack.append((part, ALTERNATIVE))
                    if index:
                        stack.append("|")
            elif kind == REPEAT:
                self.open_if(place == REPEATED, stack)
                low, high = node[2:]
                sign = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
                if not sign:
                    sign = f"{{{low},}}" if high is None else f"~{low}" if low == high else f"~{low}..{high}"
                stack += [sign, (node[1], REPEATED)]
            elif kind == LITERAL:
                self.word(lark_string(node[1]))
            elif kind == CLASS:
                self.word(lark_regex(node[1]))
            elif kind == NAME:
                self.word(self.names[node[1]])
            else:
                self.word(lark_token(node[1], node[2]))

    def open_if(self, needed, stack):
        if needed:
            self.word("(")
            stack.append(")")


def gbnf_to_lark(text, start="root"):
    """A Lark text of the same language, and notes on names. Raises `GbnfError`."""
    parser = Parser(text)
    order = list(dict.fromkeys(name for name, _, _ in parser.definitions))
    for name, at in parser.references:
        if name not in order:
            parser.fail(f"the rule `{name}` is not defined", at)
    if start not in order:
        parser.fail(f"there is no rule `{start}` to start with", 0)
    names = lark_names(order, start)
    notes = [f"`{name}` is `{names[name]}`" for name in order if names[name] != name]
    last = {name: index for index, (name, _, _) in enumerate(parser.definitions)}
    comments = list(parser.comments)
    writer = Writer(names)
    writer.out.append(HEADER)

    def comment():
        begin, end = comments.pop(0)
        writer.out.append(f"//{text[begin:end].lstrip('#').rstrip()}\n")

    for index, (name, body, end) in enumerate(parser.definitions):
        writer.out.append("\n")
        line_end = parser.line_end(end)
        while comments and comments[0][0] < line_end:
            comment()
        if last[name] == index:
            writer.rule(names[name], body)
        else:
            notes.append(f"an earlier `{name}` is left out: the last one counts")
    if comments:
        writer.out.append("\n")
    while comments:
        comment()
    return "".join(writer.out), notes


def main():
    options = argparse.ArgumentParser(description="Write a GBNF grammar as Lark, in the same language.")
    options.add_argument("file", nargs="?", default="-", help="GBNF file; standard input by default")
    options.add_argument("--start", default="root", help="the rule to start with [root]")
    options = options.parse_args()
    # Line breaks stay as they are.
    try:
        if options.file == "-":
            text = sys.stdin.buffer.read().decode()
        else:
            with open(options.file, "rb") as file:
                text = file.read().decode()
        lark, notes = gbnf_to_lark(text, options.start)
    except (OSError, ValueError) as error:
        print(f"{options.file}:{error}", file=sys.stderr)
        return 1
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    sys.stdout.buffer.write(lark.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
