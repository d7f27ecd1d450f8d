"""Writes python.tsv and ecma.tsv: what Python's `re` and JavaScript make of random regexes.

Run from this folder with no arguments; needs Python 3.11 or newer and node. A line is the pattern as a JSON string and,
per text of TEXTS, 1 or 0; or `error`. Python: whole match. JavaScript: search, flag `u`.
"""
import json
import random
import re
import subprocess
import warnings

warnings.simplefilter("ignore")

TEXTS = [
    "", "a", "b", "A", "K", "k", "\u212a", "s", "\u017f", "i", "\u0130", "\u0131", "é", "É", "1", "\u0661", "_", " ", "\u001c",
    "\u0085", "\ufeff", "\n", "\r", "\u2028", "-", "ι", "\u0345", "\u00b2", "\u24b6", "]", "{", "&", "😀", "\u0001", "\\", "/",
    "aa", "ab", "aab", "ba", "bb", "a\n", "\na", "a1", "1a", "a-b", "aaa", "{1", "a{", "a{,2}", "^", "$",
]

COMMON = [
    "a", "b", "K", "s", "i", "é", "1", "ι", "_", "-", ".", "[a-c]", "[^a]", "[^\\w]", "[\\W]", "[\\d\\s]", "[^\\S]", "\\d", "\\D",
    "\\w", "\\W", "\\s", "\\S", "(", "(", "(?:", ")", ")", "|", "*", "+", "?", "{2}", "{1,2}", "{0}", "{1,}", "^", "$", "\\n",
    "\\x41", "\\u00e9", "[-a]", "[a-]", "\\.", "[\\b]", "[a\\]]", "\\\\", "\\^", "\\$",
]
PYTHON = COMMON + [
    "(?i)", "(?i:", "(?-i:", "(?s:", "(?m:", "(?a:", "(?x: ", " ", "# c\n", "(?#c)", "\\A", "\\Z", "{,2}", "{,}", "{", "{1", "}", "]",
    "[]a]", "[^]a]", "[a&&b]", "[[a]", "\\1", "\\01", "\\101", "[\\1]", "\\-", "\\_", "\\é", "(?P<n>", "\\h", "\\z", "\\U0001F600",
    "[\\w-a]", "[b-a]", "[+--]", "+?", "*+",
]
ECMA = COMMON + [
    "[]", "[^]", "\\/", "\\u{e9}", "\\ud83d\\ude00", "\\u{1F600}", "\\cA", "\\0", "(?<n>", "\\p{L}", "\\P{Lu}", "[\\P{L}]",
    "[^\\p{L}]", "\\p{Script=Greek}", "[a&&b]", "[a[b]", "\\p{Lu}", "[\\u{0}-\\u{10FFFF}]", "+?", "[^^]",
]


def soup(pieces):
    parts = [random.choice(pieces) for _ in range(random.randrange(1, 8))]
    opened = sum(p.startswith("(") and not p.endswith(")") for p in parts)
    return "".join(parts) + ")" * max(0, opened - parts.count(")"))


def python(pattern):
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError):
        return "error"
    return "".join("1" if compiled.fullmatch(text) else "0" for text in TEXTS)


JAVASCRIPT = """
const [texts, patterns] = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(patterns.map(([flags, pattern]) => {
  try { const r = new RegExp(pattern, flags); return texts.map(t => r.test(t) ? '1' : '0').join(''); }
  catch { return 'error'; }
})));
"""


def main():
    random.seed(7)
    with open("python.tsv", "w", encoding="ascii", newline="\n") as out:
        out.write(json.dumps(TEXTS) + "\n")
        for pattern in sorted({soup(PYTHON) for _ in range(3000)}):
            out.write(f"{json.dumps(pattern)}\t{python(pattern)}\n")
    patterns = sorted({(random.choice(["u", "u", "iu", "su", "mu"]), soup(ECMA)) for _ in range(3000)})
    asked = json.dumps([TEXTS, patterns])
    answer = subprocess.run(["node", "-e", JAVASCRIPT], input=asked, capture_output=True, text=True, check=True)
    with open("ecma.tsv", "w", encoding="ascii", newline="\n") as out:
        out.write(json.dumps(TEXTS) + "\n")
        for (flags, pattern), result in zip(patterns, json.loads(answer.stdout)):
            out.write(f"{json.dumps(pattern)}\t{result}\t{flags}\n")


main()
