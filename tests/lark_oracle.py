"""Verdicts of Lark (PyPI) on random grammars: `lark_oracle.py SEED COUNT` prints JSON.

[{"grammar": "...", "texts": [["ab", true], ...]}, ...], where true is accepted by Lark's Earley parser with
`lexer="dynamic_complete"`: every way to split the text into terminals counts, as in our mode `exact`.

Terminals are kept to those whose longest match Python's `re` finds, and which do not match the empty text.
"""

import itertools
import json
import random
import signal
import sys

import lark

LETTERS = "abc"
BEHIND = ["(?<=a)", "(?<!b)", "(?<![ab])", "(?<=[-b])", "(?<!ab)", "\\b", "\\B", "^", "(?<!^)(?<!-a)"]


def terminal(rng):
    literal = "".join(rng.choices(LETTERS, k=rng.randint(1, 3)))
    chars = "".join(rng.sample(LETTERS, rng.randint(1, 2)))
    return rng.choice([
        f'"{literal}"',
        f"/[{chars}]+/",
        f"/[{chars}]{{1,2}}/",
        f"/{literal[0]}[{chars}]*/",
        f'"{literal[0]}".."{chr(ord(literal[0]) + 1)}"',
        f'"{literal}"i',
        # What stands before the terminal counts. One character: Lark tries shorter matches with nothing before or behind them.
        f"/{rng.choice(BEHIND)}[{chars}]/",
    ])


def expansion(rng, names, depth):
    def atom():
        kind = rng.random()
        if depth < 2 and kind < 0.25:
            alternatives = (expansion(rng, names, depth + 1) for _ in range(rng.randint(1, 3)))
            return "(" + " | ".join(alternatives) + ")"
        return rng.choice(names) if kind < 0.8 else terminal(rng)

    suffixes = ["", "", "", "", "?", "*", "+", "~2", "~1..2"]
    parts = [atom() + rng.choice(suffixes) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    return " ".join(parts)


def grammar(rng):
    rules = ["start"] + [f"r{n}" for n in range(rng.randint(0, 2))]
    terminals = [f"T{n}" for n in range(rng.randint(1, 3))]
    lines = []
    for rule in rules:
        alternatives = {expansion(rng, rules + terminals * 2, 0) for _ in range(rng.randint(1, 3))}
        if rng.random() < 0.15:
            alternatives.add("")
        lines.append(f"{rule}: " + " | ".join(sorted(alternatives, reverse=True)))
    lines += [f"{name}: {terminal(rng)}" for name in terminals]
    if rng.random() < 0.4:
        # A template, used with symbols, literals and itself.
        body = rng.choice(["x (y x)*", "x | y t{y, x}", "x t{x, y} | y", "y x y", "x?"])
        lines.append("t{x, y}: " + body)
        arguments = [rng.choice([*terminals, *rules[1:], '"a"', "t{T0, T0}"]) for _ in range(2)]
        lines[0] += " | t{" + ", ".join(arguments) + "}" + rng.choice(["", " T0", "+"])
        if rng.random() < 0.5:
            lines.append(f"%extend {rng.choice(rules)}: " + expansion(rng, terminals, 0))
        if rng.random() < 0.5:
            lines.append("%override t{x, y}: y | x x")
    if rng.random() < 0.4:
        lines.append("%ignore " + rng.choice(['"-"', "/-+/", "/-[a-]*/"]))
    return "\n".join(lines) + "\n"


class TooLong(Exception):
    pass


def give_up(_signal, _frame):
    raise TooLong


def verdict(parser, text):
    """Whether Lark accepts the text; None where it takes too long to say."""
    try:
        # Again and again, since a signal within what Python calls by itself (a finalizer) is lost.
        signal.setitimer(signal.ITIMER_REAL, 0.5, 0.1)
        try:
            parser.parse(text)
            accepted = True
        except lark.exceptions.LarkError:
            accepted = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        return accepted
    except TooLong:
        # The next one may come before it is turned off.
        while True:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                return None
            except TooLong:
                pass


def main():
    signal.signal(signal.SIGALRM, give_up)
    rng = random.Random(int(sys.argv[1]))
    texts = ["".join(t) for n in range(4) for t in itertools.product(LETTERS, repeat=n)]
    results = []
    while len(results) < int(sys.argv[2]):
        text = grammar(rng)
        try:
            parser = lark.Lark(text, parser="earley", lexer="dynamic_complete", ambiguity="forest")
        except lark.exceptions.LarkError:
            continue
        chosen = rng.sample(texts, 25)
        chosen += ["".join(rng.choices("aabbcc--A", k=rng.randint(1, 6))) for _ in range(15)]
        verdicts = ([t, verdict(parser, t)] for t in chosen)
        # Where one text takes too long, most of the others do, too.
        verdicts = list(itertools.takewhile(lambda v: v[1] is not None, verdicts))
        results.append({"grammar": text, "texts": verdicts})
    json.dump(results, sys.stdout, indent=1)


main()
