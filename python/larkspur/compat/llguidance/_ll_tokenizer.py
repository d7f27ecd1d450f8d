"""`LLTokenizer`: a model's tokens, and the engine of the grammars for it."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from larkspur import Engine, Grammar, GrammarError, Vocabulary

from ._compile import SPELLING, GrammarText, classified, message, refused
from ._limits import LLParserLimits, engine_limits
from ._slices import GENERAL
from ._tokenizer import TokenizerWrapper
from ._util import TokenId, as_token, as_tokens, as_unsigned, expect

EosTokens = TokenId | Sequence[TokenId] | None

# The special tokens of llguidance's vocabulary of bytes; the last one ends the text.
_BYTE_SPECIALS = ("<|tool|>", "<|/tool|>", "<|user|>", "<|system|>", "<|assistant|>", "<|end|>")
# Grammars that are kept for the next matcher with the same text; servers make many of few.
_GRAMMARS_KEPT = 64
# Engines of one tokenizer that are kept, each with other limits.
_ENGINES_KEPT = 4


class SliceError(RuntimeError, ValueError):
    """A slice that is no regex: llguidance's constructor raises `ValueError` for it, and `with_slices` `RuntimeError`."""


class LLTokenizer:
    """A tokenizer from a `tokenizer.json` (its path or text), from a `TokenizerWrapper`, or `"byte"`, of single bytes.

    `n_vocab` is the model's vocabulary size where it is larger; `eos_token` one or several tokens that end the text;
    `slices` are regexes of texts whose tokens are looked up in a piece, `[]` for none.
    Raises `ValueError` for what is no tokenizer, tokens out of range, and slices that are no regexes.
    Cost: below 1 s for 128,000 tokens; keep it.
    """

    def __init__(
        self,
        tokenizer: str | TokenizerWrapper,
        n_vocab: int | None = None,
        eos_token: EosTokens = None,
        slices: list[str] | None = None,
    ) -> None:
        size = None if n_vocab is None else as_unsigned(n_vocab)
        eos = _eos_list(eos_token)
        if tokenizer == "byte":
            self._set(*_of_bytes(size, eos), slices)
        elif isinstance(tokenizer, str):
            self._set(*_of_json(_json_text(tokenizer), size, eos), slices)
        elif getattr(tokenizer, "is_tokenizer_wrapper", False):
            self._set(*_of_wrapper(tokenizer, size, eos), slices)
        else:
            raise ValueError("Expecting a TokenizerWrapper() class")

    def _set(self, vocabulary: Vocabulary, spelled: dict[TokenId, bytes], slices: list[str] | None) -> None:
        self._vocabulary = vocabulary
        # What special tokens are shown as, where it is not their name.
        self._spelled = spelled
        self._slices = slices
        self._engine = lru_cache(_ENGINES_KEPT)(lambda limits: Engine(vocabulary, slices=slices, limits=dict(limits)))
        # What is wrong with the slices is said now.
        self._engine(())
        self._specials = dict(vocabulary.specials())
        self._eos = vocabulary.eos
        engine = self._engine
        self._compiled = lru_cache(_GRAMMARS_KEPT)(
            lambda text, kind, limits: engine(limits).compile(kind, text, llguidance_face=True, spelling=SPELLING)
        )

    @classmethod
    def _from_parts(
        cls, vocabulary: Vocabulary, spelled: dict[TokenId, bytes], slices: list[str] | None
    ) -> "LLTokenizer":
        made = cls.__new__(cls)
        made._set(vocabulary, spelled, slices)
        return made

    @staticmethod
    def from_tiktoken(
        encoder: Mapping[bytes, TokenId],
        special_tokens: Mapping[str, TokenId],
        pattern: str,
        eos_token: EosTokens,
        n_vocab: int | None = None,
        slices: list[str] | None = None,
    ) -> "LLTokenizer":
        """The tokenizer of tiktoken's ranks and pattern. Needs the package tiktoken. Raises as the constructor."""
        import tiktoken

        encoding = tiktoken.Encoding(
            "llguidance", pat_str=pattern, mergeable_ranks=dict(encoder), special_tokens=dict(special_tokens)
        )
        return LLTokenizer._from_encoding(encoding, n_vocab, eos_token, slices)

    @staticmethod
    def _from_encoding(
        encoding: "tiktoken.Encoding",  # type: ignore[name-defined] # noqa: F821
        n_vocab: int | None,
        eos_token: EosTokens,
        slices: list[str] | None,
    ) -> "LLTokenizer":
        """The tokenizer of a `tiktoken.Encoding`; without `eos_token` the text ends with its `eot_token`."""
        specials = {token: name for name, token in encoding._special_tokens.items()}
        tokens = {token: text for text, token in encoding._mergeable_ranks.items()}
        eos = _eos_list(encoding.eot_token if eos_token is None else eos_token)
        made = _of_tokens(
            tokens,
            {token: name.encode() for token, name in specials.items()},
            eos or [],
            n_vocab,
            lambda text: encoding.encode_ordinary(text),
        )
        return LLTokenizer._from_parts(*made, slices)

    @staticmethod
    def from_llamacpp(
        tokens: Sequence[bytes],
        vocab_ptr: int,
        tokenize_fptr: int,
        eos_token: EosTokens,
        slices: list[str] | None = None,
    ) -> "LLTokenizer":
        """The tokenizer of a llama.cpp vocabulary: its tokens, special ones behind a byte 0xFF, the vocabulary's
        address, and that of the function `llama_tokenize`. Raises as the constructor."""
        from ._llama_tokenize import tokenizer_at

        ordinary, specials = _sorted_out(tokens, ())
        tokenize = tokenizer_at(as_unsigned(vocab_ptr), as_unsigned(tokenize_fptr))
        made = _of_tokens(ordinary, specials, _eos_list(eos_token) or [], len(tokens), tokenize)
        return LLTokenizer._from_parts(*made, slices)

    def with_slices(self, slices: list[str]) -> "LLTokenizer":
        """The same tokenizer with other slices. Raises a `RuntimeError` that is a `ValueError`, too, for what is no regex."""
        try:
            return LLTokenizer._from_parts(self._vocabulary, self._spelled, slices)
        except ValueError as error:
            raise SliceError(str(error)) from error

    @staticmethod
    def general_slices() -> list[str]:
        """The slices that llguidance has for most grammars."""
        return list(GENERAL)

    @staticmethod
    def json_slices() -> list[str]:
        """The slices that llguidance has for JSON."""
        return list(GENERAL)

    @property
    def vocab_size(self) -> int:
        """Number of tokens, and of bits in a mask."""
        return len(self._vocabulary)

    @property
    def eos_token(self) -> TokenId:
        """The first of the tokens that end the text."""
        return self._eos[0]

    @property
    def eos_tokens(self) -> list[TokenId]:
        """The tokens that end the text."""
        return list(self._eos)

    @property
    def is_canonical(self) -> bool:
        """Whether texts are tokenized as the model was trained."""
        return self._vocabulary.has_tokenizer

    def is_special_token(self, token: TokenId) -> bool:
        """Whether a token is no text. Ids past the end are not special."""
        return as_token(token) in self._specials

    def greedy_tokenize(self, text: str) -> list[TokenId]:
        """The longest token at each place. Bytes that no token begins with are left out."""
        expect(text, str)
        return self._greedy(text.encode("utf-8", "surrogatepass"))

    def tokenize_bytes(self, utf8bytes: bytes, *, parse_special: bool = False) -> list[TokenId]:
        """The model's tokens of a text; with `parse_special` the names of special tokens in it are these tokens."""
        expect(utf8bytes, bytes)
        if not parse_special or not self._specials:
            return self._ordinary(utf8bytes)
        pattern, ids = self._special_names
        tokens: list[TokenId] = []
        start = 0
        for found in pattern.finditer(utf8bytes):
            tokens += self._ordinary(utf8bytes[start : found.start()])
            tokens.append(ids[found[0]])
            start = found.end()
        return tokens + self._ordinary(utf8bytes[start:])

    def tokenize_str(self, text: str, *, parse_special: bool = False) -> list[TokenId]:
        """As `tokenize_bytes`."""
        expect(text, str)
        return self.tokenize_bytes(text.encode("utf-8"), parse_special=parse_special)

    def tokenize_partial(
        self, new_bytes: bytes, recent_tokens: list[TokenId] | None = None
    ) -> tuple[list[TokenId], bytes]:
        """The tokens of the text up to where more text could change them, and the bytes from there. Special tokens in it
        are `\\xff[ID]` or their names behind a byte 0xFF.

        `recent_tokens` stand before the text; they have no influence here.
        """
        expect(new_bytes, bytes)
        if recent_tokens is not None:
            as_tokens(recent_tokens)
        done: list[TokenId] = []
        # Behind a byte 0xFF stands a special token, `[ID]` or its name; what is neither is text.
        text, *marked = new_bytes.split(b"\xff")
        for part in marked:
            done += self._ordinary(text)
            found = re.match(rb"\[(\d+)\]", part)
            if found and int(found[1]) < len(self._vocabulary):
                done.append(int(found[1]))
            elif found := self._special_names[0].match(part):
                done.append(self._special_names[1][found[0]])
            text = part[found.end() :] if found else part
        tokens = self._ordinary(text)
        if self.decode_bytes(tokens) != text:
            return done, text
        stable = self._vocabulary.stable_tokens(tokens, text)
        return done + tokens[:stable], text[len(self.decode_bytes(tokens[:stable])) :]

    def decode_bytes(self, tokens: list[TokenId]) -> bytes:
        """The text of the tokens: special ones by their names, what is no token as `<[ID]>`."""
        return b"".join(self._shown(token) for token in as_tokens(tokens))

    def decode_str(self, tokens: list[TokenId]) -> str:
        """As `decode_bytes`; what is not UTF-8 becomes U+FFFD."""
        return self.decode_bytes(tokens).decode("utf-8", "replace")

    def dbg_tokens(self, tokens: list[TokenId]) -> str:
        """The tokens for human eyes: `⟦a‧b‧≺EOS≻⟧`."""
        return f"⟦{'‧'.join(self._debug(token) for token in as_tokens(tokens))}⟧"

    def test_trace_tokens(self, tokens: list[TokenId]) -> str:
        """As `dbg_tokens`, without the brackets and with line breaks as they are."""
        return "‧".join("\n" if self._shown(token) == b"\n" else self._debug(token) for token in as_tokens(tokens))

    def _compile(self, grammar: GrammarText, limits: LLParserLimits | None = None) -> Grammar:
        """Larkspur's own grammar of a text that `LLMatcher` takes. Raises `ValueError` with all mistakes."""
        text, kind = classified(grammar)
        try:
            compiled = self._compiled(text, kind, tuple(engine_limits(limits).items()))
        except GrammarError as error:
            raise ValueError(message(error.diagnostics, text)) from error
        if refused(compiled.warnings):
            raise ValueError(message(compiled.warnings, text))
        return compiled

    @cached_property
    def _special_names(self) -> tuple[re.Pattern[bytes], dict[bytes, TokenId]]:
        """What finds the names of special tokens in a text, the longest first, and their tokens."""
        ids = {name.encode(): token for token, name in reversed(self._specials.items()) if name}
        names = sorted(ids, key=len, reverse=True)
        return re.compile(b"|".join(map(re.escape, names)) or b"(?!)"), ids

    def _ordinary(self, text: bytes) -> list[TokenId]:
        tokens = self._vocabulary.tokenize(text) if text else []
        return self._greedy(text) if tokens is None else tokens

    def _greedy(self, text: bytes) -> list[TokenId]:
        tokens = self._vocabulary.tokenize_greedy(text)
        if tokens is not None:
            return tokens
        # Some byte has no token: all before and behind it are tokenized.
        return [token for byte in text for token in self._vocabulary.tokenize_greedy(bytes([byte])) or []]

    def _shown(self, token: TokenId) -> bytes:
        text = self._vocabulary.token_bytes(token)
        if text is not None:
            return text
        if token in self._specials:
            return self._spelled.get(token, self._specials[token].encode())
        return b"<[%d]>" % token

    def _debug(self, token: TokenId) -> str:
        if token in self._eos:
            return "≺EOS≻"
        if token >= self.vocab_size:
            return f"≺OOB[{token}]≻"
        if token not in self._specials and self._vocabulary.token_bytes(token) is None:
            return f"≺EMPTY[{token}]≻"
        shown = self._shown(token)
        try:
            text = shown.decode("utf-8")
        except UnicodeDecodeError:
            return f"≺HEX[{shown.hex()}]≻"
        return "".join(_escaped(char, index == 0) for index, char in enumerate(text))


