"""Exceptions: copies and pickles of them, and what is said of arguments that are none."""

from __future__ import annotations

import copy
import ctypes
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

import larkspur
from larkspur import Diagnostic, Engine, GrammarError, Matcher, UnknownToken, Vocabulary
from larkspur.compat.llguidance.gbnf_to_lark import any_to_lark, gbnf_to_lark
from larkspur.kbnf import AcceptTokenError, InvalidLogitsLength


def caught(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as found:
        call()
    return found.value


def errors(engine: Engine, words: Engine) -> list[Exception]:
    """One of each class, as it is raised."""
    matcher = engine.regex("ab").matcher()
    ended = engine.regex("a").matcher()
    ended.consume_tokens([97, 256])
    stuck = words.lark('start: "x"').matcher()
    narrow = Engine(Vocabulary.single_bytes(), limits={"lexer_states_max": 4})
    errors = [
        caught(lambda: engine.lark("start: gret\ngreet: B\nWARNED: /a/")),
        caught(lambda: engine.load(b"no grammar")),
        caught(lambda: matcher.consume_token(98)),
        caught(lambda: matcher.consume_bytes(b"ax")),
        caught(lambda: matcher.consume_token(1000)),
        caught(lambda: matcher.consume_token(-1)),
        caught(lambda: ended.consume_token(97)),
        caught(lambda: matcher.rollback(3)),
        caught(stuck.compute_mask),
        caught(lambda: larkspur.fill([stuck], larkspur.allocate(1, words.vocabulary))),
        caught(lambda: narrow.regex("abcdefghij").matcher().consume_bytes(b"abcdefghij")),
        caught(lambda: Vocabulary.from_tokens([(0, b"a")], [], [3])),
        AcceptTokenError("Rejected"),
        InvalidLogitsLength("3 logits for 4 tokens"),
        caught(lambda: gbnf_to_lark('root ::= "a')),
        caught(lambda: any_to_lark('root ::= "a')),
    ]
    classes = {type(error) for error in errors}
    raised = {value for value in vars(larkspur.errors).values() if isinstance(value, type)}
    missing = {each for each in raised if issubclass(each, larkspur.LarkspurError)} - classes
    assert missing == {larkspur.LarkspurError, larkspur.MatcherError}
    return errors


def attributes(error: BaseException) -> dict[str, Any]:
    # Those of a batch hold exceptions themselves, and a place has a text.
    return {name: str(value) for name, value in vars(error).items()} | {"args": error.args, "text": str(error)}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(engine: Engine, words: Engine, protocol: int) -> None:
    for error in errors(engine, words):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error)
        assert attributes(again) == attributes(error)


def test_copies(engine: Engine, words: Engine) -> None:
    for error in errors(engine, words):
        for again in (copy.copy(error), copy.deepcopy(error)):
            assert type(again) is type(error) and again is not error
            assert attributes(again) == attributes(error)


def test_what_was_noted_stays(engine: Engine) -> None:
    error = caught(lambda: engine.lark("start: b"))
    error.place = "here"  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(error))
    assert again.place == "here" and isinstance(again, GrammarError)
    assert (again.code, again.span, again.message) == ("L040", (7, 8), "rule `b` is used but never defined")
    assert again.rendered == error.rendered  # type: ignore[attr-defined]


def test_diagnostics_are_values(engine: Engine) -> None:
    found = larkspur.check("lark", "start: gret WS\ngreet: B\n%import common.WS")
    assert len(found) > 1
    for diagnostic in found:
        for again in (copy.copy(diagnostic), copy.deepcopy(diagnostic), pickle.loads(pickle.dumps(diagnostic))):
            assert isinstance(again, Diagnostic)
            assert again == diagnostic and hash(again) == hash(diagnostic)
            for name in ("code", "severity", "message", "source", "span", "line", "column", "help", "rendered", "summary"):
                assert getattr(again, name) == getattr(diagnostic, name)
    assert found[0] != found[1] and found[0] != "a text"
    with pytest.raises(ValueError, match="severity"):
        Diagnostic("L001", "bad", "", None, None, None, None, None, "", "")


