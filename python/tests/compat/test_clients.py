"""The calls that servers make of llguidance, in small loops of our own, over a model that takes a random allowed token.

What vLLM 0.33, SGLang 0.5.23, TensorRT-LLM and Outlines 1.3 call, in their order; with numpy's masks, and with torch's in
the long run.
"""

import json
import random
import re

import pytest

np = pytest.importorskip("numpy")

import llguidance  # noqa: E402
from llguidance import LLExecutor, LLMatcher, LLTokenizer, StructTag, TokenizerWrapper, grammar_from  # noqa: E402

EOS = 0
TOKENS = [b"<eos>", b"<tool>", b"\xff<|call|>", *(bytes([byte]) for byte in range(32, 127)), b"\n", "é".encode(),
          b'{"', b'":', b'": ', b'"}', b'",', b"true", b"false", b"null", b"12", b"ab", b"abc", b"the ", b"</"]  # fmt: skip


class Tokenizer:
    eos_token_id = EOS
    bos_token_id = None
    tokens = TOKENS
    special_token_ids = [0, 1]

    def __call__(self, text):
        """The longest token at each place."""
        text, tokens = text if isinstance(text, bytes) else text.encode(), []
        while text:
            token = max((t for t in range(3, len(TOKENS)) if text.startswith(TOKENS[t])), key=lambda t: len(TOKENS[t]))
            tokens.append(token)
            text = text[len(TOKENS[token]) :]
        return tokens


@pytest.fixture(scope="module")
def tokenizer():
    return LLTokenizer(TokenizerWrapper(Tokenizer()))


@pytest.fixture(params=["numpy", pytest.param("torch", marks=pytest.mark.long)])
def masks(request):
    """The module of helpers for a library."""
    if request.param == "torch":
        pytest.importorskip("torch")
        import llguidance.torch

        return llguidance.torch
    import llguidance.numpy

    return llguidance.numpy


def as_array(bitmask):
    return bitmask if isinstance(bitmask, np.ndarray) else bitmask.numpy()