def _escaped(char: str, is_first: bool) -> str:
    """A character as Rust's `{:?}` writes it, but for quotes and backslashes."""
    plain = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r"}.get(char)
    if plain is not None:
        return plain
    is_mark = is_first and unicodedata.category(char) in ("Mn", "Me")
    return char if char.isprintable() and not is_mark else f"\\u{{{ord(char):x}}}"


def _eos_list(eos_token: object) -> list[TokenId] | None:
    if eos_token is None:
        return None
    try:
        eos = [as_token(token) for token in eos_token] if isinstance(eos_token, (list, tuple)) else [as_token(eos_token)]
    except (TypeError, OverflowError):
        raise ValueError("eos_token must be an int or a non-empty list of ints") from None
    if not eos:
        raise ValueError("eos_token list must not be empty")
    return list(dict.fromkeys(eos))


def _json_text(tokenizer: str) -> str:
    if tokenizer.lstrip().startswith("{"):
        return tokenizer
    try:
        return Path(tokenizer).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ValueError(f"error loading tokenizer: {tokenizer}: {error}") from error


Made = tuple[Vocabulary, dict[TokenId, bytes]]


def _of_bytes(size: int | None, eos: list[TokenId] | None) -> Made:
    specials = {256 + index: name.encode() for index, name in enumerate(_BYTE_SPECIALS)}
    tokens = {byte: bytes([byte]) for byte in range(256)}
    return _of_tokens(tokens, specials, eos or [max(specials)], size, lambda text: list(text.encode()))


