"""parserllm's and ReLLM's functions: complete a prompt inside a context-free grammar, or a regex.

    from larkspur.parserllm import complete_cf

    complete_cf("A JSON object: ", grammar, "", tokenizer, model, max_new_tokens=40)

Their programs run unchanged; what they meant to get is what they get. Tokens may cross the ends of terminals, ignored text
may stand where the grammar allows it, a number goes on until the model ends it, and any context-free grammar will do.
"""

from __future__ import annotations

from typing import Any

from ._lark import parser_text, patterns_text
from ._native import Grammar
from .engine import Engine
from .transformers import GrammarLogitsProcessor, engine_of

__all__ = ["complete_cf", "complete_re"]


def complete_cf(
    prompt: str,
    parser: Any,
    partial_completion: str,
    tokenizer: Any,
    model: Any,
    max_new_tokens: int = 3,
    debug: bool = False,
    **model_kwargs: Any,
) -> str:
    """Completes a prompt with a text of a context-free grammar.

    `parser` is a `lark.Lark`, whose options hold, or a grammar's text. `partial_completion` is the beginning of the text,
    which stands behind the prompt already. At most `max_new_tokens` tokens are generated; the text ends before where the
    model ends it, which it may only where it is complete, or where nothing can follow. `model_kwargs` go to
    `model.generate`.

    Returns the text, `partial_completion` included. Raises `GrammarError` for the grammar, `ValueError` for an option of
    the parser that changes the language and that Larkspur does not have, and `TextRejected` if `partial_completion` is no
    beginning of a text.
    """
    grammar = _grammar(parser, engine_of(tokenizer))
    return _complete(grammar, prompt, partial_completion, tokenizer, model, max_new_tokens, debug, model_kwargs)


def complete_re(
    prompt: str,
    pattern: Any,
    tokenizer: Any,
    model: Any,
    max_new_tokens: int = 3,
    stop_after_match: bool = True,
    debug: bool = False,
    **model_kwargs: Any,
) -> str:
    """Completes a prompt with a text that a pattern matches as a whole, or one of several patterns.

    `pattern` is a compiled pattern (of `re` or `regex`), its text, or a list of them. With `stop_after_match` the model may
    end the text wherever it matches; without, only where nothing longer could match. `model_kwargs` go to
    `model.generate`. Returns the text. Raises `GrammarError` for a pattern, and `ValueError` for flags that only `regex` has.
    """
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    grammar = engine_of(tokenizer).lark(patterns_text(patterns), lexer="exact", name="<pattern>")
    return _complete(
        grammar, prompt, "", tokenizer, model, max_new_tokens, debug, model_kwargs, may_end=stop_after_match
    )


def _grammar(parser: Any, engine: Engine) -> Grammar:
    if isinstance(parser, str):
        return engine.lark(parser)
    text, start = parser_text(parser)
    return engine.lark(text, start=start)


class _Completion(GrammarLogitsProcessor):
    """Says how the text grows, and may keep the model from ending it."""

    def __init__(self, matcher: Any, *, debug: bool, may_end: bool) -> None:
        super().__init__(matcher)
        self._debug, self._may_end, self._step = debug, may_end, 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        masked = super().__call__(input_ids, scores)
        (matcher,) = self._rows.values()
        if self._debug:
            text = "" if matcher is None else matcher.text().decode(errors="replace")
            print(f"step={self._step} completion={text}")
            self._step += 1
        if not self._may_end and matcher is not None and not matcher.is_stopped():
            eos = self._vocabulary.eos
            others = masked.clone()
            others[:, eos] = float("-inf")
            if (others > float("-inf")).any():
                return others
        return masked


def _complete(
    grammar: Grammar,
    prompt: str,
    partial_completion: str,
    tokenizer: Any,
    model: Any,
    max_new_tokens: int,
    debug: bool,
    model_kwargs: dict[str, Any],
    may_end: bool = True,
) -> str:
    matcher = grammar.matcher()
    if partial_completion:
        matcher.consume_bytes(partial_completion.encode())
    if max_new_tokens <= 0 or matcher.is_stopped():
        return partial_completion
    ids = tokenizer.encode(prompt + partial_completion, return_tensors="pt").to(model.device)
    eos = grammar.vocabulary.eos
    arguments = {"pad_token_id": eos[0] if eos else None, "eos_token_id": eos or None, **model_kwargs}
    processor = _Completion(matcher, debug=debug, may_end=may_end)
    output = model.generate(ids, max_new_tokens=max_new_tokens, logits_processor=[processor], **arguments)
    for token in output[0, ids.shape[1] :].tolist():
        if matcher.is_stopped() or token in eos:
            break
        matcher.consume_token(token)
    return matcher.text().decode(errors="replace")
