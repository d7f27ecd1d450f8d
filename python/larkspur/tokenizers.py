"""Tokenizers of all kinds to vocabularies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._native import Vocabulary
from .errors import VocabularyError

Eos = Sequence["int | str"]

KINDS = (
    "a transformers tokenizer, a tokenizers.Tokenizer, a tiktoken Encoding, a llama-cpp-python model or vocabulary, a "
    "list of bytes, a path, a Vocabulary, or \"bytes\""
)


@dataclass(frozen=True)
class Report:
    """Whether masks can be made for a tokenizer, and what is to be known about it. True if they can."""

    kind: str
    """What it was taken for."""
    problem: str | None
    """Why masks cannot be made; `None` if they can."""
    notes: list[str] = field(default_factory=list)
    """What works less well than it could, and how to mend it."""
    vocabulary: Vocabulary | None = None
    """What was made of it."""

    def __bool__(self) -> bool:
        return self.problem is None

    def __str__(self) -> str:
        lines = [f"{self.kind}: " + (f"cannot be used: {self.problem}" if self.problem else "can be used")]
        if self.vocabulary is not None:
            eos = ", ".join(self.vocabulary.display(token) for token in self.vocabulary.eos) or "none"
            lines.append(f"{len(self.vocabulary)} tokens; EOS: {eos}")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])


class Tokenizer:
    """What can be asked about a tokenizer before an engine is made."""

    @staticmethod
    def supports(tokenizer: Any, *, eos: int | str | Eos | None = None, size: int | None = None) -> Report:
        """Whether masks can be made for a tokenizer, and why not. Arguments as `Engine.from_tokenizer`. Never raises."""
        kind = f"{type(tokenizer).__module__}.{type(tokenizer).__qualname__}"
        try:
            vocabulary = vocabulary_of(tokenizer, eos=eos, size=size)
        except (VocabularyError, TypeError, ValueError, OSError, AttributeError) as error:
            return Report(kind, str(error) or type(error).__name__)
        return Report(kind, None, _notes(vocabulary), vocabulary)


def _notes(vocabulary: Vocabulary) -> list[str]:
    notes = []
    if not vocabulary.eos:
        notes.append("no token ends the text, so that only grammars that end by themselves do: give `eos`")
    if not vocabulary.has_tokenizer:
        notes.append("forced text cannot be tokenized as the model would: there is no tokenizer, only its tokens")
    missing = [byte for byte in range(256) if vocabulary.tokenize_greedy(bytes([byte])) is None]
    # Bytes that no UTF-8 text has are not missed.
    missing = [byte for byte in missing if byte not in (0xC0, 0xC1) and byte < 0xF5]
    if missing:
        shown = ", ".join(f"{byte:#04x}" for byte in missing[:8]) + (", …" if len(missing) > 8 else "")
        notes.append(f"{len(missing)} bytes have no token of their own ({shown}): some texts cannot be written")
    return notes


def vocabulary_of(tokenizer: Any, *, eos: int | str | Eos | None = None, size: int | None = None) -> Vocabulary:
    """The vocabulary of a tokenizer of any kind; arguments as `Engine.from_tokenizer`.

    Raises `VocabularyError`, `OSError`, and `TypeError` for an object of no known kind.
    """
    ends: Eos = [] if eos is None else [eos] if isinstance(eos, (int, str)) else list(eos)
    if isinstance(tokenizer, Vocabulary):
        return _with(tokenizer, ends, size)
    if isinstance(tokenizer, str) and tokenizer == "bytes":
        return _with(Vocabulary.single_bytes(), ends, size)
    if isinstance(tokenizer, (str, os.PathLike)):
        return _of_path(Path(tokenizer), ends, size)
    if isinstance(tokenizer, (list, tuple)):
        return _of_bytes(tokenizer, ends, size)
    if hasattr(tokenizer, "_mergeable_ranks") and hasattr(tokenizer, "encode_ordinary"):
        return _of_tiktoken(tokenizer, ends, size)
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return _of_transformers(tokenizer, ends, size)
    if hasattr(tokenizer, "to_str") and hasattr(tokenizer, "get_vocab_size"):
        return Vocabulary.from_tokenizer_json(tokenizer.to_str().encode(), eos=ends, size=size)
    if hasattr(tokenizer, "tokens") and hasattr(tokenizer, "special_token_ids") and callable(tokenizer):
        return _of_wrapper(tokenizer, ends, size)
    if type(tokenizer).__module__.split(".")[0] == "llama_cpp":
        from .llamacpp import vocabulary_of_llama

        return vocabulary_of_llama(tokenizer, eos=ends, size=size)
    raise TypeError(f"not a tokenizer: {type(tokenizer).__name__}; give {KINDS}")


def _with(vocabulary: Vocabulary, eos: Eos, size: int | None) -> Vocabulary:
    if not eos and size is None:
        return vocabulary
    return vocabulary.with_eos(_ids(eos, vocabulary.special_by_name) if eos else vocabulary.eos, size=size)


def _ids(eos: Eos, id_of: Callable[[str], int | None]) -> list[int]:
    ids = []
    for end in eos:
        token = end if isinstance(end, int) else id_of(end)
        if token is None:
            raise VocabularyError(f"no token is called {end!r}")
        ids.append(token)
    return ids


def _of_path(path: Path, eos: Eos, size: int | None) -> Vocabulary:
    if path.is_dir():
        path = _file_in(path)
    name = path.name.lower()
    if name.endswith(".json"):

        def beside(other: str) -> bytes | None:
            file = path.parent / other
            return file.read_bytes() if file.is_file() else None

        return Vocabulary.from_tokenizer_json(
            path.read_bytes(),
            tokenizer_config=beside("tokenizer_config.json"),
            generation_config=beside("generation_config.json"),
            eos=eos,
            size=size,
        )
    if name.endswith(".tiktoken"):
        return Vocabulary.from_tiktoken_ranks(path.read_bytes(), name=name.removesuffix(".tiktoken"), eos=eos, size=size)
    if ".model" in name:
        return Vocabulary.from_sentencepiece(path.read_bytes(), eos=eos, size=size)
    raise VocabularyError(f"{path} is not a tokenizer: neither `tokenizer.json`, `*.tiktoken` nor a sentencepiece `*.model`")


def _file_in(folder: Path) -> Path:
    kinds: list[Callable[[str], bool]] = [
        lambda name: name == "tokenizer.json",
        lambda name: name.endswith(".tiktoken"),
        lambda name: ".model" in name,
    ]
    files = sorted(folder.iterdir())
    for is_kind in kinds:
        for file in files:
            if is_kind(file.name.lower()):
                return file
    raise VocabularyError(f"{folder} has neither `tokenizer.json`, `*.tiktoken` nor a sentencepiece `*.model`")


def _of_bytes(tokens: Sequence[Any], eos: Eos, size: int | None) -> Vocabulary:
    """Tokens by id. One that begins with 0xFF is special, and the rest of it its name, as llguidance has it."""
    if not all(isinstance(token, (bytes, bytearray)) for token in tokens):
        raise TypeError("a list of tokens is one of bytes")
    if not tokens:
        raise VocabularyError("the list of tokens is empty: there is nothing to make masks of")
    specials = {id: token[1:].decode(errors="replace") for id, token in enumerate(tokens) if token[:1] == b"\xff" and len(token) > 1}
    names = {name: id for id, name in reversed(specials.items())}
    ends = _ids(eos, names.get)
    for end in ends:
        if end not in specials and 0 <= end < len(tokens):
            specials[end] = bytes(tokens[end]).decode(errors="replace") or f"<[{end}]>"
    ordinary = ((id, bytes(token)) for id, token in enumerate(tokens) if id not in specials)
    return Vocabulary.from_tokens(ordinary, specials.items(), ends, size=size if size is not None else len(tokens))


def _of_tiktoken(encoding: Any, eos: Eos, size: int | None) -> Vocabulary:
    ranks: Mapping[bytes, int] = encoding._mergeable_ranks
    specials: Mapping[str, int] = encoding._special_tokens
    ends = list(eos) or ([specials["<|endoftext|>"]] if "<|endoftext|>" in specials else [])
    return Vocabulary.from_tokens(
        ((id, token) for token, id in ranks.items()),
        ((id, name) for name, id in specials.items()),
        _ids(ends, specials.get),
        size=size,
        tokenize=encoding.encode_ordinary,
    )


def _of_transformers(tokenizer: Any, eos: Eos, size: int | None) -> Vocabulary:
    ends = list(eos)
    if not ends and tokenizer.eos_token_id is not None:
        end = tokenizer.eos_token_id
        ends = list(end) if isinstance(end, (list, tuple)) else [end]
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None and hasattr(backend, "to_str"):
        names = [str(name) for name in tokenizer.all_special_tokens]
        return Vocabulary.from_tokenizer_json(backend.to_str().encode(), eos=ends, special_names=names, size=size)
    file = getattr(tokenizer, "vocab_file", None)
    if isinstance(file, str) and ".model" in os.path.basename(file) and os.path.isfile(file):
        return Vocabulary.from_sentencepiece(Path(file).read_bytes(), eos=ends, size=size)
    decoder: Mapping[str, int] | None = getattr(tokenizer, "byte_decoder", None)
    if decoder is None:
        raise VocabularyError(
            f"how {type(tokenizer).__name__} spells its tokens is not known: it has neither a backend tokenizer nor a "
            "sentencepiece file; load it with `use_fast=True`, or give its `tokenizer.json`"
        )
    special_ids = set(tokenizer.all_special_ids) | {end for end in ends if isinstance(end, int)}
    ordinary, specials = [], []
    for name, id in tokenizer.get_vocab().items():
        if id in special_ids:
            specials.append((id, name))
        else:
            ordinary.append((id, bytes(decoder[character] for character in name if character in decoder)))

    def tokenize(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False))

    return Vocabulary.from_tokens(ordinary, specials, _ids(ends, dict((n, i) for i, n in specials).get), size=size, tokenize=tokenize)


def _of_wrapper(wrapper: Any, eos: Eos, size: int | None) -> Vocabulary:
    """An object as Guidance describes tokenizers: `tokens`, `special_token_ids`, `eos_token_id`, and a call tokenizes."""
    special_ids = set(wrapper.special_token_ids)
    ends = list(eos) or [wrapper.eos_token_id]
    special_ids.update(end for end in ends if isinstance(end, int))
    specials = {id: bytes(wrapper.tokens[id]).removeprefix(b"\xff").decode(errors="replace") for id in special_ids}
    names = {name: id for id, name in specials.items()}
    ordinary = ((id, bytes(token)) for id, token in enumerate(wrapper.tokens) if id not in special_ids)
    return Vocabulary.from_tokens(
        ordinary, specials.items(), _ids(ends, names.get), size=size, tokenize=lambda text: list(wrapper(text))
    )
