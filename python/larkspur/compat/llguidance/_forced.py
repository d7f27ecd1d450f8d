"""What must follow as bytes, tokens among it."""

from larkspur import Matcher


def forced_bytes(matcher: Matcher) -> bytes:
    """The bytes that must follow, and tokens that the grammar names by themselves, where only one can follow, as `\\xff[ID]`."""
    forced = b""
    ahead = matcher
    while not ahead.is_stopped():
        text = ahead.forced_bytes()
        # Where no text must follow, the first one is named.
        named = [] if text else ahead.forced_tokens()[:1]
        if not text and not named:
            break
        forced += text + b"".join(b"\xff[%d]" % token for token in named)
        ahead = ahead.fork()
        if text:
            ahead.consume_bytes(text)
        ahead.consume_tokens(named)
    return forced
