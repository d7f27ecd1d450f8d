"""Words in messages, and forms of arguments, that clients of llguidance rely on."""

from __future__ import annotations

import ctypes
import json
import re
from typing import Any

import pytest

import larkspur
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


@pytest.mark.parametrize("given", [{"bogus": 1}, {"bogus": None}, {"lenient": 1}, {"item_separator": 1}])
def test_options_that_are_none(tokenizer: Any, given: dict[str, object]) -> None:
    schema = {"type": "object"}
    for grammar in (
        LLMatcher.grammar_from_json_schema(schema, defaults=given),
        LLMatcher.grammar_from_json_schema(schema, overrides=given),
        LLMatcher.grammar_from_json_schema(schema | {"x-guidance": given}),
        f"start: %json {json.dumps(schema | {'x-guidance': given})}",
    ):
        for error in (
            LLMatcher.validate_grammar(grammar),
            LLMatcher.validate_grammar(grammar, tokenizer),
            LLMatcher(tokenizer, grammar, log_level=0).get_error(),
        ):
            assert ("unknown field" if "bogus" in given else "invalid type") in error
            assert next(iter(given)) in error


def test_drafts_of_one_matcher(tokenizer: Any) -> None:
    matcher = LLMatcher(tokenizer, 'start: "ab" /[cd]/')
    size = (tokenizer.vocab_size + 31) // 32 * 4

    def rows(draft: list[int]) -> list[list[int]]:
        table = bytearray(b"\0" * (size * 4))
        address = ctypes.addressof(ctypes.c_char.from_buffer(table))
        matcher.unsafe_compute_mask_ptr_with_draft_token(trg_ptr=address, trg_bytes=size, draft_tokens=draft)
        return [
            [token for token in range(tokenizer.vocab_size) if table[row * size + token // 8] >> token % 8 & 1]
            for row in range(4)
        ]

    assert rows([97, 98]) == [[97], [98], [99, 100], []]
    assert rows([97, 120]) == [[97], [98], [], []]
    assert rows([]) == [[97], [], [], []]
    assert matcher.compute_ff_bytes() == b"ab"
    table = (ctypes.c_uint32 * (size // 2))()
    matcher.unsafe_compute_mask_ptr_with_draft_token(ctypes.addressof(table), size, 2, [97])
    assert any(table[size // 4 :])
    with pytest.raises(ValueError, match="out of bounds"):
        matcher.unsafe_compute_mask_ptr_with_draft_token(ctypes.addressof(table), size, 2, [97, 98])
    with pytest.raises(ValueError, match="buffer size"):
        matcher.unsafe_compute_mask_ptr_with_draft_token(1024, size * 3, [97])


def test_names_of_arguments(tokenizer: Any) -> None:
    executor, matcher = llguidance.LLExecutor(), LLMatcher(tokenizer, "start: /a*/")
    interpreter = llguidance.LLInterpreter(tokenizer, "start: /a*/")
    interpreter.start_without_prompt()
    size = (tokenizer.vocab_size + 31) // 32 * 4
    table = (ctypes.c_uint32 * (size // 2))()
    address = ctypes.addressof(table)
    matcher.unsafe_compute_mask_ptr(trg_ptr=address, trg_bytes=size)
    interpreter.unsafe_compute_mask_ptr(trg_ptr=address, trg_bytes=size)
    of_batch = {"trg_ptr": address, "one_mask_bytes": size, "trg_batch_size": 2}
    executor.unsafe_compute_mask_ptr(interpreters=[(matcher, 0)], **of_batch)
    executor.unsafe_compute_mask_ptr_with_draft_token(interpreters=[(matcher, 0, [97])], **of_batch)
    assert executor.consume_token_par(matchers_and_tokens=[(matcher, 97)]) == [True]
    assert matcher.consume_tokens(tokens=[97]) and matcher.consume_token(sampled_token=97)


def test_slices_that_are_no_regexes(tokenizer: Any) -> None:
    for error in (RuntimeError, ValueError):
        with pytest.raises(error):
            tokenizer.with_slices(["("])
    with pytest.raises(ValueError):
        LLTokenizer("byte", slices=["("])


def test_mistakes_in_gbnf() -> None:
    from llguidance.gbnf_to_lark import GbnfToLarkError, any_to_lark, gbnf_to_lark

    for convert in (any_to_lark, gbnf_to_lark):
        with pytest.raises(GbnfToLarkError) as caught:
            convert('root ::= "a')
        assert str(caught.value.pos).startswith("line 1")
    with pytest.raises(larkspur.GrammarError) as told:
        any_to_lark("# é\nroot ::= a b")
    assert len(told.value.diagnostics) == 2


def test_unknown_formats_need_lenience(tokenizer: Any) -> None:
    schema = {"type": "string", "format": "ours"}
    for lenient in (False, True):
        grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"lenient": lenient})
        is_error, messages = LLMatcher.validate_grammar_with_warnings(grammar, tokenizer)
        assert is_error != lenient and "Unknown format" in messages[0]
        matcher = LLMatcher(tokenizer, grammar)
        found = matcher.get_grammar_warnings()[0] if lenient else matcher.get_error()
        assert "Unknown format" in found


@pytest.mark.parametrize(
    ("grammar", "phrase"),
    [
        ('root: "a"', "no start"),
        ("start: foo", 'unknown name: "foo"'),
        ("start: FOO", 'unknown name: "FOO"'),
        ('start: "a"\nstart: "b"', 'duplicate rule: "start"'),
        ('start: A\nA: "a"\nA: "b"', 'duplicate token: "A"'),
        ('start: A\nA: "a" | B\nB: "b" A', "circular reference in token"),
        ('start: "a', "lexer error"),
        ('start: "a"{7,6}', "range end must be >= start"),
        ("start: %import", "Expected token"),
        ("%import common.NOPE\nstart: NOPE", "Unknown common regex: common.NOPE"),
        ("start: /a/l", "l-flag is not supported"),
        ("start: A\nA: <think>", "cannot be used in terminals"),
        ('start: A\nA: foo\nfoo: "a"', "cannot be used in terminals"),
        ("start: <nope>", "unknown special token"),
        ('start: "d".."a"', "invalid range order"),
        ("start: <[9-1]>", "invalid token range"),
        ('start[nope=1]: "a"', "Unknown attribute: nope"),
        ('%llguidance { "no_forcing": 1 }\nstart: "a"', "failed to parse %llguidance declaration"),
        ("start: %json []", "failed to compile JSON schema"),
        ("start: %json {", "EOF while parsing an object"),
        ('start: foo::1\nfoo: "a"', "rule 'foo' is not parametric"),
        ('start: foo\nfoo::_: "a"', "rule 'foo' is parametric, but no parameter provided"),
        ("start: /[/", "invalid regex"),
        (
            'start: %json {"type":"array","minItems":2,"maxItems":1}',
            "Unsatisfiable schema: minItems (2) is greater than maxItems (1)",
        ),
    ],
)
def test_words_that_clients_look_for(grammar, phrase):
    tokenizer = LLTokenizer("byte")
    for message in (LLMatcher.validate_grammar(grammar, tokenizer), LLMatcher(tokenizer, grammar, log_level=0).get_error()):
        assert phrase in message
        assert re.search(r" \[[A-Z][0-9]{3}\]", message)


def test_schemas_without_values_are_told_as_clients_compare_it():
    for schema in ({"type": "string", "enum": [1]}, {"type": "string", "format": "date", "minLength": 30}, {"not": {}}):
        grammar = LLMatcher.grammar_from_json_schema(schema)
        assert LLMatcher.validate_grammar(grammar).startswith("Unsatisfiable schema: no value is valid ")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"type": "object", "properties": {"a": False}, "required": ["a"]}, "required property 'a' is unsatisfiable"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, "required property 'a' is unsatisfiable"),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, False], "minItems": 2},
            "prefixItems[1] is unsatisfiable but minItems is 2",
        ),
        ({"type": "array", "items": False, "minItems": 1}, "required item is unsatisfiable"),
        ({"type": "array", "items": {"allOf": [False]}, "minItems": 2}, "required item is unsatisfiable"),
        (
            {"anyOf": [{"type": "integer", "minimum": 10, "maximum": 0}, False]},
            "minimum (10) is greater than maximum (0)",
        ),
        ({"$ref": "#/$defs/b", "$defs": {"b": False}}, "schema is false"),
    ],
)
def test_what_a_schema_must_have_and_cannot(schema, sentence):
    grammar = LLMatcher.grammar_from_json_schema(schema)
    assert LLMatcher.validate_grammar(grammar).split("\n")[0].startswith(f"Unsatisfiable schema: {sentence}")


