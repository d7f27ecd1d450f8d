"""Tokenizers of all kinds: the same vocabulary, whichever way it comes."""

from __future__ import annotations

import ctypes
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from common import tokenizer_file
from larkspur import Engine, Tokenizer, Vocabulary, VocabularyError
from larkspur.tokenizers import vocabulary_of

TEXT = 'Hello, "wörld" {\n\t1234567: 漢字🙂}'


def same(one: Vocabulary, other: Vocabulary) -> bool:
    return (
        len(one) == len(other)
        and one.eos == other.eos
        and one.specials() == other.specials()
        and all(one.token_bytes(token) == other.token_bytes(token) for token in range(len(one)))
    )


def test_bytes_of_a_list() -> None:
    vocabulary = vocabulary_of([b"a", b"bc", b"\xff<eos>", b""], eos="<eos>")
    assert [vocabulary.token_bytes(token) for token in range(5)] == [b"a", b"bc", None, None, None]
    assert vocabulary.specials() == [(2, "<eos>")] and vocabulary.eos == [2]
    assert vocabulary.decode([0, 1, 2]) == b"abc"
    assert vocabulary.tokenize(b"abc") is None and vocabulary.tokenize_greedy(b"abc") == [0, 1]
    assert vocabulary.tokenize_greedy(b"x") is None
    assert vocabulary.stable_tokens([0, 1], b"abc") == 2
    plain = vocabulary_of([b"a", b"</s>"], eos=1, size=40)
    assert len(plain) == 40 and plain.special_by_name("</s>") == 1


def test_an_ordinary_token_as_eos() -> None:
    vocabulary = Vocabulary.single_bytes().with_eos([10, 256], size=300)
    assert vocabulary.eos == [10, 256] and vocabulary.token_bytes(10) is None and len(vocabulary) == 300
    matcher = Engine(vocabulary).regex("a").matcher()
    matcher.consume_token(97)
    assert matcher.allowed_tokens() == [10, 256]


@pytest.mark.parametrize("wrong", [7, None, object(), {"a": 1}])
def test_no_tokenizer(wrong: Any) -> None:
    with pytest.raises(TypeError, match="not a tokenizer"):
        vocabulary_of(wrong)
    report = Tokenizer.supports(wrong)
    assert not report and report.problem and "cannot be used" in str(report)


def test_what_vocabularies_refuse(tmp_path: Path) -> None:
    cases: list[Any] = [
        lambda: Vocabulary.from_tokens([(0, b"a"), (0, b"b")], [], []),
        lambda: Vocabulary.from_tokens([(2**31, b"a")], [], []),
        lambda: Vocabulary.from_tokens([(0, b"a")], [], [0]),
        lambda: Vocabulary.from_tokens([(9, b"a")], [], [], size=3),
        lambda: Vocabulary.from_tokenizer_json(b"{"),
        lambda: Vocabulary.from_tokenizer_json(b"{}"),
        lambda: Vocabulary.from_tiktoken_ranks(b"x"),
        lambda: Vocabulary.from_sentencepiece(b"\x07"),
        lambda: vocabulary_of([b"a"], eos="</s>"),
        lambda: vocabulary_of([b"a"], eos=5),
        lambda: vocabulary_of(tmp_path),
    ]
    for case in cases:
        with pytest.raises(VocabularyError):
            case()
    with pytest.raises(OSError):
        vocabulary_of(tmp_path / "tokenizer.json")
    with pytest.raises(TypeError):
        Vocabulary.from_tokens([(0, "a")], [], [])  # type: ignore[list-item]


def test_supports_says_what_is_missing() -> None:
    report = Tokenizer.supports([b"a", b"b"])
    assert report and len(report.notes) == 3
    assert "no token ends the text" in str(report)
    assert Tokenizer.supports("bytes").notes == []


