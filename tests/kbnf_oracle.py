"""What KBNF's own engine (PyPI `kbnf`) allows along random texts of random grammars: `kbnf_oracle.py SEED COUNT` prints JSON.

[{"grammar": "...", "walks": [[[[97, 98], false, 97], ...], ...]}, ...]: each step of a walk has the bytes that are allowed,
whether the text is finished, and the byte that is taken next, or null.

Tokens are single bytes, since KBNF lets longer ones run past the end. Left out is what KBNF 0.4.2 gets wrong: regexes that
match the empty text where something is optional (they vanish), two texts of `#substrs` (one is lost), recursion to the
start (ends are missed), nonterminals without finite texts (it leads into them and is stuck), the byte FF (never allowed),
and grammars at which it panics or does not end.
"""

import json
import os
import random
import signal
import sys

import kbnf

BYTES = list(b"abc\n") + [0xC3, 0xA9, 0xFA]
LEAVES = [
    "'a'", '"ab"', "'b'", "'c'", "'ca'", "''", "'\\u0061\\x62'",
    "#'[ab]+'", "#'b|ab'", "#'a+b'", "#'(ab)*c'", "#'.'", "#\"[^a]\"",
    "#e'[ab]*b'", "#e'a+'", "#e'(ab)+c'", "#e'[ab]*'",
    "#ex'ab'", "#ex'b+a'", "#ex'c'", "#ex'é|a'",
    "('c' #substrs'abé' 'c')",
]


def side(rng, names, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(names) if rng.random() < 0.2 else rng.choice(LEAVES)
    if kind < 0.6:
        return rng.choice([" ", " , "]).join(side(rng, names, depth - 1) for _ in range(rng.randint(1, 3)))
    if kind < 0.75:
        return "(" + " | ".join(side(rng, names, depth - 1) for _ in range(rng.randint(2, 3))) + ")"
    inner = side(rng, names, depth - 1)
    return rng.choice([f"({inner})*", f"({inner})+", f"({inner})?", f"[{inner}]", f"{{{inner}}}"])


def grammar(rng):
    start, x, y = (side(rng, ["x", "y"], 2) for _ in range(3))
    return f"start ::= {start}; x ::= {x};\ny = {y} | 'b'; x ::= 'ca';"


def walks(rng, text, vocabulary):
    try:
        engine = kbnf.Engine(text, vocabulary)
    except ValueError:
        return None
    found = []
    for _ in range(4):
        engine.reset()
        walk = []
        while not walk or walk[-1][2] is not None:
            engine.compute_allowed_token_ids()
            allowed = sorted(BYTES[token] for token in engine.get_allowed_token_ids_from_last_computation())
            taken = rng.choice(allowed) if allowed and len(walk) < 7 else None
            walk.append([allowed, engine.is_finished(), taken])
            if taken is not None:
                engine.try_accept_new_token(BYTES.index(taken))
        found.append(walk)
    return found


def in_child(work):
    """What `work` returns, or None if it panics or takes a second."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os.write(write, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text and status == 0 else None


def main():
    rng = random.Random(int(sys.argv[1]))
    # It warns of bytes that no token has.
    stderr = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    tokens = {token: kbnf.Token(bytes([byte])) for token, byte in enumerate(BYTES)}
    vocabulary = kbnf.Vocabulary(tokens, {token: str(byte) for token, byte in enumerate(BYTES)})
    os.dup2(stderr, 2)
    cases = []
    while len(cases) < int(sys.argv[2]):
        text = grammar(rng)
        found = in_child(lambda: walks(random.Random(text), text, vocabulary))
        if found:
            cases.append({"grammar": text, "walks": found})
    print(json.dumps(cases))


main()
