"""Times of KBNF's own engine (PyPI `kbnf`) on the grammars of `larkspur-bench lexing`: `kbnf_times.py RANKS`.

RANKS is the file of o200k's ranks, in tiktoken's format. Prints for each grammar the mean time in us of accepting a token,
computing what is allowed then and masking logits, in the first pass and in a second one after `reset`; the least of five.
"""

import base64
import json
import sys
import time
from pathlib import Path

import kbnf
import numpy

REPEATS = 5


def grammars():
    """Name, grammar, token and count, as `src/lexing.rs` has them."""
    for case in json.loads((Path(__file__).parent / "grammars" / "kbnf.json").read_text(encoding="utf-8")):
        yield case["name"], case["grammar"], case["token"], case["count"]


def main():
    ranks = [line.split() for line in Path(sys.argv[1]).read_bytes().splitlines()]
    tokens = {int(rank): base64.b64decode(word) for word, rank in ranks}
    ids = {word: rank for rank, word in tokens.items()}
    words = {rank: word.decode("latin-1") for rank, word in tokens.items()}
    vocabulary = kbnf.Vocabulary({rank: kbnf.Token(word) for rank, word in tokens.items()}, words)
    logits = numpy.zeros(max(tokens) + 1, dtype=numpy.float32)
    print(f"{'grammar':20} {'compile':>12} {'cold':>10} {'warm':>10}")
    for name, grammar, token, count in grammars():
        least = [float("inf")] * 3
        try:
            for _ in range(REPEATS):
                started = time.perf_counter()
                engine = kbnf.Engine(grammar, vocabulary)
                least[0] = min(least[0], (time.perf_counter() - started) * 1e6)
                for at in (1, 2):
                    started = time.perf_counter()
                    for _ in range(count):
                        engine.try_accept_new_token(ids[token.encode()])
                        engine.compute_allowed_token_ids()
                        engine.mask_logits(logits)
                    least[at] = min(least[at], (time.perf_counter() - started) * 1e6 / count)
                    engine.reset()
        except (ValueError, AttributeError) as error:
            print(f"{name:20} {str(error).splitlines()[0][:60]}")
            continue
        print(f"{name:20} {least[0]:12,.0f} {least[1]:10,.1f} {least[2]:10,.1f}", flush=True)


main()
