"""The engine: a tokenizer's vocabulary, and grammars compiled for it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import _native
from ._native import Grammar, Vocabulary
from ._schema import schema_text
from .tags import Tag
from .tokenizers import vocabulary_of


class Engine(_native.Engine):
    """What all grammars of one vocabulary share; one is enough for a process and a model.

    >>> engine = Engine(Vocabulary.single_bytes())
    >>> matcher = engine.regex("yes|no").matcher()
    >>> [chr(token) for token in matcher.allowed_tokens()]
    ['n', 'y']
    """

    @classmethod
    def from_tokenizer(
        cls,
        tokenizer: Any,
        *,
        eos: int | str | Sequence[int | str] | None = None,
        size: int | None = None,
        limits: Mapping[str, int] | None = None,
        slices: Sequence[str] | None = None,
    ) -> Engine:
        """An engine for a model's tokenizer.

        `tokenizer` is a transformers tokenizer, a `tokenizers.Tokenizer`, a tiktoken `Encoding`, a llama-cpp-python model,
        a path to `tokenizer.json`, `*.tiktoken`, a sentencepiece `*.model` or a folder with one of them, a `Vocabulary`,
        or `"bytes"`.
        `eos` are the tokens that end the text, by id or name, if the tokenizer does not say so itself; `size` is the
        model's vocabulary size where it is padded (the length of its logits).

        Raises `VocabularyError` if masks cannot be made for it: see `Tokenizer.supports`.
        """
        return cls(vocabulary_of(tokenizer, eos=eos, size=size), limits=limits, slices=slices)

    def lark(self, text: str, **options: Any) -> Grammar:
        """Compiles Lark, with llguidance's extensions. Options as `compile`. Raises `GrammarError`."""
        return self.compile("lark", text, **options)

    def gbnf(self, text: str, **options: Any) -> Grammar:
        """Compiles llama.cpp's GBNF. Options as `compile`. Raises `GrammarError`."""
        return self.compile("gbnf", text, **options)

    def kbnf(self, text: str, **options: Any) -> Grammar:
        """Compiles KBNF. Options as `compile`. Raises `GrammarError`."""
        return self.compile("kbnf", text, **options)

    def regex(self, text: str, **options: Any) -> Grammar:
        """Compiles a regex in the syntax of Rust's `regex` crate, which describes whole texts. Options as `compile`. Raises
        `GrammarError`."""
        return self.compile("regex", text, **options)

    def json_schema(self, schema: Any, **options: Any) -> Grammar:
        """Compiles a JSON Schema: a dict, a JSON text, a pydantic model or a type that pydantic knows.

        Options as `compile`; `spelling` says how values are written. Raises `GrammarError`.
        """
        return self.compile("json_schema", schema_text(schema), **options)

    def choice(self, texts: Iterable[str]) -> Grammar:
        """One of these texts, as they are. Raises `ValueError` if there are none, `TypeError` for what is no text, and for
        one text alone."""
        if isinstance(texts, str):
            raise TypeError(f"a choice is of a list of texts; write [{texts!r}] for one")
        literals = [_literal(text) for text in texts]
        if not literals:
            raise ValueError("a choice needs one text at least")
        return self.compile("lark", "%llguidance {}\nstart: " + "\n     | ".join(literals), name="<choice>")

    def structural_tags(
        self,
        tags: Iterable[Tag],
        *,
        triggers: Sequence[str] = (),
        excludes: Sequence[str] = (),
        at_least: int = 0,
        at_most: int | None = None,
        end_with_last_tag: bool = False,
        **options: Any,
    ) -> Grammar:
        """Free text until a trigger, then one of the tags that begin with it, then free text again.

        `triggers` are by default the beginnings of the tags. `excludes` are texts that free text does not hold. With
        `end_with_last_tag` the text ends with the last tag that `at_most` allows. Options as `compile`.
        docs/structural-tags.md has the meaning. Raises `GrammarError`, and `TypeError` for what is no tag or list.
        """
        for name, texts in (("triggers", triggers), ("excludes", excludes)):
            if isinstance(texts, str):
                raise TypeError(f"{name} is a list of texts; write [{texts!r}] for one")
        if isinstance(tags, Tag):
            raise TypeError("tags is a list of larkspur.Tag; write [tag] for one")
        return self.compile_tags(
            [_arguments(tag) for tag in tags],
            triggers=triggers,
            excludes=excludes,
            at_least=at_least,
            at_most=at_most,
            end_with_last_tag=end_with_last_tag,
            **options,
        )

    def grammar(self, path: str | os.PathLike[str], **options: Any) -> Grammar:
        """Compiles a file, of the language that its name says. Raises `GrammarError`, `OSError`, `ValueError`."""
        name = os.fspath(path)
        with open(name, encoding="utf-8", newline="") as file:
            text = file.read()
        options.setdefault("import_path", os.path.dirname(name) or ".")
        return self.compile("file", text, name=name, **options)


def _arguments(tag: Tag) -> tuple[tuple[bool, str], tuple[str, str] | None, tuple[bool, str]]:
    if not isinstance(tag, Tag):
        raise TypeError(f"tags is a list of larkspur.Tag, not of {type(tag).__name__}")
    return tag.arguments()


def _literal(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a choice is of texts (str), not of {type(text).__name__}")
    return json.dumps(text)


Retriever = Callable[[str], "str | None"]
"""Gives the document that a JSON Schema refers to, or `None` if there is no such."""
