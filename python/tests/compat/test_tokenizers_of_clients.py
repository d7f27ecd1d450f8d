"""Tokenizers of tiktoken and of llama.cpp, the latter with a library of ours in its place."""

import ctypes
import sys
import types

import pytest

from llguidance import LLMatcher, LLTokenizer

PATTERN = r"\w+|[^\w\s]+|\s+"
RANKS = {bytes([byte]): byte for byte in range(256)} | {b"he": 256, b"ll": 257, b"hell": 258, b"hello": 259, b" w": 260}
SPECIALS = {"<|endoftext|>": 261, "<|tool|>": 262}


@pytest.fixture
def encoding():
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding("small", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens=SPECIALS)


def test_tiktoken(encoding):
    from llguidance.tiktoken import lltokenizer_from_encoding

    tokenizer = lltokenizer_from_encoding(encoding)
    assert (tokenizer.vocab_size, tokenizer.eos_token, tokenizer.is_canonical) == (263, 261, True)
    for text in ("hello world", "hell, é", "<|tool|>"):
        assert tokenizer.tokenize_str(text) == encoding.encode_ordinary(text)
    special = tokenizer.tokenize_str("hello<|tool|>he", parse_special=True)
    assert special == encoding.encode("hello<|tool|>he", allowed_special="all") == [259, 262, 256]
    assert tokenizer.tokenize_partial(b"hello hel") == ([259, 32], b"hel")
    matcher = LLMatcher(tokenizer, 'start: "hello" <|tool|> /x/')
    assert matcher.compute_ff_tokens() == [259, 262, ord("x")]
    padded = lltokenizer_from_encoding(encoding, n_vocab=300, eos_token=[262, 261], slices=[])
    assert (padded.vocab_size, padded.eos_tokens) == (300, [262, 261])


def test_tiktoken_by_its_parts(encoding):
    tokenizer = LLTokenizer.from_tiktoken(
        encoder=RANKS, special_tokens=SPECIALS, pattern=PATTERN, eos_token=261, n_vocab=None, slices=None
    )
    assert tokenizer.tokenize_str("hello") == [259]
    with pytest.raises(ValueError, match="out of range"):
        LLTokenizer.from_tiktoken(RANKS, SPECIALS, PATTERN, 999)


CONTROL, USER = 8, 16
LLAMA = [(bytes([byte]), 0) for byte in range(256)] + [(b"hello", 0), (b"</s>", CONTROL), (b"<call>", USER), (b"user", USER)]


@pytest.fixture
def llama_cpp(monkeypatch):
    """A llama.cpp of four functions. Its tokenizer takes `hello` whole, and asks for more room at first."""
    asked = []

    @ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32,
        ctypes.c_bool, ctypes.c_bool,
    )  # fmt: skip
    def llama_tokenize(vocab, text, text_len, tokens, room, add_special, parse_special):
        assert vocab == 0x1234 and not add_special and not parse_special
        data = ctypes.string_at(text, text_len)
        asked.append((data, room))
        found = []
        while data:
            found.append(256 if data.startswith(b"hello") else data[0])
            data = data[5 if found[-1] == 256 else 1 :]
        if len(asked) == 1 or len(found) > room:
            return -max(len(found), room + 1)
        for index, token in enumerate(found):
            tokens[index] = token
        return len(found)

    def llama_token_to_piece(vocab, token, buffer, size, lstrip, special):
        buffer.raw = LLAMA[token][0].ljust(size, b"\0")
        return len(LLAMA[token][0])

    module = types.ModuleType("llama_cpp")
    module.llama_vocab_p = ctypes.c_void_p
    module.LLAMA_TOKEN_ATTR_CONTROL, module.LLAMA_TOKEN_ATTR_USER_DEFINED = CONTROL, USER
    module.llama_vocab_n_tokens = lambda vocab: len(LLAMA)
    module.llama_vocab_eos = lambda vocab: 257
    module.llama_token_get_attr = lambda vocab, token: LLAMA[token][1]
    module.llama_token_to_piece = llama_token_to_piece
    module.llama_cpp = types.SimpleNamespace(_lib=types.SimpleNamespace(llama_tokenize=llama_tokenize))
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    for name in ("llguidance.llamacpp", "larkspur.compat.llguidance.llamacpp"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return asked


@pytest.mark.parametrize("vocab", [0x1234, ctypes.c_void_p(0x1234)], ids=["int", "pointer"])
def test_llama_cpp(llama_cpp, vocab):
    from llguidance.llamacpp import lltokenizer_from_vocab

    tokenizer = lltokenizer_from_vocab(vocab, n_vocab=300)
    assert (tokenizer.vocab_size, tokenizer.eos_tokens) == (300, [257])
    assert [token for token in range(300) if tokenizer.is_special_token(token)] == [257, 258]
    assert tokenizer.tokenize_str("hello user") == [256, *b" user"]
    assert llama_cpp[0][0] == llama_cpp[1][0] and llama_cpp[0][1] < llama_cpp[1][1]
    assert tokenizer.tokenize_str("a<call>", parse_special=True) == [97, 258]
    assert tokenizer.decode_str([256, 258, 259]) == "hello<call>user"
    matcher = LLMatcher(tokenizer, 'start: "hello" <call> "user"')
    assert matcher.consume_tokens([256, 258, 259]) and matcher.is_stopped()