@pytest.mark.parametrize(
    ("grammar", "tokens", "text"),
    [
        ("start: /[ab]/ (<[261]> | <[257]>) /[xy]/", [97, 261, 120], b"a\xff[261]x"),
        ('start: n "b"\nn[stop=""]: /a+/', [97, 261, 98], b"ab"),
        ("start: /a*/", [97, 261], b"a"),
    ],
)
def test_only_eos_tokens_that_a_grammar_names_are_in_the_text(tokenizer, grammar, tokens, text):
    interpreter = llguidance.LLInterpreter(tokenizer, grammar, enable_backtrack=False, enable_ff_tokens=False)
    interpreter.start_without_prompt()
    for token in tokens:
        interpreter.compute_mask()
        interpreter.commit_token(token)
    final = json.loads(interpreter.compute_mask()[1])["progress"][-1]
    assert (final["object"], bytes.fromhex(final["hex"])) == ("final_text", text)


def test_an_eos_token_that_must_follow_the_prompt_is_in_the_text(tokenizer):
    interpreter = llguidance.LLInterpreter(tokenizer, 'start: <[261]> /[ab]/')
    assert interpreter.process_prompt([]) == [261]
    interpreter.compute_mask()
    interpreter.commit_token(97)
    final = json.loads(interpreter.compute_mask()[1])["progress"][-1]
    assert bytes.fromhex(final["hex"]) == b"\xff[261]a"