def refuse(token: int) -> None:
    Engine(Vocabulary.single_bytes()).regex("a").matcher().consume_token(token)


def test_errors_leave_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rejected, unknown = (pool.submit(refuse, token).exception() for token in (98, 300))
        assert isinstance(rejected, larkspur.TokenRejected) and (rejected.token, rejected.at_byte) == (98, 0)
        assert isinstance(unknown, UnknownToken) and unknown.token == 300
        # The pool is whole.
        assert pool.submit(refuse, 97).exception() is None


def test_choices_are_texts(engine: Engine) -> None:
    for texts, shown in [([["a"]], "list"), ([1], "int"), ([None], "NoneType"), ([{}], "dict"), (["a", b"b"], "bytes")]:
        with pytest.raises(TypeError, match=rf"texts \(str\), not of {shown}"):
            engine.choice(texts)  # type: ignore[arg-type]
    assert engine.choice(text for text in ("yes", "no")).matcher().allowed_tokens() == [110, 121]


@pytest.mark.parametrize("token", [-1, -(2**70), 2**32, 2**70])
def test_ids_that_are_none(engine: Engine, token: int) -> None:
    matcher = engine.regex("a").matcher()
    vocabulary = engine.vocabulary
    executor = larkspur.Executor(1)
    table = larkspur.allocate(2, vocabulary)
    calls: list[Callable[[], object]] = [
        lambda: matcher.consume_token(token),
        lambda: matcher.consume_tokens([97, token]),
        lambda: matcher.try_consume_tokens([token]),
        lambda: matcher.validate_tokens([97, token]),
        lambda: matcher.is_allowed(token),
        lambda: matcher.process_prompt([token]),
        lambda: executor.consume_tokens([(matcher, token)]),
        lambda: larkspur.fill_drafts([matcher], [[token]], table),
        lambda: vocabulary.token_bytes(token),
        lambda: vocabulary.special_name(token),
        lambda: vocabulary.display(token),
        lambda: vocabulary.decode([token]),
    ]
    for call in calls:
        with pytest.raises(UnknownToken, match=f"no token {token}: ids are from 0") as found:
            call()
        assert found.value.token == token
    assert matcher.step_count == 0
    makers: list[Callable[[], object]] = [
        lambda: vocabulary.with_eos([token]),
        lambda: Vocabulary.from_tokens([(token, b"a")], [], []),
        lambda: Vocabulary.from_tokens([], [(token, "<eos>")], []),
        lambda: Engine.from_tokenizer([b"a", b"b"], eos=token),
    ]
    for make in makers:
        with pytest.raises(larkspur.VocabularyError):
            make()


def test_numbers_out_of_range(engine: Engine) -> None:
    grammar = engine.regex("a")
    matcher = grammar.matcher()
    table = bytearray(64)
    address, row_bytes = ctypes.addressof(ctypes.c_char.from_buffer(table)), 64
    tag = larkspur.Tag("<a>", "</a>")
    calls: dict[str, list[Callable[[int], object]]] = {
        "tokens": [matcher.rollback],
        "max_tokens": [lambda value: grammar.matcher(max_tokens=value)],
        "limit \"repeat_max\"": [
            lambda value: Engine(Vocabulary.single_bytes(), limits={"repeat_max": value}),
            lambda value: larkspur.check("regex", "a", limits={"repeat_max": value}),
        ],
        "threads": [larkspur.Executor],
        "row": [
            lambda value: larkspur.Executor(1).fill_masks_at([(matcher, value)], address, row_bytes, 1),
            lambda value: larkspur.Executor(1).fill_draft_masks_at([(matcher, value, [97])], address, row_bytes, 1),
        ],
        "at_least": [lambda value: engine.structural_tags([tag], at_least=value)],
        "at_most": [lambda value: engine.structural_tags([tag], at_most=value)],
    }
    for name, asked in calls.items():
        for call in asked:
            for value in (-1, 2**64):
                with pytest.raises(ValueError, match=f"^{name} is {value}; from [01] to [0-9]+ are possible"):
                    call(value)
            with pytest.raises(TypeError):
                call("1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at_least is 65535; from 0 to 255 are possible"):
        engine.structural_tags([tag], at_least=65_535)
    with pytest.raises(larkspur.RollbackTooFar):
        matcher.rollback(2**63)


