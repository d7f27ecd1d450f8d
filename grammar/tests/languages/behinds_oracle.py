"""Writes behinds.tsv: where Python's `re` may find random regexes with look-behinds, by what stands around.

Run from this folder with no arguments. A line is a pattern and its flags as a JSON list and, for each of TEXTS and each of
its splits in three, 1 if the pattern may match exactly the second part between the others, else 0.
"""
import itertools
import json
import random
import re

TEXTS = ["".join(text) for length in range(4) for text in itertools.product("ab-\n", repeat=length)]

ATOMS = ["a", "b", "-", ".", "[ab]", "ab", "\\n", "a-", "(?:a|b)"]
SUFFIXES = ["", "", "", "", "*", "+", "?", "{1,2}"]
BEHIND = ["a", "b", "ab", "[ab]", "aa", "[^a]", "a-", "\\n", "a|b", "(?<!a)b"]
AHEAD = ["a", "b", "[^a]", "-", ".", "a|$"]
EDGES = ["^", "^", "\\A", "\\b", "\\b", "\\B"]


def assertion():
    kind = random.random()
    if kind < 0.5:
        return random.choice(["(?<=%s)", "(?<!%s)"]) % random.choice(BEHIND)
    return random.choice(EDGES)


def end():
    return random.choice(["", "", "", "$", "\\Z", "\\b", "(?=%s)" % random.choice(AHEAD), "(?!%s)" % random.choice(AHEAD)])


def alternative():
    start = "".join(assertion() for _ in range(random.choice([0, 1, 1, 1, 2])))
    body = "".join(random.choice(ATOMS) + random.choice(SUFFIXES) for _ in range(random.randrange(1, 3)))
    middle = assertion() if random.random() < 0.1 else ""
    return start + body + middle + (random.choice(ATOMS) if middle else "") + end()


def pattern():
    alternatives = [alternative() for _ in range(random.choice([1, 1, 1, 2]))]
    if random.random() < 0.2:
        return random.choice(["-?", "a?"]) + "(?:" + "|".join(alternatives) + ")"
    if random.random() < 0.3:
        return "(?:" + "|".join(alternatives) + ")" + random.choice(["+", "*", "{2}", "+a", "*-"])
    return "|".join(alternatives)


def main():
    random.seed(5)
    lines = set()
    while len(lines) < 400:
        regex = pattern()
        flags = random.choice(["", "m"])
        if not re.search(r"\^|\\[AbBZ]|\$|\(\?<?[=!]", regex):
            continue
        verdicts = ""
        for text in TEXTS:
            for start in range(len(text) + 1):
                for cut in range(start, len(text) + 1):
                    after = re.escape(text[cut:])
                    here = re.compile(f"(?:{regex})(?={after}\\Z)", re.M if flags else 0)
                    verdicts += "01"[here.match(text, start) is not None]
        lines.add(json.dumps([regex, flags]) + "\t" + verdicts)
    with open("behinds.tsv", "w", encoding="utf-8") as out:
        out.write(json.dumps(TEXTS) + "\n" + "\n".join(sorted(lines)) + "\n")


main()
