"""Verdicts of Lark (PyPI) on real files with the grammars that it brings: `lark_files.py SEED COUNT` prints JSON.

{"python.lark": "the grammar's text", "lark.lark": "...", "texts": [["python.lark", "a text", true], ...]}

Texts for `python.lark` are COUNT files of Python's standard library (all if COUNT is 0, long ones too), those for
`lark.lark` Lark's own grammars and pieces of them; of all of them there are variants with a character or a line that is
missing, doubled or another one. true is accepted by Lark's LALR parser with the contextual lexer, and its indenter.
"""

import json
import os
import random
import sys
import sysconfig

import lark
from lark.indenter import PythonIndenter

# No `else`: where no statement goes on with it, it is a name in the text's first line and a keyword that is wrong in all
# others, since Lark's LALR parser has one state for all ends of lines. We know where we are.
FRAGMENTS = {
    "python.lark": ["", " ", "    ", "\n", "\t", "(", ")", "[", "]", ":", ",", '"', "'", "#", "\\", "if ", "0", "x", "=", "."],
    "lark.lark": ["", " ", "\n", "(", ")", '"', "/", "\\", "|", ":", "~", "?", "->", "a", "A", "%", ".", "[", "]", "#", "1", "{", "}", "?a"],
}
SHORT = 6_000


def variant(rng, grammar, text):
    if rng.random() < 0.4:
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        change = rng.choice(["drop", "double", "deeper", "shallower", "indent", "swap"])
        if change == "drop":
            del lines[at]
        elif change == "double":
            lines.insert(at, lines[at])
        elif change == "deeper":
            lines[at] = " " * rng.randint(1, 4) + lines[at]
        elif change == "shallower":
            lines[at] = lines[at][rng.randint(1, 4):]
        elif change == "indent":
            lines[at] = lines[at].replace("        ", "\t", 1)
        else:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        return "\n".join(lines)
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(FRAGMENTS[grammar]) + text[at + rng.randint(0, 2):]


def read(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        return None


def library(rng, count):
    paths = []
    for folder, folders, files in os.walk(sysconfig.get_paths()["stdlib"]):
        folders[:] = sorted(name for name in folders if name not in ("site-packages", "__pycache__"))
        paths += [os.path.join(folder, name) for name in sorted(files) if name.endswith(".py")]
    if count:
        paths = [path for path in paths if os.path.getsize(path) <= SHORT]
        paths = rng.sample(paths, min(count, len(paths)))
    texts = [read(path) for path in paths]
    return [text for text in texts if text]


def pieces(rng, text):
    lines = text.split("\n")
    for _ in range(6):
        at = rng.randrange(len(lines))
        yield "\n".join(lines[at:at + rng.randint(1, 12)]) + "\n"


def verdict(parser, text):
    """Whether Lark accepts the text; None where it fails in another way than with an error of its own."""
    try:
        parser.parse(text)
        return True
    except lark.exceptions.LarkError:
        return False
    except (AssertionError, IndexError):
        # A bracket that closes nothing; a comment at the text's end without a line break.
        return None


def main():
    rng = random.Random(int(sys.argv[1]))
    count = int(sys.argv[2])
    folder = os.path.join(os.path.dirname(lark.__file__), "grammars")
    out = {name: read(os.path.join(folder, name)) for name in ("python.lark", "lark.lark")}
    package = ("lark", ["grammars"])
    python = lark.Lark.open_from_package(
        package[0], "python.lark", package[1], parser="lalr", postlex=PythonIndenter(), start="file_input"
    )
    own = lark.Lark.open_from_package(package[0], "lark.lark", package[1], parser="lalr")
    texts = []
    for text in library(rng, count):
        texts.append(("python.lark", python, text))
        if len(text) <= SHORT:
            texts += [("python.lark", python, variant(rng, "python.lark", text)) for _ in range(2)]
    for name in sorted(os.listdir(folder)):
        if name.endswith(".lark"):
            text = read(os.path.join(folder, name))
            parts = [text if text.endswith("\n") else text + "\n", *pieces(rng, text)]
            texts += [("lark.lark", own, part) for part in parts]
            texts += [("lark.lark", own, variant(rng, "lark.lark", part)) for part in parts]
    judged = [[grammar, text, verdict(parser, text)] for grammar, parser, text in texts]
    out["texts"] = [text for text in judged if text[2] is not None]
    json.dump(out, sys.stdout)


main()