def _of_json(text: str, size: int | None, eos: list[TokenId] | None) -> Made:
    # As in llguidance, and unlike the flags in the file, what looks like a special token is one.
    names = [name for name in _added_names(text) if name.startswith("<") and name.endswith(">")]
    vocabulary = Vocabulary.from_tokenizer_json(text.encode(), special_names=names, size=size)
    return _with_eos(vocabulary, eos)


def _added_names(text: str) -> list[str]:
    """The names of added tokens in a `tokenizer.json`, without reading the rest, which takes seconds where it is large."""
    decoder = json.JSONDecoder()
    for found in re.finditer(r'"added_tokens"\s*:\s*(?=\[)', text):
        try:
            added, _ = decoder.raw_decode(text, found.end())
            return [str(token["content"]) for token in added]
        except (ValueError, KeyError, TypeError):
            continue
    return []


def _of_wrapper(wrapper: TokenizerWrapper, size: int | None, eos: list[TokenId] | None) -> Made:
    ordinary, specials = _sorted_out(wrapper.tokens, wrapper.special_token_ids)
    count = len(wrapper.tokens) if size is None else size
    eos = [as_token(wrapper.eos_token_id)] if eos is None else eos
    return _of_tokens(ordinary, specials, eos, count, wrapper)


def _sorted_out(
    tokens: Sequence[bytes], special_ids: Sequence[TokenId]
) -> tuple[dict[TokenId, bytes], dict[TokenId, bytes]]:
    """The ordinary tokens and the special ones: those that begin with 0xFF, and those listed."""
    ordinary: dict[TokenId, bytes] = {}
    specials: dict[TokenId, bytes] = {}
    listed = {int(token) for token in special_ids}
    for token, text in enumerate(tokens):
        text = bytes(text)
        if text.startswith(b"\xff") and len(text) > 1:
            specials[token] = text[1:]
        elif token in listed:
            specials[token] = text
        elif text:
            ordinary[token] = text
    return ordinary, specials