ONE_OF_WARNING = "oneOf not fully supported, falling back to anyOf. This may cause validation errors in some cases."


@pytest.mark.parametrize(
    ("schema", "times"),
    [
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, 1),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, 0),
        # As there, numbers are not told apart.
        ({"oneOf": [{"const": 1}, {"enum": [2, 3]}]}, 1),
        ({"oneOf": [{"const": "a"}, {"enum": ["b", 3]}]}, 0),
        ({"oneOf": [{"enum": [1, "a"]}, {"enum": [1, "b"]}], "type": "string"}, 0),
        ({"oneOf": [{"allOf": [{"type": "integer"}]}, {"type": "string"}]}, 0),
        ({"oneOf": [{"oneOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "number"}]}, 1),
        ({"oneOf": [{"type": "string"}]}, 0),
        ({"oneOf": [True, {"type": "number"}]}, 1),
        ({"oneOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "$defs": {"a": {"type": "string"}}}, 0),
        ({"type": "object", "properties": {name: {"oneOf": [{"minLength": 2}, {"maxLength": 3}]} for name in "ab"}}, 2),
        (
            {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in ("a", "b")
            ]},
            0,
        ),
        # One of them requires what tells them apart.
        (
            {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                {"type": "object", "additionalProperties": {"const": "b"}},
            ]},
            0,
        ),
    ],
)  # fmt: skip
def test_one_of_that_is_read_as_any_of(schema, times):
    expected = [[], [ONE_OF_WARNING], [f"{ONE_OF_WARNING} (2 times)"]][times]
    tokenizer = LLTokenizer("byte")
    grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"coerce_one_of": True})
    assert LLMatcher.validate_grammar_with_warnings(grammar, tokenizer) == (False, expected)
    assert LLMatcher.validate_grammar_with_warnings(grammar) == (False, expected)
    assert LLMatcher(tokenizer, grammar, log_level=0).get_grammar_warnings() == expected
    assert LLMatcher.validate_grammar_with_warnings(LLMatcher.grammar_from_json_schema(schema), tokenizer) == (False, [])


