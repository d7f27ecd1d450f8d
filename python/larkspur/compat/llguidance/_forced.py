"""What must follow, special tokens among it."""

from larkspur import Matcher

from ._util import TokenId


def forced_tokens(matcher: Matcher) -> list[TokenId]:
    """The tokens in which the tokenizer spells what must follow, and special tokens where only one can follow.

    The engine forces text only; llguidance's clients fast-forward the special tokens of chat templates, too.
    Cost: a mask for each part.
    """
    forced: list[TokenId] = []
    ahead = matcher
    while not ahead.is_stopped():
        part = ahead.forced_tokens() or _only_special(ahead)
        if not part:
            break
        forced += part
        ahead = ahead.fork()
        if ahead.try_consume_tokens(part) < len(part):
            break
    return forced


def forced_bytes(matcher: Matcher) -> bytes:
    """The bytes that must follow, and special tokens where only one can follow, as `\\xff[ID]`. Cost: as above."""
    forced = b""
    ahead = matcher
    while not ahead.is_stopped():
        text, special = ahead.forced_bytes(), []
        ahead = ahead.fork()
        if text:
            ahead.consume_bytes(text)
        else:
            special = _only_special(ahead)
        if not text and not special:
            break
        forced += text + b"".join(b"\xff[%d]" % token for token in special)
        ahead.consume_tokens(special)
    return forced


def _only_special(matcher: Matcher) -> list[TokenId]:
    mask = int.from_bytes(matcher.compute_mask(), "little")
    token = mask.bit_length() - 1
    vocabulary = matcher.grammar.vocabulary
    is_only_one = mask == 1 << token
    return [token] if is_only_one and vocabulary.special_name(token) and token not in vocabulary.eos else []
