"""Engines, grammars and matchers."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NewType

import pytest

import larkspur
from larkspur import Engine, Grammar, MaskId, Matcher, Vocabulary

EOS = 256


def accepts(grammar: Grammar, text: str) -> bool:
    matcher = grammar.matcher()
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


@pytest.mark.parametrize(
    ("make", "good", "bad"),
    [
        (lambda e: e.lark('start: "a"+ B\nB: /[0-9]/'), "aa7", "a"),
        (lambda e: e.gbnf('root ::= "a"+ [0-9]'), "aa7", "7"),
        (lambda e: e.regex("a+[0-9]"), "a0", "a00"),
        (lambda e: e.json_schema({"type": "integer", "minimum": 7}), "12", "6"),
        (lambda e: e.json_schema('{"const": "x"}'), '"x"', '"y"'),
        (lambda e: e.json_schema(True), "[1, {}]", "[1,,]"),
        (lambda e: e.choice(["yes", "no", 'a "b"\n\\', "ß"]), 'a "b"\n\\', "maybe"),
        (lambda e: e.choice([""]), "", "a"),
    ],
)
def test_each_language(engine: Engine, make: Callable[[Engine], Grammar], good: str, bad: str) -> None:
    grammar = make(engine)
    assert accepts(grammar, good)
    assert not accepts(grammar, bad)


def test_kbnf(engine: Engine) -> None:
    assert accepts(engine.kbnf("start ::= 'a' {'a'} 'b';"), "aab")


def test_pydantic(engine: Engine) -> None:
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):  # type: ignore[name-defined, misc, unused-ignore]
        name: str
        age: int

    grammar = engine.json_schema(Person)
    assert accepts(grammar, '{"name": "Ada", "age": 36}')
    assert not accepts(grammar, '{"name": "Ada"}')
    assert accepts(engine.json_schema(list[int]), "[1,2]")
    assert accepts(engine.json_schema(int | None), "null")
    assert accepts(engine.json_schema(NewType("Id", int)), "7")


def test_schema_of_the_wrong_type(engine: Engine) -> None:
    with pytest.raises(TypeError, match="dict"):
        engine.json_schema(7)


def test_structural_tags(engine: Engine) -> None:
    tags = [larkspur.Tag("<a>", "</a>", regex="[0-9]+"), larkspur.Tag("<b>", "</b>")]
    grammar = engine.structural_tags(tags, excludes=["bad"], at_most=1)
    assert accepts(grammar, "x<a>12</a>y") and accepts(grammar, "<b>bad <a></b>") and accepts(grammar, "x < y")
    assert not accepts(grammar, "<a>x</a>") and not accepts(grammar, "bad") and not accepts(grammar, "<a>1</a><a>2</a>")
    grammar = engine.structural_tags(tags, at_least=1, at_most=1, end_with_last_tag=True)
    assert not accepts(grammar, "x") and not accepts(grammar, "<a>1</a>x") and accepts(grammar, "x<a>1</a>")
    with pytest.raises(ValueError, match="2 grammars"):
        engine.structural_tags([larkspur.Tag("<a>", "</a>", regex="a", lark="start: /a/")])
    with pytest.raises(larkspur.GrammarError):
        engine.structural_tags([larkspur.Tag("<a>", "</a>", gbnf="root ::= b")])
    named = engine.structural_tags([larkspur.Tag(larkspur.Token("<eos>"), "", regex="a")])
    assert 256 in named.matcher().allowed_tokens()


def test_files(engine: Engine, tmp_path: Any) -> None:
    (tmp_path / "digits.lark").write_text("D: /[0-9]/")
    (tmp_path / "main.lark").write_text("%import .digits.D\nstart: D D")
    assert accepts(engine.grammar(tmp_path / "main.lark"), "12")
    (tmp_path / "s.json").write_text('{"type": "null"}')
    assert accepts(engine.grammar(tmp_path / "s.json"), "null")
    (tmp_path / "r.regex").write_text("a|b\n")
    assert accepts(engine.grammar(str(tmp_path / "r.regex")), "b")
    (tmp_path / "s.txt").write_text("x")
    with pytest.raises(ValueError, match="s.txt"):
        engine.grammar(tmp_path / "s.txt")


def test_several_starts(engine: Engine) -> None:
    text = 'sum: NUMBER ("+" NUMBER)*\nlist: "[" sum ("," sum)* "]"\nNUMBER: /[0-9]+/'
    grammars = {rule: engine.lark(text, start=rule) for rule in ("sum", "list")}
    assert accepts(grammars["sum"], "1+2") and not accepts(grammars["sum"], "[1]")
    assert accepts(grammars["list"], "[1+2,3]") and not accepts(grammars["list"], "1")
    assert not any(grammar.warnings for grammar in grammars.values())
    with pytest.raises(larkspur.GrammarError, match="sums"):
        engine.lark(text, start="sums")


def test_options(engine: Engine) -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
    assert not accepts(engine.json_schema(schema), '{"b":1,"a":1}')
    assert accepts(engine.json_schema(schema, spelling="validate"), '{"b":1,"a":1}')
    compact = engine.json_schema(schema, spelling={"whitespace": "compact"})
    assert accepts(compact, '{"a":1,"b":1}')
    assert not accepts(compact, '{"a": 1,"b":1}')
    compact = engine.json_schema(schema, spelling={"profile": "validate", "whitespace": "compact"})
    assert accepts(compact, '{"b":1e0,"a":1}')
    assert not accepts(compact, '{"b": 1e0,"a":1}')
    assert accepts(engine.lark('first: "x"', start="first"), "x")
    assert engine.lark('start: "x"', lexer="exact").lexer_mode == "exact"
    assert accepts(engine.lark("%import .m.A\nstart: A", modules={"m.lark": 'A: "x"'}), "x")
    documents = {"https://example.com/s": '{"const": 1}'}
    assert accepts(engine.json_schema({"$ref": "https://example.com/s"}, retriever=documents.get), "1")
    with pytest.raises(TypeError, match="strat"):
        engine.lark('start: "x"', strat="y")
    wrongs: list[dict[str, Any]] = [
        {"lexer": "greedy"},
        {"spelling": "loose"},
        {"spelling": {"white": 1}},
        {"spelling": {"profile": 1}},
        {"draft": "5"},
    ]
    for wrong in wrongs:
        with pytest.raises(ValueError):
            engine.lark('start: "x"', **wrong)


def test_a_retriever_that_raises(engine: Engine) -> None:
    def retrieve(uri: str) -> str:
        raise OSError("no network")

    with pytest.raises(larkspur.GrammarError, match="no network"):
        engine.json_schema({"$ref": "https://example.com/s"}, retriever=retrieve)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_retriever_that_is_interrupted(engine: Engine, interrupt: type[BaseException]) -> None:
    asked: list[str] = []

    def retrieve(uri: str) -> str:
        asked.append(uri)
        raise interrupt("now")

    schema = {"anyOf": [{"$ref": f"https://example.com/{name}"} for name in "abc"]}
    for call in (lambda **options: engine.json_schema(schema, **options), partial(larkspur.check, "json_schema", json.dumps(schema))):
        asked.clear()
        with pytest.raises(interrupt, match="now"):
            call(retriever=retrieve)
        assert len(asked) == 1


def test_named_tokens_are_forced(engine: Engine) -> None:
    matcher = engine.lark('start: "a" <[98]> "c" <[100-101]>').matcher()
    assert matcher.forced_tokens() == [97, 98, 99] and matcher.forced_bytes() == b"a"
    matcher.consume_tokens(matcher.forced_tokens())
    assert matcher.allowed_tokens() == [100, 101] and matcher.forced_tokens() == []
    matcher.reset()
    assert matcher.process_prompt([120]) == [120, 97, 98, 99] and matcher.step_count == 0


def test_spelling_names_its_options(engine: Engine) -> None:
    with pytest.raises(larkspur.GrammarError, match="the regex of `whitespace` is wrong"):
        engine.json_schema({}, spelling={"whitespace": {"pattern": "("}})
    with pytest.raises(larkspur.GrammarError, match="the regex of `whitespace_pattern` is wrong"):
        engine.json_schema({"x-guidance": {"whitespace_pattern": "("}})
    with pytest.raises(ValueError, match='spelling "{{{.*…"') as caught:
        engine.json_schema({}, spelling="{" * 10_000)
    assert len(str(caught.value)) < 200


def test_all_mistakes_with_places(engine: Engine) -> None:
    text = 'start: foo bar\nfo: "a"\n'
    with pytest.raises(larkspur.GrammarError) as caught:
        engine.lark(text, name="g.lark")
    error = caught.value
    assert [d.code for d in error.diagnostics if d.severity == "error"] == ["L040", "L040"]
    assert error.code == "L040" and error.span == (7, 10)
    first = error.diagnostics[0]
    assert (first.line, first.column, first.source) == (1, 8, "g.lark")
    assert first.help == "did you mean `fo`?"
    assert "^^^" in first.rendered and first.rendered in str(error)
    assert first.summary.startswith("g.lark:1:8: error[L040]")
    assert isinstance(error, ValueError)


def test_the_text_of_an_error_has_its_cause(engine: Engine) -> None:
    with pytest.raises(larkspur.GrammarError) as caught:
        engine.json_schema({"type": "string", "pattern": "/^[a-z]+$/", "titel": "t"})
    assert "no text matches `pattern`" in str(caught.value)
    assert "write `^[a-z]+$`" in str(caught.value) and "titel" not in str(caught.value).replace('"titel": "t"', "")


def test_check(engine: Engine) -> None:
    assert larkspur.check("lark", 'start: "a" <|tool|>') == []
    codes = [d.code for d in larkspur.check("lark", 'start: "a"\nunused: "b"')]
    assert codes and all(d.severity == "warning" for d in larkspur.check("lark", 'start: "a"\nunused: "b"'))
    assert larkspur.check("json_schema", '{"type": "strin"}')[0].severity == "error"
    with pytest.raises(ValueError, match="lark, gbnf"):
        larkspur.check("yacc", "x")


def test_convert() -> None:
    text, notes = larkspur.convert("gbnf", 'root ::= "a" [0-9]+', "lark")
    assert "start" in text and isinstance(notes, list)
    assert accepts(Engine(Vocabulary.single_bytes()).lark(text), "a12")
    with pytest.raises(larkspur.GrammarError):
        larkspur.convert("lark", 'start: foo', "gbnf")


def test_a_matcher_step_by_step(engine: Engine) -> None:
    matcher = engine.regex("yes|no!?").matcher()
    assert [chr(token) for token in matcher.allowed_tokens()] == ["n", "y"]
    assert matcher.is_allowed(ord("y")) and not matcher.is_allowed(ord("x"))
    assert matcher.consume_token(ord("n")) == 0
    assert matcher.forced_bytes() == b"o"
    with pytest.raises(larkspur.TokenRejected) as caught:
        matcher.consume_token(ord("x"))
    assert (caught.value.token, caught.value.at_byte) == (ord("x"), 0)
    matcher.consume_token(ord("o"))
    assert matcher.is_accepting() and not matcher.is_stopped() and matcher.stop_reason() is None
    assert matcher.allowed_tokens() == [ord("!"), EOS]
    branch = matcher.fork()
    branch.consume_token(EOS)
    assert branch.stop_reason() == "end_of_sentence" and branch.allowed_tokens() == [EOS]
    assert matcher.text() == b"no" and matcher.step_count == 2
    matcher.rollback(2)
    assert matcher.text() == b"" and len(matcher.allowed_tokens()) == 2
    with pytest.raises(larkspur.RollbackTooFar):
        matcher.rollback(1)
    with pytest.raises(larkspur.UnknownToken):
        matcher.consume_token(999)
    matcher.consume_tokens(list(b"yes"))
    assert matcher.stop_reason() == "no_extension"
    matcher.reset()
    assert matcher.try_consume_tokens(list(b"nope")) == 2
    assert matcher.validate_tokens([ord("!"), ord("!")]) == 1
    with pytest.raises(larkspur.TextRejected) as rejected:
        matcher.consume_bytes(b"!?")
    assert rejected.value.at_byte == 1
    assert matcher.text() == b"no"


def test_wrong_types(engine: Engine) -> None:
    matcher = engine.regex("a").matcher()
    for wrong in ["a", None, 1.5]:
        with pytest.raises(TypeError):
            matcher.consume_token(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        matcher.consume_bytes("a")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Engine("gpt2")  # type: ignore[arg-type]
    assert matcher.step_count == 0


def test_limits() -> None:
    engine = Engine(Vocabulary.single_bytes(), limits={"text_bytes_max": 3})
    matcher = engine.regex("a*").matcher()
    matcher.consume_tokens(list(b"aaa"))
    with pytest.raises(larkspur.LimitExceeded) as caught:
        matcher.consume_token(ord("a"))
    assert (caught.value.limit, caught.value.value) == ("text_bytes_max", 3)
    with pytest.raises(ValueError, match="text_bytes_max"):
        Engine(Vocabulary.single_bytes(), limits={"text": 3})
    with pytest.raises(ValueError, match="slice"):
        Engine(Vocabulary.single_bytes(), slices=["["])
    with pytest.raises(ValueError, match="65 slices"):
        Engine(Vocabulary.single_bytes(), slices=["a"] * 65)


def test_limits_too_small_for_the_default_slices() -> None:
    few = {"expressions_max": 10}
    with pytest.raises(ValueError, match="expressions_max"):
        Engine(Vocabulary.single_bytes(), limits=few)
    assert {found.code for found in larkspur.check("lark", 'start: "a"', limits=few)} <= {"B002"}


def test_captures_and_backtracking(words: Engine) -> None:
    grammar = words.lark('%llguidance {}\nstart: w "b"?\nw[capture, suffix="c"]: /a+b?/')
    matcher = grammar.matcher(backtracking=True)
    matcher.consume_bytes(b"abc")
    assert matcher.capture("w") == b"ab"
    assert matcher.captures() == [("w", b"ab")]
    assert matcher.capture("v") is None


def test_token_budgets(engine: Engine) -> None:
    matcher = engine.regex("a*").matcher(max_tokens=2)
    assert matcher.tokens_left == 2
    matcher.consume_tokens(list(b"aa"))
    assert matcher.stop_reason() == "max_tokens"
    listed = json.dumps({"grammars": [{"lark_grammar": "start: /a*/"}], "max_tokens": 1})
    assert engine.compile("list", listed).max_tokens == 1


def test_forced_tokens_and_healing(words: Engine) -> None:
    matcher = words.lark('start: "abc1"').matcher()
    assert matcher.forced_tokens() == [3, 5]
    # The prompt ends with `a`, which goes on as `ab`.
    matcher = words.lark('start: "bc"').matcher()
    assert matcher.process_prompt([5, 0]) == [5, 3]


def test_copies(engine: Engine) -> None:
    matcher = engine.regex("ab*").matcher()
    matcher.consume_token(ord("a"))
    for other in (copy.copy(matcher), copy.deepcopy(matcher), matcher.fork()):
        other.consume_token(ord("b"))
        assert other.text() == b"ab"
    assert matcher.text() == b"a"


def test_a_second_thread_gets_an_exception(engine: Engine) -> None:
    """Two threads on one matcher: each call is done, or refused with `RuntimeError`; nothing is lost."""
    matcher = engine.regex("a*").matcher()
    done, refused = [0, 0], [0, 0]

    def work(which: int) -> None:
        for _ in range(2000):
            try:
                matcher.consume_token(ord("a"))
                done[which] += 1
            except RuntimeError as error:
                assert "another thread" in str(error)
                refused[which] += 1

    threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) + sum(refused) == 4000
    assert len(matcher.text()) == sum(done)


def test_threads_share_a_grammar(engine: Engine) -> None:
    grammar = engine.json_schema({"type": "array", "items": {"type": "integer"}})
    alone = masks_along(grammar.matcher(), b"[1,22, 333]")
    results: list[list[bytes]] = []
    threads = [
        threading.Thread(target=lambda: results.append(masks_along(grammar.matcher(), b"[1,22, 333]")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone] * 8


def masks_along(matcher: Matcher, text: bytes) -> list[bytes]:
    masks = []
    for byte in text:
        masks.append(matcher.compute_mask())
        matcher.consume_token(byte)
    return masks


def test_equal_ids_are_equal_masks(engine: Engine) -> None:
    grammar = engine.json_schema({"type": "array", "items": {"type": "boolean"}})
    masks: dict[MaskId, bytes] = {}
    for text in [b"[true, false, true]", b"[true, true]"]:
        matcher = grammar.matcher()
        for byte in text:
            mask_id = matcher.compute_mask_id()
            mask = matcher.compute_mask()
            assert matcher.mask_by_id(mask_id) == mask == masks.setdefault(mask_id, mask)
            matcher.consume_token(byte)
    assert 3 < len(masks) < len(b"[true, false, true]")
    other = engine.regex("a").matcher()
    assert all(other.mask_by_id(mask_id) is None for mask_id in masks)


def test_the_two_forms_of_a_mask(engine: Engine) -> None:
    matcher = engine.regex("[b-d]").matcher()
    mask, bias = matcher.compute_mask(), matcher.compute_bias()
    assert len(mask) == 9 * 4 and len(bias) == 257
    allowed = [token for token in range(257) if mask[token // 8] >> token % 8 & 1]
    assert allowed == [token for token in range(257) if bias[token]] == list(b"bcd")
    assert set(bias) == {0, 200}


def test_save_and_load(engine: Engine) -> None:
    schema = {"type": "array", "items": {"enum": [1, "b"]}, "uniqueItems": True}
    grammar = engine.json_schema(schema)
    data = grammar.save()
    assert isinstance(data, bytes)
    assert data.startswith(b"LARKSPUR")
    other = Engine(Vocabulary.single_bytes())
    loaded = other.load(data)
    assert loaded.save() == data
    assert loaded.dump_cfg() == grammar.dump_cfg()
    assert accepts(loaded, '["b",1]') or accepts(loaded, '["b", 1]')
    for text in ["[1, 1]", "[1,1]", "[2]", "["]:
        assert not accepts(loaded, text)
    one, two = grammar.matcher(), loaded.matcher()
    while not one.is_stopped:
        allowed = one.allowed_tokens()
        assert two.allowed_tokens() == allowed
        one.consume_token(allowed[-1])
        two.consume_token(allowed[-1])
    assert two.is_stopped


def test_saved_warnings(engine: Engine) -> None:
    grammar = engine.lark('start: "a" | B\nB: /b/ & /c/')
    assert grammar.warnings
    loaded = engine.load(grammar.save())
    assert [warning.rendered for warning in loaded.warnings] == [warning.rendered for warning in grammar.warnings]


def test_load_errors(engine: Engine) -> None:
    data = engine.lark('start: <eos> "a"').save()
    larger = Engine(Vocabulary.from_tokens(((byte, bytes([byte])) for byte in range(256)), [(300, "<eos>")], [300]))
    cases = [
        (engine, b"", "F021"),
        (engine, b"LARKSPUR" + bytes([255, 0, 0, 0]) + data[12:], "F022"),
        (engine, data[:-1], "F023"),
        (larger, data, "F024"),
    ]
    for at, given, code in cases:
        with pytest.raises(larkspur.SavedGrammarError) as error:
            at.load(given)
        assert error.value.code == code
    text_only = engine.lark('start: "a"').save()
    assert accepts(larger.load(text_only), "a")