def test_one_of_with_many_schemas_takes_no_time():
    tokenizer = LLTokenizer("byte")

    def warnings(schema: dict[str, Any]) -> list[str]:
        grammar = LLMatcher.grammar_from_json_schema(schema, overrides={"coerce_one_of": True})
        return LLMatcher(tokenizer, grammar, log_level=0).get_grammar_warnings()

    assert warnings({"oneOf": [{"const": f"v{number}"} for number in range(2000)]}) == []
    # A hundred million ways.
    refs = [[{"$ref": f"#/$defs/a{level + 1}", "title": str(number)} for number in range(100)] for level in range(4)]
    defs = {f"a{level}": {"anyOf": each} for level, each in enumerate(refs)} | {"a4": {"type": "integer"}}
    assert warnings({"oneOf": [{"$ref": "#/$defs/a0"}, {"type": "string"}], "$defs": defs}) == [ONE_OF_WARNING]
    # What is no schema is not read as one.
    assert warnings({"type": "string", "x-note": {"oneOf": [{"type": [{}]}, {"type": 5}]}}) == []


def test_forms_of_arguments(tokenizer: Any) -> None:
    assert not LLMatcher(tokenizer, "start: /a/", log_level=-1).is_error()
    with pytest.raises(TypeError, match="'list' object is not an instance of 'tuple'"):
        llguidance.JsonCompiler(separators=[",", ":"])
    for flag in ("verbose_errors", "precompute_large_lexemes"):
        with pytest.raises(TypeError, match="'int' object is not an instance of 'bool'"):
            llguidance.LLParserLimits(**{flag: 1})
    for schema in ({"const": "\ud800"}, '{"const": "\ud800"}'):
        for options in (None, {"lenient": True}):
            with pytest.raises(ValueError, match="Value is not JSON serializable"):
                LLMatcher.grammar_from_json_schema(schema, options)
    grammar = LLMatcher.grammar_from_json_schema({"type": "null"}, overrides=[])
    assert not LLMatcher(tokenizer, grammar).is_error()


@pytest.mark.parametrize(
    ("text", "shown"), [(b"x", "'x'"), (b"\n", "'\\n'"), (b"\0", "'\\0'"), (b"'", "'\\''"), (b"\x85", "'\\u{85}'"), (b"\xc3", "'Ã'")]
)
def test_the_byte_that_does_not_fit(tokenizer: Any, text: bytes, shown: str) -> None:
    matcher = LLMatcher(tokenizer, 'start: "ab"', log_level=0)
    assert not matcher.consume_token(text[0])
    assert f"doesn't satisfy the grammar; byte {shown} fails parse" in matcher.get_error()


def test_a_tokenizer_that_overrides_how_texts_are_encoded() -> None:
    class Plain:
        eos_token_id, bos_token_id = 256, None
        tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]

        def __call__(self, text: bytes) -> list[int]:
            return list(text)

    class Own(llguidance.TokenizerWrapper):  # type: ignore[misc]
        def _encode_string(self, s: str) -> list[int]:
            tokens: list[int] = super()._encode_string(s)
            return tokens[::-1]

    own = Own(Plain())
    assert (own._encode_string("ab"), own("ab")) == ([98, 97], [97, 98])
