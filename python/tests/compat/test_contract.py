"""Words in messages, and forms of arguments, that clients of llguidance rely on."""

from __future__ import annotations

from typing import Any

import pytest

import larkspur.compat

llguidance = larkspur.compat.install()
LLMatcher, LLTokenizer = llguidance.LLMatcher, llguidance.LLTokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return LLTokenizer("byte")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (b"\xff<|tool|>x\xff[13]", [256, 120, 13]),
        (b"ab\xff[97]c", [97, 98, 97, 99]),
        (b"\xff", []),
        (b"\xffabc", [97, 98, 99]),
        (b"<|tool|>", list(b"<|tool|>")),
    ],
)
def test_marked_special_tokens(tokenizer: Any, text: bytes, tokens: list[int]) -> None:
    assert tokenizer.tokenize_partial(text) == (tokens, b"")


def test_words_of_the_executor(tokenizer: Any) -> None:
    executor, matcher = llguidance.LLExecutor(), LLMatcher(tokenizer, "start: /a*/")
    with pytest.raises(RuntimeError, match="Already borrowed"):
        executor.consume_token_par([(matcher, 97), (matcher, 97)])
    with pytest.raises(ValueError, match="Expecting.*tuple"):
        executor.consume_token_par([(matcher, 97, 97)])
    with pytest.raises(RuntimeError, match="Already borrowed"):
        executor.unsafe_compute_mask_ptr([(matcher, 0), (matcher, 1)], 1024, 36, 3)


def test_words_of_mistakes(tokenizer: Any) -> None:
    regex = LLMatcher.grammar_from_regex("missing (")
    for given in (None, tokenizer):
        assert "invalid regex" in LLMatcher.validate_grammar(regex, given)
        assert "nobody" in LLMatcher.validate_grammar("start: nobody", given)
    assert LLMatcher.validate_grammar_with_warnings("start: <[128]>* <[^1-3]>") == (
        False,
        ["no tokenizer - can't validate <[...]> (2 times)"],
    )


def test_lower_limits_hold(tokenizer: Any) -> None:
    small = llguidance.LLParserLimits(initial_lexer_fuel=5)
    grammar = "start: /(foo[12]23|bar)/"
    for error in (
        LLMatcher(tokenizer, grammar, limits=small).get_error(),
        LLMatcher.validate_grammar(grammar, tokenizer, limits=small),
        LLMatcher.validate_grammar(grammar, limits=small),
    ):
        assert "initial lexer configuration (grammar) too big" in error
    assert not LLMatcher(tokenizer, grammar, limits=llguidance.LLParserLimits(step_lexer_fuel=1)).is_error()


def test_unknown_formats_need_lenience(tokenizer: Any) -> None:
    schema = {"type": "string", "format": "ours"}
    for lenient in (False, True):
        grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"lenient": lenient})
        is_error, messages = LLMatcher.validate_grammar_with_warnings(grammar, tokenizer)
        assert is_error != lenient and "Unknown format" in messages[0]
        matcher = LLMatcher(tokenizer, grammar)
        found = matcher.get_grammar_warnings()[0] if lenient else matcher.get_error()
        assert "Unknown format" in found