def test_what_is_no_integer_is_no_id(engine: Engine) -> None:
    matcher: Matcher = engine.regex("a").matcher()
    for token in ("a", 1.5, None):
        with pytest.raises(TypeError):
            matcher.consume_token(token)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "text"), [("gbnf", 'root ::= "a"'), ("kbnf", 'start ::= "a";'), ("regex", "a"), ("json_schema", "{}")]
)
def test_lexer_modes_are_for_lark(engine: Engine, kind: str, text: str) -> None:
    for call in (engine.compile, larkspur.check):
        with pytest.raises(ValueError, match='always read with lexer="exact"'):
            call(kind, text, lexer="longest")
    assert engine.compile(kind, text, lexer="exact").lexer_mode == "exact"


def test_schemas_with_halves_of_surrogate_pairs(engine: Engine) -> None:
    text = caught(lambda: engine.json_schema('{"const": "\\ud800é"}'))
    value = caught(lambda: engine.json_schema({"const": "\ud800é"}))
    assert isinstance(value, GrammarError) and value.code == "N009"
    assert str(value) == str(text)
    engine.json_schema({"const": "\ud83d\ude00"})


def test_one_text_for_a_list(engine: Engine) -> None:
    tag = larkspur.Tag("<a>", "</a>", regex="a")
    for call, message in [
        (lambda: engine.choice("abc"), r"write \['abc'\] for one"),
        (lambda: engine.structural_tags([tag], triggers="<"), r"triggers is a list of texts; write \['<'\] for one"),
        (lambda: engine.structural_tags([tag], excludes="x"), "excludes is a list"),
        (lambda: engine.structural_tags([("a", "b")]), "larkspur.Tag, not of tuple"),  # type: ignore[list-item]
        (lambda: engine.structural_tags(tag), r"write \[tag\] for one"),  # type: ignore[arg-type]
        (lambda: engine.structural_tags([larkspur.Tag(5, "")]), "not with int"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(TypeError, match=message):
            call()


def test_arguments_are_named(engine: Engine) -> None:
    for options in ({"draft": 7}, {"name": 7}, {"start": 7}, {"lexer": 7}, {"import_path": 7}):
        with pytest.raises(TypeError, match=next(iter(options))):
            engine.compile("json_schema", "true", **options)
    for kind, meant in [("json", "json_schema"), ("ebnf", "gbnf"), ("regexp", "regex"), ("llguidance", "list")]:
        with pytest.raises(ValueError, match=f'did you mean "{meant}"'):
            larkspur.check(kind, "true")
    for size in (-1, 2**70):
        for call in (
            lambda: Vocabulary.single_bytes().with_eos([256], size=size),
            lambda: Vocabulary.from_tokens([(0, b"a")], [], [], size=size),
            lambda: Engine.from_tokenizer("bytes", size=size),
        ):
            with pytest.raises(ValueError, match=f"size is {size}"):
                call()


def test_no_tokens() -> None:
    with pytest.raises(larkspur.VocabularyError, match="empty"):
        Engine.from_tokenizer([])
    assert not larkspur.Tokenizer.supports([])


def test_the_tag_that_is_wrong(engine: Engine) -> None:
    tags = [larkspur.Tag("<a>", "</a>", regex="a"), larkspur.Tag("[b]", "[/b]", regex="b")]
    with pytest.raises(GrammarError) as found:
        engine.structural_tags(tags, triggers=["<"])
    (diagnostic,) = found.value.diagnostics
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("F007", 2, 1)
    assert '"[b]"' in diagnostic.rendered and '"<a>"' not in diagnostic.rendered
