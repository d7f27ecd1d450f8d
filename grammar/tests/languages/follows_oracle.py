"""Writes follows.tsv: where Python's `re` may end random regexes with look-aheads, by what follows.

Run from this folder with no arguments. A line is the pattern as a JSON string and, for each of TEXTS and each of its
splits in two, 1 if the pattern may match exactly the first part before the second, else 0.
"""
import itertools
import json
import random
import re

TEXTS = ["".join(text) for length in range(5) for text in itertools.product("ab-", repeat=length)]

ATOMS = ["a", "b", "-", ".", "[ab]", "ab", "ba", "a-", "(?:a|b)"]
SUFFIXES = ["", "", "", "", "*", "+", "?", "{1,2}"]
LOOKED_FOR = ["a", "b", "ab", "[ab]", "aa", "a*b", "ba|-", "[^a]", "(?:ab)+", "a-", "", ".", "a(?!b)", ".*-"]


def piece(depth=0):
    kind = random.random()
    if kind < 0.3:
        return random.choice(["(?=%s)", "(?!%s)", "(?!%s)"]) % random.choice(LOOKED_FOR)
    if kind < 0.36:
        return random.choice(["\\b", "\\B"])
    if kind < 0.5 and depth < 2:
        ways = "|".join(sequence(depth + 1) for _ in range(random.randrange(1, 3)))
        return f"(?:{ways})" + random.choice(["", "", "?", "+", "*", "{2}"])
    return random.choice(ATOMS) + random.choice(SUFFIXES)


def sequence(depth=0):
    return "".join(piece(depth) for _ in range(random.randrange(1, 4)))


def main():
    random.seed(3)
    lines = set()
    while len(lines) < 600:
        pattern = sequence()
        if "(?" not in pattern.replace("(?:", "") and "\\" not in pattern:
            continue
        verdicts = ""
        for text in TEXTS:
            for cut in range(len(text) + 1):
                ends_here = re.compile(f"(?:{pattern})(?={re.escape(text[cut:])}\\Z)")
                verdicts += "01"[ends_here.match(text) is not None]
        lines.add(json.dumps(pattern) + "\t" + verdicts)
    with open("follows.tsv", "w", encoding="utf-8") as out:
        out.write(json.dumps(TEXTS) + "\n" + "\n".join(sorted(lines)) + "\n")


main()
