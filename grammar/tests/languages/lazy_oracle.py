"""Writes lazy.tsv: where Python's `re` ends random regexes with lazy quantifiers.

Run from this folder with no arguments. A line is the pattern as a JSON string and, per text of TEXTS, 1 if the match that
begins at the text's start is the whole text, else 0. Left out are patterns for which already the greedy quantifiers make
a difference between the first match and some match.
"""
import itertools
import json
import random
import re

TEXTS = ["".join(text) for length in range(7) for text in itertools.product("ab", repeat=length)]

ATOMS = ["a", "b", ".", "[ab]", "ab", "ba", "aa", "(?:a|b)", "(?:ab)"]
GREEDY = ["", "", "", "*", "+", "?", "{2}", "{1,2}"]
LAZY = ["*?", "*?", "+?", "??", "{1,3}?", "{2,}?"]
ASSERTIONS = ["(?<!a)", "(?<=b)", "(?!b)", "(?=a)", "\\b", "$"]


def piece(depth=0):
    kind = random.random()
    if kind < 0.35:
        return random.choice(ATOMS) + random.choice(LAZY)
    if kind < 0.42:
        return random.choice(ASSERTIONS)
    if kind < 0.55 and depth < 2:
        ways = "|".join(sequence(depth + 1) for _ in range(random.randrange(1, 3)))
        return f"(?:{ways})" + random.choice(["", "", "", "?", "+"])
    return random.choice(ATOMS) + random.choice(GREEDY)


def sequence(depth=0):
    return "".join(piece(depth) for _ in range(random.randrange(1, 5)))


def main():
    random.seed(5)
    lines = []
    while len(lines) < 900:
        pattern = sequence()
        greedy = re.compile(re.sub(r"([*+?}])\?", r"\1", pattern))
        if greedy.pattern == pattern:
            continue

        def whole(compiled, text):
            found = compiled.match(text)
            return found is not None and found.end() == len(text)

        if any(whole(greedy, text) != bool(greedy.fullmatch(text)) for text in TEXTS):
            continue
        compiled = re.compile(pattern)
        lines.append(json.dumps(pattern) + "\t" + "".join("01"[whole(compiled, text)] for text in TEXTS))
    with open("lazy.tsv", "w", encoding="utf-8") as out:
        out.write(json.dumps(TEXTS) + "\n" + "\n".join(sorted(set(lines))) + "\n")


main()