def is_allowed(row, token):
    return bool(int(as_array(row)[token // 32]) >> token % 32 & 1)


def allowed(row):
    return [token for token in range(len(TOKENS)) if is_allowed(row, token)]


def text_of(tokens):
    return b"".join(TOKENS[token].removeprefix(b"\xff") for token in tokens if token != EOS).decode()


SCHEMA = {
    "type": "object",
    "properties": {
        "on": {"type": "boolean"},
        "count": {"type": "integer", "minimum": 0, "maximum": 150},
        "words": {"type": "array", "items": {"enum": ["ab", "abc", "the "]}, "maxItems": 3},
    },
    "required": ["on", "count", "words"],
    "additionalProperties": False,
}


def is_person(text):
    value = json.loads(text)
    assert list(value) == ["on", "count", "words"]
    assert 0 <= value["count"] <= 150 and len(value["words"]) <= 3


def is_tagged(text):
    free, *calls = re.split(r'<tool>f\((.*?)\)</tool>', text)
    for call in calls[::2]:
        assert isinstance(json.loads(call)["q"], int)


REQUESTS = {
    "json": (lambda: LLMatcher.grammar_from_json_schema(SCHEMA, defaults={"whitespace_flexible": False}), is_person),
    "json text": (
        lambda: LLMatcher.grammar_from_json_schema(
            json.dumps(SCHEMA), defaults={"whitespace_flexible": True, "whitespace_pattern": r"[ \n]{0,2}"}
        ),
        is_person,
    ),
    "json object": (
        lambda: LLMatcher.grammar_from_json_schema(
            '{"type": "object", "maxProperties": 1, "additionalProperties": {"type": "boolean"}}',
            defaults={"whitespace_flexible": False},
        ),
        lambda text: json.loads(text),
    ),
    "regex": (lambda: grammar_from("regex", r"\d{1,3}(,\d{3}){0,2}"), lambda text: re.fullmatch(r"\d{1,3}(,\d{3}){0,2}", text)[0]),
    "choice": (lambda: grammar_from("choice", json.dumps(["abc", "ab", "abcab"])), lambda text: ["abc", "ab", "abcab"].index(text)),
    "ebnf": (
        lambda: grammar_from("ebnf", 'root ::= pair ("," pair){0,3}\npair ::= [ab]{1,3} ":" ("1" | "12")'),
        lambda text: re.fullmatch(r"[ab]{1,3}:12?(,[ab]{1,3}:12?){0,3}", text)[0],
    ),
    "grammar": (lambda: grammar_from("grammar", 'start: "ab" start "c" | "12"'), lambda text: re.fullmatch("(ab)*12c*", text)[0]),
}  # fmt: skip


class VllmGrammar:
    """One request as vLLM's guidance backend holds it."""

    def __init__(self, tokenizer, grammar):
        assert LLMatcher.validate_grammar(grammar, tokenizer) == ""
        self.tokenizer = tokenizer
        self.matcher = LLMatcher(tokenizer, grammar, log_level=1)
        assert not self.matcher.get_error()
        self.terminated, self.rollback_lag = False, 0

    def accept_tokens(self, tokens):
        if self.tokenizer.eos_token in tokens:
            if self.matcher.is_stopped() and not self.terminated:
                self.rollback_lag = 1
            self.terminated = True
        return True if self.matcher.is_stopped() else self.matcher.consume_tokens(tokens)

    def validate_tokens(self, tokens):
        if not tokens or self.matcher.is_stopped():
            return []
        return tokens[: self.matcher.validate_tokens(tokens)]

    def rollback(self, count):
        if count > 0:
            assert self.matcher.rollback(count - self.rollback_lag), self.matcher.get_error()
            self.terminated, self.rollback_lag = False, 0


@pytest.mark.parametrize("name", REQUESTS)
def test_vllm(tokenizer, masks, name):
    """Speculative decoding: masks along a draft that is then rolled back, and the tokens that were sampled by them."""
    make, check = REQUESTS[name]
    for seed in range(12):
        rng = random.Random(seed)
        request = VllmGrammar(tokenizer, make())
        bitmask = masks.allocate_token_bitmask(4, tokenizer.vocab_size)
        assert tuple(bitmask.shape) == masks.get_bitmask_shape(4, tokenizer.vocab_size)
        output = []
        while not request.terminated:
            # A draft, of which what fits is scheduled; the masks are made while it is consumed, then it is taken back.
            draft = request.validate_tokens([rng.randrange(len(TOKENS)) for _ in range(2)] if rng.random() < 0.5 else [])
            sampled = []
            for row, token in enumerate([*draft, None]):
                masks.fill_next_token_bitmask(request.matcher, bitmask, row)
                sampled.append(rng.choice(allowed(bitmask[row])))
                if token is None or request.terminated:
                    break
                assert is_allowed(bitmask[row], token)
                assert request.accept_tokens([token])
            request.rollback(len(sampled) - 1)
            # As far as the samples agree with the draft.
            same = next((i for i, (a, b) in enumerate(zip(sampled, draft)) if a != b), len(draft))
            kept = sampled[: min(same + 1, len(sampled))]
            kept = kept[: kept.index(EOS) + 1] if EOS in kept else kept
            assert request.accept_tokens(kept), request.matcher.get_error()
            output += kept
            assert len(output) < 2000
        check(text_of(output))
        masks.fill_next_token_bitmask(request.matcher, bitmask, 0)
        assert allowed(bitmask[0]) == [EOS]


def test_vllm_takes_back_the_end(tokenizer):
    """EOS that comes with the token before it is one to roll back, EOS that comes alone is not."""
    for batches in ([[TOKENS.index(b"ab"), EOS]], [[TOKENS.index(b"ab")], [EOS]]):
        request = VllmGrammar(tokenizer, grammar_from("choice", '["ab"]'))
        before = request.matcher.compute_bitmask()
        for tokens in batches:
            assert request.accept_tokens(tokens)
        assert request.terminated
        request.rollback(2)
        assert request.matcher.compute_bitmask() == before and not request.matcher.is_stopped()


@pytest.mark.parametrize("schema_is_serialised", [True, False])
def test_structural_tags(tokenizer, masks, schema_is_serialised):
    """vLLM hands over what `grammar_from_json_schema` made of the schema, SGLang the schema."""
    schema = {"type": "object", "properties": {"q": {"type": "integer", "maximum": 99}}, "required": ["q"], "additionalProperties": False}
    grammar = LLMatcher.grammar_from_json_schema(schema, defaults={"whitespace_flexible": False}) if schema_is_serialised else schema
    tags = [
        StructTag(trigger="<tool>", begin="<tool>f(", grammar=grammar, end=")</"),
        StructTag(trigger="<|call|>", begin="<|call|>", grammar=grammar, end=""),
    ]
    text = StructTag.to_grammar(tags)
    assert LLMatcher.validate_grammar(text, tokenizer) == ""
    matcher = LLMatcher(tokenizer, text)
    begin = Tokenizer()("the ab") + [1] + Tokenizer()("f(")
    assert matcher.consume_tokens(begin), matcher.get_error()
    wrong = matcher.deep_copy()
    assert wrong.validate_tokens(Tokenizer()('{"r":12})')) <= 1
    assert matcher.consume_tokens(Tokenizer()('{"q":12})</the') + [2] + Tokenizer()('{"q":1}')), matcher.get_error()
    assert matcher.is_accepting()
    bitmask = masks.allocate_token_bitmask(1, tokenizer.vocab_size)
    masks.fill_next_token_bitmask(matcher, bitmask)
    assert is_allowed(bitmask[0], EOS) and is_allowed(bitmask[0], 1) and is_allowed(bitmask[0], TOKENS.index(b"ab"))


def test_sglang(tokenizer, masks):
    """A batch of copies of compiled templates, masks in parallel, drafts, one EOS behind the end that is not counted."""
    executor = LLExecutor()
    templates = {}
    for name, (make, _) in REQUESTS.items():
        templates[name] = LLMatcher(tokenizer, make(), log_level=0)
        assert not templates[name].is_error()
    names = [name for name in REQUESTS for _ in range(3)]
    matchers = [templates[name].deep_copy() for name in names]
    outputs = [[] for _ in names]
    finished = [False] * len(names)
    rng = random.Random(5)
    bitmask = masks.allocate_token_bitmask(4 * len(names), tokenizer.vocab_size)
    for _ in range(400):
        open_rows = [row for row, is_finished in enumerate(finished) if not is_finished]
        if not open_rows:
            break
        bitmask[:] = -1
        if rng.random() < 0.5:
            masks.fill_next_token_bitmask_par(executor, [(matchers[row], row) for row in open_rows], bitmask)
            rows = {row: row for row in open_rows}
        else:
            drafts = {row: [rng.randrange(len(TOKENS)) for _ in range(3)] for row in open_rows}
            batch = [(matchers[row], 4 * row, drafts[row]) for row in open_rows]
            masks.fill_next_token_bitmask_par_with_draft_tokens(executor, batch, bitmask)
            rows = {row: 4 * row for row in open_rows}
            for row, draft in drafts.items():
                fits = matchers[row].validate_tokens(draft)
                # As the caller had them: everything is allowed.
                for untouched in range(fits + 1, 4):
                    assert (as_array(bitmask)[4 * row + untouched] == -1).all()
        batch = []
        for row in open_rows:
            token = rng.choice(allowed(bitmask[rows[row]]))
            outputs[row].append(token)
            if matchers[row].is_stopped() and token in tokenizer.eos_tokens:
                finished[row] = True
            else:
                batch.append((matchers[row], token))
                finished[row] = token == EOS
        if batch:
            assert all(masks.consume_token_par(executor, batch))
        for row in open_rows:
            forced = matchers[row].compute_ff_tokens()
            assert matchers[row].validate_tokens(forced) == len(forced)
    assert all(finished)
    for name, output in zip(names, outputs):
        REQUESTS[name][1](text_of(output))
    assert all(template.rollback(0) and not template.is_stopped() for template in templates.values())


def test_tensorrt_llm(tokenizer, masks):
    """Tokens one by one by `try_consume_tokens`, rollback, and a matcher that stays sound when a token is refused."""
    schema = LLMatcher.grammar_from_json_schema(json.dumps(SCHEMA))
    for grammar in (schema, LLMatcher.grammar_from_regex("[ab]{2}c"), LLMatcher.grammar_from_lark('start: "ab" /c+/')):
        matcher = LLMatcher(tokenizer, grammar)
        bitmask = masks.allocate_token_bitmask(1, tokenizer.vocab_size)
        rng = random.Random(3)
        taken = []
        while not matcher.is_stopped() and len(taken) < 60:
            masks.fill_next_token_bitmask(matcher, bitmask, 0)
            here = allowed(bitmask[0])
            refused = next((token for token in range(len(TOKENS)) if token not in here), None)
            assert refused is None or matcher.try_consume_tokens([refused]) == 0
            assert not matcher.is_error()
            token = rng.choice(here)
            assert matcher.try_consume_tokens([token]) == 1
            taken.append(token)
        count = len(taken)
        assert matcher.rollback(count) and not matcher.is_error()
        assert matcher.try_consume_tokens(taken) == count


def test_outlines(tokenizer, masks):
    """Logits of a batch, row by row, with the matchers made when the batch is known."""
    matchers = [LLMatcher(tokenizer, grammar_from("regex", "[ab]+c")) for _ in range(2)]
    bitmask = masks.allocate_token_bitmask(2, tokenizer.vocab_size)
    vocab_size = tokenizer.vocab_size + 40
    logits = np.random.default_rng(1).random((2, vocab_size), dtype=np.float32)
    if masks.__name__.endswith("torch"):
        import torch

        logits = torch.from_numpy(logits)
    for index, matcher in enumerate(matchers):
        masks.fill_next_token_bitmask(matcher, bitmask, index)
        masks.apply_token_bitmask_inplace(logits[index], bitmask[index])
    finite = np.isfinite(np.asarray(logits))
    expected = [text[:1] in (b"a", b"b") and set(text) <= set(b"abc") for text in TOKENS]
    assert finite[0].tolist() == expected + [False] * 40 and (finite[0] == finite[1]).all()
    with pytest.raises(ValueError):
        grammar_from("grammar", "start_of: what is no GBNF")


@pytest.mark.parametrize("wrong", ["dtype", "dimensions", "batch", "width"])
def test_helpers_check_their_arguments(tokenizer, masks, wrong):
    matcher = LLMatcher(tokenizer, 'start: "ab"')
    executor = LLExecutor()
    bitmask = masks.allocate_token_bitmask(2, tokenizer.vocab_size)
    if wrong == "batch":
        with pytest.raises(AssertionError, match="Batch"):
            masks.apply_token_bitmask_inplace(bitmask[:, :] * 1.0, bitmask[:1])
        return
    if wrong == "width":
        narrow = masks.allocate_token_bitmask(2, 32)
        with pytest.raises(ValueError, match="buffer size"):
            masks.fill_next_token_bitmask(matcher, narrow)
        with pytest.raises(ValueError, match="buffer size"):
            masks.fill_next_token_bitmask_par(executor, [(matcher, 0)], narrow)
        with pytest.raises(ValueError, match="out of bounds"):
            masks.fill_next_token_bitmask_par(executor, [(matcher, 2)], bitmask)
        with pytest.raises(ValueError, match="out of bounds"):
            masks.fill_next_token_bitmask_par_with_draft_tokens(executor, [(matcher, 1, [3, 4])], bitmask)
        return
    changed = bitmask * 1.0 if wrong == "dtype" else bitmask[0]
    for call in (
        lambda: masks.fill_next_token_bitmask(matcher, changed),
        lambda: masks.fill_next_token_bitmask_par(executor, [(matcher, 0)], changed),
        lambda: masks.fill_next_token_bitmask_par_with_draft_tokens(executor, [(matcher, 0, [3])], changed),
    ):
        with pytest.raises(AssertionError, match="Mask must be"):
            call()


def test_deprecated_compilers(tokenizer):
    """What MLX's tools still call."""
    compiler = llguidance.JsonCompiler(separators=(",", ":"), whitespace_pattern="[ ]?")
    matcher = LLMatcher(tokenizer, compiler.compile(json.dumps(SCHEMA)))
    assert matcher.consume_tokens(Tokenizer()('{"on":true,"count": 12,"words":[]}')), matcher.get_error()
    assert LLMatcher(tokenizer, llguidance.LarkCompiler().compile('start: "ab"')).compute_ff_bytes() == b"ab"
    assert LLMatcher(tokenizer, llguidance.RegexCompiler().compile("ab?c")).consume_tokens(Tokenizer()("ac"))


def test_mlx_masks(tokenizer):
    mx = pytest.importorskip("mlx.core")
    import llguidance.mlx

    bitmask = llguidance.mlx.allocate_token_bitmask(1, tokenizer.vocab_size)
    llguidance.mlx.fill_next_token_bitmask(LLMatcher(tokenizer, 'start: "ab"'), bitmask)
    logits = mx.zeros((1, tokenizer.vocab_size + 40))
    applied = np.array(llguidance.mlx.apply_token_bitmask(logits, bitmask))
    assert np.flatnonzero(np.isfinite(applied[0])).tolist() == [TOKENS.index(b"a"), TOKENS.index(b"ab")]
