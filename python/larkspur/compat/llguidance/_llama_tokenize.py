"""llama.cpp's tokenizer, by the address of its function."""

import ctypes
from collections.abc import Callable

from ._util import TokenId

# int32_t llama_tokenize(vocab, text, text_len, tokens, n_tokens_max, add_special, parse_special): the number of tokens,
# or its negative if there is no room for them.
_LLAMA_TOKENIZE = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int32),
    ctypes.c_int32,
    ctypes.c_bool,
    ctypes.c_bool,
)


def tokenizer_at(vocab: int, function: int) -> Callable[[str], list[TokenId]]:
    """The tokenizer of a `llama_vocab` at an address, with nothing added and no special tokens in the text."""
    tokenize = _LLAMA_TOKENIZE(function)

    def call(text: str) -> list[TokenId]:
        data = text.encode()
        room = len(data) + 1
        while True:
            tokens = (ctypes.c_int32 * room)()
            count = tokenize(vocab, data, len(data), tokens, room, False, False)
            if count >= 0:
                return list(tokens[:count])
            assert -count > room, "llama_tokenize asks for the room that it had"
            room = -count

    return call