def test_a_wrapper_as_guidance_has_them() -> None:
    class Wrapper:
        eos_token_id = 2
        bos_token_id = None
        tokens = [b"a", b"bc", b"</s>"]
        special_token_ids = [2]

        def __call__(self, text: str) -> list[int]:
            return [0] if text == "a" else [0, 1]

    vocabulary = vocabulary_of(Wrapper())
    assert vocabulary.eos == [2] and vocabulary.tokenize(b"abc") == [0, 1]


def test_a_tokenizer_that_raises_is_longest_match() -> None:
    def tokenize(text: str) -> list[int]:
        raise RuntimeError("out of order")

    vocabulary = Vocabulary.from_tokens([(0, b"a"), (1, b"aa")], [], [], tokenize=tokenize)
    assert vocabulary.tokenize(b"aaa") == [1, 0]


@pytest.mark.parametrize("name", ["gpt2", "qwen3", "mistral-nemo", "phi-3-mini", "llama-3.1"])
def test_tokenizers_library(name: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    file = tokenizer_file(name) / "tokenizer.json"
    of_file = vocabulary_of(file)
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    of_object = vocabulary_of(tokenizer, eos=of_file.eos)
    assert same(of_file, of_object)
    ids = of_object.tokenize(TEXT.encode())
    assert ids is not None and of_object.decode(ids) == TEXT.encode()
    if name in ("gpt2", "llama-3.1", "mistral-nemo"):
        assert ids == tokenizer.encode(TEXT, add_special_tokens=False).ids


def test_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    file = tokenizer_file("cl100k") / "cl100k_base.tiktoken"
    of_file = vocabulary_of(file)
    assert of_file.eos == [100257] and not of_file.has_tokenizer
    encoding = tiktoken.Encoding(
        "cl100k_base",
        pat_str=r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s",
        mergeable_ranks=load_tiktoken_bpe(str(file)),
        special_tokens={name: id for id, name in of_file.specials()},
    )
    vocabulary = vocabulary_of(encoding)
    assert same(of_file, vocabulary)
    assert vocabulary.tokenize(TEXT.encode()) == encoding.encode_ordinary(TEXT)


def test_sentencepiece() -> None:
    vocabulary = vocabulary_of(tokenizer_file("mistral-7b-v3-sp"))
    assert len(vocabulary) == 32768 and vocabulary.special_by_name("</s>") == vocabulary.eos[0]
    assert vocabulary.decode(vocabulary.tokenize_greedy(TEXT.encode()) or []) == TEXT.encode()


def test_llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    """llama-cpp-python is compiled from source for minutes: its functions are acted here, by their C signatures."""
    pieces = [b"<s>", b"</s>", b"a", b"b" * 100, b" c"]
    module = types.ModuleType("llama_cpp")

    def piece(vocab: Any, token: int, buffer: Any, length: int, lstrip: int, special: bool) -> int:
        if len(pieces[token]) > length:
            return -len(pieces[token])
        ctypes.memmove(buffer, pieces[token], len(pieces[token]))
        return len(pieces[token])

    def tokenize(vocab: Any, text: bytes, length: int, tokens: Any, most: int, add: bool, parse: bool) -> int:
        assert not add and not parse
        tokens[0] = 2
        return 1

    functions = {
        "llama_vocab_n_tokens": lambda vocab: len(pieces),
        "llama_vocab_is_eog": lambda vocab, token: token == 1,
        "llama_vocab_is_control": lambda vocab, token: token < 2,
        "llama_token_to_piece": piece,
        "llama_tokenize": tokenize,
        "llama_token": ctypes.c_int32,
    }
    for name, function in functions.items():
        setattr(module, name, function)
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    pointer = type("llama_vocab_p", (), {"__module__": "llama_cpp.llama_cpp"})()
    vocabulary = vocabulary_of(pointer)
    assert vocabulary.eos == [1] and vocabulary.specials() == [(0, "<s>"), (1, "</s>")]
    assert [vocabulary.token_bytes(token) for token in (2, 3, 4)] == pieces[2:]
    assert vocabulary.tokenize(b"a") == [2]
    with pytest.raises(VocabularyError, match="<end>"):
        vocabulary_of(pointer, eos="<end>")
