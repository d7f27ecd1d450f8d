"""What goes wrong beside what `scenarios.py` asks of both: hostile vocabularies, threads, matchers in an error state."""

import ctypes
import sys
import threading

import pytest

import larkspur
import llguidance
from llguidance import LLExecutor, LLInterpreter, LLMatcher, LLTokenizer, TokenizerWrapper


@pytest.fixture
def tokenizer():
    return LLTokenizer("byte")


def wrapper(tokens, eos=0, special=(0,), call=lambda text: []):
    class Tokenizer:
        eos_token_id = eos
        bos_token_id = None
        special_token_ids = list(special)

        def __call__(self, text):
            return call(text)

    Tokenizer.tokens = tokens
    return TokenizerWrapper(Tokenizer())


def test_vocabularies_that_are_none():
    for tokens, eos in [([], 0), ([b"a"], 7), ([b"a", "b"], 0), ([b"a", None], 0), (None, 0)]:
        with pytest.raises((ValueError, TypeError)):
            LLTokenizer(wrapper(tokens, eos))
    with pytest.raises(ValueError, match="too small"):
        LLTokenizer(wrapper([b"<eos>", b"a", b"b"]), n_vocab=2)
    with pytest.raises(ValueError, match="out of range"):
        LLTokenizer(wrapper([b"<eos>", b"a"]), eos_token=[0, 2])
    for size in (-1, 2**70):
        with pytest.raises(OverflowError):
            LLTokenizer("byte", n_vocab=size)
    with pytest.raises(TypeError):
        LLTokenizer("byte", n_vocab="x")


def test_a_padded_vocabulary():
    tokenizer = LLTokenizer("byte", n_vocab=1000, eos_token=[5, 261])
    assert (tokenizer.vocab_size, tokenizer.eos_tokens) == (1000, [5, 261])
    matcher = LLMatcher(tokenizer, "start: /a?/")
    assert len(matcher.compute_bitmask()) == 128 and len(matcher.compute_logit_bias()) == 1000
    assert [token for token, bias in enumerate(matcher.compute_logit_bias()) if bias] == [5, 97, 261]
    assert not matcher.consume_token(999) and "satisfy" in matcher.get_error()


@pytest.mark.parametrize("call", [lambda text: 1 / 0, lambda text: ["x"], lambda text: [10**6], lambda text: None])
def test_a_tokenizer_that_fails(call):
    """Then the longest token at each place stands for it."""
    tokenizer = LLTokenizer(wrapper([b"<eos>", b"a", b"b", b"ab"], call=call))
    assert tokenizer.tokenize_str("abb") == [3, 2]
    assert LLMatcher(tokenizer, 'start: "abb"').compute_ff_bytes() == b"abb"


def test_texts_without_tokens():
    tokenizer = LLTokenizer(wrapper([b"<eos>", b"a", b"ab"]))
    assert tokenizer.tokenize_str("abxa") == [2, 1] or tokenizer.tokenize_str("abxa") == [1, 1]
    assert tokenizer.tokenize_partial(b"xa") == ([], b"xa")
    matcher = LLMatcher(tokenizer, 'start: "x"')
    # Nothing can be written: an error, and the form that it has here.
    assert [token for token, bias in enumerate(matcher.compute_logit_bias()) if bias] == [0]
    assert matcher.is_error() and matcher.stop_reason() == "InternalError"