def _of_tokens(
    tokens: dict[TokenId, bytes],
    specials: dict[TokenId, bytes],
    eos: list[TokenId],
    size: int | None,
    tokenize: Callable[[str], Sequence[TokenId]],
) -> Made:
    """A vocabulary of these tokens, of which those of `eos` are special in any case."""
    least = 1 + max([*tokens, *specials], default=-1)
    if size is not None and size < least:
        raise ValueError(f"vocab size too small; {size} vs {least}")
    _check_eos(eos, max(least, size or 0))
    specials = specials | {token: tokens.get(token, b"<[%d]>" % token) for token in eos if token not in specials}
    named = {token: _name(token, text) for token, text in specials.items()}
    vocabulary = Vocabulary.from_tokens(
        [(token, text) for token, text in tokens.items() if token not in specials],
        list(named.items()),
        eos,
        size=size,
        tokenize=lambda text: [int(token) for token in tokenize(text)],
    )
    return vocabulary, {token: text for token, text in specials.items() if named[token].encode() != text}


def _name(token: TokenId, text: bytes) -> str:
    """What a grammar calls a special token by."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return f"<[{token}]>"


def _with_eos(vocabulary: Vocabulary, eos: list[TokenId] | None) -> Made:
    if eos is None:
        return vocabulary, {}
    _check_eos(eos, len(vocabulary))
    texts = {token: vocabulary.token_bytes(token) for token in eos}
    return vocabulary.with_eos(eos), {token: text for token, text in texts.items() if text is not None}


def _check_eos(eos: list[TokenId], size: int) -> None:
    for token in eos:
        if token >= size:
            raise ValueError(f"EOS token ID {token} is out of range (vocab_size={size})")