def test_an_error_stays(tokenizer):
    matcher = LLMatcher(tokenizer, 'start: x "!"\nx[capture]: /[a-z]+/', log_level=0)
    assert matcher.consume_tokens(list(b"ab")) and not matcher.consume_token(49)
    message = matcher.get_error()
    assert "<state>" in message and "⟦a‧b‧1⟧" in message and "<grammar>" in message
    for _ in range(2):
        assert not matcher.rollback(1) and not matcher.reset() and not matcher.consume_token(97)
        assert matcher.compute_bitmask()[261 // 8] == 1 << 261 % 8
        assert (matcher.get_captures(), matcher.get_capture("x"), matcher.is_accepting()) == ([], None, False)
    assert matcher.get_error() == message
    executor = LLExecutor(2)
    assert executor.consume_token_par([(matcher, 97)]) == [False]


def test_short_errors(tokenizer):
    limits = llguidance.LLParserLimits(verbose_errors=False)
    matcher = LLMatcher(tokenizer, 'start: "secret"', log_level=0, limits=limits)
    assert not matcher.consume_token(97)
    assert "secret" not in matcher.get_error() and "<non-verbose/>" in matcher.get_error()


def test_warnings_are_logged(tokenizer, caplog):
    LLMatcher(tokenizer, 'start: "a"', log_level=0).consume_token(98)
    assert not caplog.records
    LLMatcher(tokenizer, 'start: "a"').consume_token(98)
    assert [record.name for record in caplog.records] == ["llguidance"]


def test_two_threads_on_one_matcher(tokenizer):
    """One of two calls at the same time raises; the matcher is sound afterwards."""
    matcher = LLMatcher(tokenizer, 'start: /(a|b|[c-x]+y)*/ %json {"type": "array"}')
    refused = []
    stop = threading.Event()

    def work():
        while not stop.is_set():
            try:
                if not matcher.consume_token(97) or not matcher.rollback(1):
                    refused.append(AssertionError(matcher.get_error()))
                    return
            except RuntimeError as error:
                refused.append(error)

    before = matcher.compute_bitmask()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        stop.wait(0.5)
        stop.set()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()
    finally:
        sys.setswitchinterval(interval)
    assert all(isinstance(error, (RuntimeError, AssertionError)) for error in refused)
    assert len(matcher.compute_bitmask()) == len(before)


def test_one_matcher_after_another_in_threads(tokenizer):
    """Matchers of one grammar in threads of their own."""
    results = []

    def work():
        matcher = LLMatcher(tokenizer, 'start: "ab"{3} %json {"type": "integer"}')
        for token in b"ababab-12":
            assert matcher.compute_logit_bias()[token] == 200
            assert matcher.consume_token(token)
        results.append(matcher.is_accepting())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert results == [True] * 8


def test_a_batch_checks_before_it_writes(tokenizer):
    executor = LLExecutor(2)
    matcher, other = (LLMatcher(tokenizer, "start: /a/") for _ in range(2))
    buffer = (ctypes.c_uint32 * 27)(*[7] * 27)
    address = ctypes.addressof(buffer)
    for batch, error in [
        ([(matcher, 0), (other, 3)], ValueError),
        ([(matcher, 0), (matcher, 1)], RuntimeError),
        ([(matcher, 0), (other, 0)], ValueError),
        ([(matcher, 0), (other, -1)], OverflowError),
        ([(matcher, 0), (other, "x")], TypeError),
        ([(matcher, 0), (other,)], ValueError),
        ([(matcher, 0), [other, 1]], TypeError),
    ]:
        with pytest.raises(error):
            executor.unsafe_compute_mask_ptr(batch, address, 36, 3)
    for draft in ([(matcher, 0, [97]), (other, 1, [97])], [(matcher, 2, [97])], [(matcher, 0, [-1])], [(matcher, 0, 5)]):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            executor.unsafe_compute_mask_ptr_with_draft_token(draft, address, 36, 3)
    assert list(buffer) == [7] * 27
    assert not matcher.is_error() and not other.is_error()


def test_an_interpreter_refuses(tokenizer):
    interpreter = LLInterpreter(tokenizer, 'start: "a" | "b"', log_level=0)
    interpreter.start_without_prompt()
    for again in (interpreter.start_without_prompt, lambda: interpreter.process_prompt([])):
        with pytest.raises(ValueError, match="started"):
            again()
    with pytest.raises(ValueError, match="too short|buffer size"):
        interpreter.compute_mask_into(bytearray(35))
    with pytest.raises(TypeError):
        interpreter.compute_mask_into(b"x" * 36)
    interpreter.compute_mask()
    with pytest.raises(ValueError, match="sampled_token is required"):
        interpreter.commit_token(None)
    with pytest.raises(ValueError, match="satisfy"):
        interpreter.commit_token(99)
    assert interpreter.stop_reason() == "ParserTooComplex"
    for call in (interpreter.compute_mask, lambda: interpreter.commit_token(97)):
        with pytest.raises(ValueError, match="error state"):
            call()
    done = LLInterpreter(tokenizer, 'start: "a"')
    done.process_prompt([])
    assert done.compute_mask()[0] is None
    assert done.commit_token(None) == (0, [])
    with pytest.raises(ValueError, match="after stop"):
        done.compute_mask()


def test_masks_into_memory(tokenizer):
    """The three ways to get an interpreter's mask give the same one."""
    interpreters = [LLInterpreter(tokenizer, "start: /[ab]c?/") for _ in range(3)]
    for interpreter in interpreters:
        interpreter.start_without_prompt()
    bytewise, _ = interpreters[0].compute_mask()
    into = bytearray(b"\xff" * 40)
    interpreters[1].compute_mask_into(into)
    buffer = (ctypes.c_uint32 * 9)()
    interpreters[2].unsafe_compute_mask_ptr(ctypes.addressof(buffer), 36)
    expected = [97, 98]
    assert [token for token, byte in enumerate(bytewise) if byte] == expected
    for bits in (bytes(into[:36]), bytes(buffer)):
        assert [token for token in range(262) if bits[token // 8] >> token % 8 & 1] == expected
    assert into[36:] == b"\xff" * 4


def test_hostile_grammars_end(tokenizer):
    """Each meets a limit or is taken; none hangs."""
    texts = [
        "start: /a+/ \"ab\"",
        "start: " + "(" * 5000 + '"a"' + ")" * 5000,
        "start: " + '"a"?' * 3000,
        "start: /(a{1,1000}){1,1000}/",
        "start: start start | \"a\"",
        '%ignore "\\n"\nstart: "a" "\\n"',
        '{"grammars":' + "[" * 5000,
        "start: %json " + '{"items":' * 2000 + "{}" + "}" * 2000,
        "\0", "\ufeffstart: \"a\"", "start: \"\ud83d\"",
    ]  # fmt: skip
    for text in texts:
        matcher = LLMatcher(tokenizer, text, log_level=0)
        matcher.compute_ff_bytes()
        matcher.compute_bitmask()
        for token in b"aab":
            matcher.consume_token(token)
        assert isinstance(matcher.get_error(), str)


def test_error_classes_are_values():
    with pytest.raises(ValueError) as caught:
        llguidance.grammar_from("gbnf", 'root ::= "a" (')
    assert isinstance(caught.value.__cause__, larkspur.GrammarError)
    with pytest.raises(larkspur.VocabularyError):
        LLTokenizer("{}")
