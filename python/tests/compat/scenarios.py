"""What is asked of both llguidances: run as a program, it prints the answers of the one that is installed.

`python scenarios.py real` asks the package llguidance, `python scenarios.py ours` Larkspur in its place. The answers are
JSON: one object from a scenario's name to its answer.
"""

import ctypes
import json
import logging
import sys

GRAMMARS = {
    "literals": ('start: "yes" | "no" | "yesterday"', ["yes", "yesterday", "no"]),
    "optional": ('start: "ab" [ "c" ]', ["ab", "abc"]),
    "repetition": ('start: ("a" | "bc"){2,4} "."', ["abc.", "bcbcaa."]),
    "classes": ("start: /[0-9]{2,3}/ NAME\nNAME: /[a-z_]+/", ["12ab_", "999z"]),
    "unicode": ('start: "é" /[α-ω]+/ "😀"', ["éαβ😀"]),
    "recursion": ('start: "(" start ")" | "x"', ["((x))", "x"]),
    "left": ('start: start "+" N | N\nN: /[0-9]+/', ["1+23+4"]),
    "ignore": ('start: "if" NAME "then"\nNAME: /[a-z]+/\n%ignore / +/', ["if  foo then"]),
    "json": ('start: %json {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array","items":'
             '{"enum":["x","yy"]}}},"required":["a"],"additionalProperties":false,'
             '"x-guidance":{"whitespace_flexible":false}}', ['{"a":12,"b":["x","yy"]}', '{"a":-3}']),
    "nested": ("start: \"<\" inner \">\"\ninner: %lark {\n  start: /[a-z]+/ (\",\" /[a-z]+/)*\n}", ["<ab,c>"]),
    "not": ("start: A\nA: /[a-z]+/ & ~(\"no\" | \"none\")", ["nod", "yes"]),
    "lazy": ('start: head "x"\nhead[lazy]: /[a-z ]*!/', ["ab c!x"]),
    "suffix": ('start: head "x"\nhead[suffix="!"]: /[a-z ]*/', ["ab c!x"]),
    "special": ("start: <|tool|> /[a-z]+/ <|/tool|>", [[256, 97, 98, 257]]),
    "by id": ("start: <[256-258]> \"a\"? <[^256-261]>", [[258, 97, 98]]),
    "parametric": ("start: perm::0\nperm::_: \"\" %if is_ones([0:2])\n"
                   '  | "a" perm::set_bit(0) %if bit_clear(0)\n  | "b" perm::set_bit(1) %if bit_clear(1)', ["ab", "ba"]),
    "regex flags": ('start: /ab/i "c"i /x.y/s', ["aBCx\ny"]),
    "import": ("%import common (INT, WORD)\nstart: INT \"-\" WORD", ["12-ab"]),
    "special then text": ('start: <|tool|> "ab"? <|/tool|> /[x-z]/', [[256, 97, 98, 257, 120], [256, 257, 121]]),
    "count in rule": ('start: ab{2,3}\nab: "a" "b"?', ["abab", "aaa"]),
    "substring": ('start: "q:" S\nS: %regex {"substring_words": "the quick brown fox"}', ["q:quick brown"]),
}

SCHEMAS = {
    "scalars": ({"type": "object", "properties": {"n": {"type": "null"}, "b": {"type": "boolean"}}, "additionalProperties": False}, '{"n":null,"b":true}'),
    "enum": ({"enum": ["a", 1, None, [1]]}, "[1]"),
    "bounds": ({"type": "integer", "minimum": 3, "maximum": 120}, "117"),
    "lengths": ({"type": "string", "minLength": 2, "maxLength": 4}, '"abc"'),
    "pattern": ({"type": "string", "pattern": "^[a-c]+-[0-9]{2}$"}, '"abc-12"'),
    "array": ({"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3}, "[true,false]"),
    "tuple": ({"type": "array", "prefixItems": [{"const": 1}, {"const": "x"}], "items": False, "minItems": 2}, '[1,"x"]'),
    "anyOf": ({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "integer", "multipleOf": 5}]}, "15"),
    "refs": ({"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"k": {"$ref": "#/$defs/t"}},
              "additionalProperties": False}}}, '{"k":{"k":{}}}'),
    "date": ({"type": "string", "format": "date"}, '"2024-11-30"'),
    "uuid": ({"type": "string", "format": "uuid"}, '"01234567-89ab-cdef-0123-456789abcdef"'),
}

WRONG = [
    "", "start: foo", 'start: "a', "star: /a/", "start: /[/", 'start: ("a"', "start: <nope>", "start: @missing", "{}",
    '{"grammars":[]}', '{"grammars":[{}]}', "{bad", 'start: %json {"type":"nope"}', "start: <[900]>",
    'start: %json {"$ref":"#/nope"}', "start: ~", "%llguidance {", "start[stop]: /a/", 'A: A "a"\nstart: A',
    "start: /a\\b{3}(/", "start: foo::1", "5",
]  # fmt: skip

# Grammars with tokens by their ids, and tokens that come before the question what must follow.
NAMED = {
    "two": ("start: <[97]> <[98]>", []),
    "second": ("start: <[97]> <[98]>", [97]),
    "text first": ('start: "a" <[98]> "c"', []),
    "special": ("start: <[260]> <[97]>", []),
    "choice": ("start: <[97-98]> <[99]>", []),
    "after a choice": ("start: <[97-98]> <[99]>", [98]),
    "or text": ('start: "ab" | <[97]>', []),
    "counted": ("start: <[97]>{3} /x/", []),
    "eos": ('start: "a" <[261]> "b"', []),
    "missing end of text": ('start: "a" x "b"\nx[stop=""]: "xyz"', []),
}

# Rules that an EOS token may end, and texts.
ENDED = {
    "digits": ('start: "f" num "Hz"\nnum[stop=""]: /[0-9]+/', ["f", "f50", "f50H"]),
    "quoted": ('start: "{" n "," "}"\nn[stop=""]: /"[A-Z][a-z]+"/', ['{"Abc', '{"Abc"', '{"Abc",']),
    "whole": ('start: g\ng[stop=""]: /a*/', ["", "aa"]),
    "free": ('start: g "x"\ng[stop=""]: /[a-z]*/', ["ab", "abx"]),
    "two": ('start: g h\ng[stop=""]: /a*/\nh[stop=""]: /b*/', ["", "a", "ab"]),
    "list": ('start: (g ",")+\ng[stop=""]: /[a-z]*/', ["aa", "aa,"]),
}

# Bounds that exclude each other; clients compare the text.
BOUNDS = [
    {"type": "array", "minItems": 10, "maxItems": 5},
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "object", "minProperties": 3, "maxProperties": 2},
    {"type": "object", "required": ["a", "b"], "maxProperties": 1},
    {"type": "integer", "minimum": 2, "maximum": 1},
    {"type": "integer", "minimum": 1e20, "exclusiveMaximum": 5},
    {"type": "number", "exclusiveMinimum": 2.5, "maximum": -5e-7},
    {"type": "number", "exclusiveMinimum": 2.0, "exclusiveMaximum": 1},
    {"type": "number", "minimum": 2, "exclusiveMaximum": 2},
    {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "integer", "minimum": 0.1, "maximum": 0.9},
    {"allOf": [{"minimum": 10}, {"maximum": 5, "type": "integer"}]},
    {"type": "object", "properties": {"a": {"type": "array", "minItems": 3, "maxItems": 2}}, "required": ["a"]},
    {"allOf": [True, False]},
    False,
]

REGEXES = ["a/b", r"\d+\D", r"[\w\s]", "a\nb\t\r", r"\/", "[/]", "é", r"\\d", "", r"(?x) a #b", r"[^\d]", "a["]


def tokenizer():
    import llguidance

    return llguidance.LLTokenizer("byte")


class Wrapped:
    """A vocabulary of bytes, some longer tokens, special ones of several kinds, an empty one and one twice."""

    eos_token_id = 256
    bos_token_id = None
    tokens = [bytes([byte]) for byte in range(256)] + [
        b"<eos>", b"<think>", b"ab", b"", b"abc", "é".encode(), b"[INST]", b"\xff<tool>", b'":', b'{"a', b"ab", b"</x", b"</x>!",
    ]  # fmt: skip
    special_token_ids = [256, 257, 262]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


def wrapped():
    import llguidance

    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Wrapped()))


def allowed(matcher):
    return [token for token, bias in enumerate(matcher.compute_logit_bias()) if bias]


def state(matcher):
    return {
        "allowed": allowed(matcher),
        "accepting": matcher.is_accepting(),
        "stopped": matcher.is_stopped(),
        "reason": matcher.stop_reason(),
        "error": bool(matcher.get_error()),
    }


def walk(tok, grammar, tokens, forced=True):
    """The states along a text, and the forced text; then after the end of the text, and back at the start."""
    import llguidance

    matcher = llguidance.LLMatcher(tok, grammar, log_level=0)
    states = [state(matcher)]
    for token in tokens:
        ff = {"ff": matcher.compute_ff_bytes().hex()} if forced else {}
        states.append({**ff, "took": matcher.consume_token(token), **state(matcher)})
    states.append({"eos": matcher.consume_token(tok.eos_token), **state(matcher)})
    copy = matcher.deep_copy()
    states.append({"again": matcher.consume_token(tok.eos_token), **state(matcher)})
    states.append({"back": copy.rollback(1), **state(copy)})
    states.append({"reset": matcher.reset(), **state(matcher)})
    return states


def raised(call):
    """The result, or the class of what was raised, by the first of Python's own classes that it is one of."""
    try:
        return call()
    except BaseException as error:
        builtin = (ValueError, TypeError, OverflowError, RuntimeError, AssertionError, AttributeError)
        return next((f"raises {kind.__name__}" for kind in builtin if isinstance(error, kind)), "raises")


def interpret(tok, grammar, tokens, backtrack=True, ff=True, prompt=None):
    """The progress along tokens that are committed as they come, without times."""
    import llguidance

    interpreter = llguidance.LLInterpreter(tok, grammar, backtrack, ff, 0)
    steps = [interpreter.start_without_prompt() if prompt is None else interpreter.process_prompt(prompt)]
    for token in [*tokens, None]:
        mask, report = interpreter.compute_mask()
        report = json.loads(report)
        for part in report["progress"]:
            part.pop("stats", None)
        allowed = None if mask is None else [index for index, byte in enumerate(mask) if byte]
        steps.append([allowed, report])
        if mask is None or token is None:
            break
        steps.append(interpreter.commit_token(token))
    steps.append([interpreter.stop_reason(), interpreter.is_accepting()])
    return steps


def final(steps):
    """What is left of the progress in the end: all text, the last captures, and whether it ended."""
    text, captures, ended = "", {}, False
    for step in steps:
        if isinstance(step, list) and len(step) == 2 and isinstance(step[1], dict):
            for part in step[1]["progress"]:
                if part["object"] == "text":
                    text += part["hex"]
                elif part["object"] == "capture" and part["name"].startswith("__LIST"):
                    captures.setdefault(part["name"], []).append(part["str"])
                elif part["object"] == "capture":
                    captures[part["name"]] = part["str"]
            ended = step[1]["stop"]
    return [bytes.fromhex(text).decode(errors="replace"), dict(sorted(captures.items())), ended, steps[-1]]


INTERPRETED = {
    "ff": ('start: "abc" x\nx[capture]: /[0-9]+/', b"a12"),
    "stop": ('start: x y\nx[capture,stop=";"]: /[a-z]*/\ny: "!"', b"ab;"),
    "long stop": ('start: x "!"\nx[capture,stop="</x>"]: /.*/', b"ab</x>"),
    "stop that is none": ('start: x "!"\nx[capture,stop="</x>"]: /.*/', b"ab</y</x>"),
    "stop at the end": ('start: x\nx[capture,stop="\\n"]: /.*/', b"ab\n"),
    "stop by regex": ('start: x y\nx[capture,stop=/<[a-z]>/,stop_capture="q"]: /.*/\ny: "ok"', b"ab<c>"),
    "suffix": ('start: x y\nx[capture,suffix=/<[a-z]>/,stop_capture="q"]: /.*/\ny: "ok"', b"ab<c>"),
    "list": ('start: (w ",")* "."\nw[capture="__LIST_APPEND:w"]: /[a-z]+/', b"ab,cd,cd,."),
    "inner": ('start: w x\nw[capture]: /[a-z]+/\nx[capture]: "1" y\ny[capture]: /[0-9]+/ "."', b"ab11."),
    "max_tokens": ('start: x "!"\nx[capture,max_tokens=2]: /[a-z]*/', b"ab"),
    "no tokens": ('start: "a" x\nx[max_tokens=0]: /a+/', b"a"),
    "lazy": ("start: x\nx[lazy,capture]: /a+b/", b"ab"),
    "temperature": ("start: /a/ x /b/\nx[temperature=0.5]: /c*/", b"acb"),
    "json": ('start: x\nx[capture]: %json {"type":"array","items":{"type":"integer"}}', b"[1,2]"),
    "special": ("start: x\nx[capture]: <|tool|> /a+/ <|/tool|>", [256, 97, 257]),
}


def interpreters():
    answers = {}
    for name, (grammar, text) in INTERPRETED.items():
        steps = interpret(tokenizer(), grammar, list(text))
        answers[f"interpreter, {name}"] = final(steps)
        answers[f"interpreter, commits, {name}"] = [step for step in steps if isinstance(step, tuple)]
        answers[f"interpreter, masks, {name}"] = [
            [step[0], step[1]["stop"], step[1]["temperature"]]
            for step in steps
            if isinstance(step, list) and len(step) == 2 and isinstance(step[1], dict)
        ]
        answers[f"interpreter, copy, {name}"] = raised(lambda g=grammar: copied(g))
    eos = [*b"12", 261]
    answers["interpreter, eos"] = final(interpret(tokenizer(), "start: x\nx[capture]: /[0-9]+/", eos))
    answers["interpreter, without ff"] = interpret(tokenizer(), 'start: "abc"', b"abc", False, False)[2::2]
    answers["interpreter, prompt"] = interpret(tokenizer(), 'start: "ab" /c?/', b"c", prompt=[104, 105])[0]
    answers["interpreter, all in the prompt"] = final(interpret(tokenizer(), 'start: "ab"', b"", prompt=[104]))
    for name, grammar in {
        "special": 'start: <|tool|> "ab" <|/tool|> /c+/', "by id": 'start: "ab" <[200]> "cd"', "eos": "start: <[261]> <[97]>",
    }.items():  # fmt: skip
        for prompt in ([], [104]):
            steps = interpret(tokenizer(), grammar, b"", prompt=prompt)
            answers[f"interpreter, prompt, {name}, {prompt}"] = steps[0]
            if name == "special":
                answers[f"interpreter, prompt, text, {name}, {prompt}"] = final(interpret(tokenizer(), grammar, b"c", prompt=prompt))
    for name, (grammar, tokens) in {
        "at the end": ('start: x\nx[stop=""]: /[a-z]*/', [*b"ab", 261]),
        "in the middle": ('start: x "1"\nx[stop=""]: /[a-z]*/', [*b"ab", 261, *b"1"]),
        "before text": ('start: x "123" /a*/\nx[stop=""]: /[a-z]*/', [*b"ab", 261]),
    }.items():
        steps = interpret(tokenizer(), grammar, tokens)
        answers[f"interpreter, end of text, {name}"] = [step for step in steps if isinstance(step, tuple)]
    answers["interpreter, backtrack alone"] = raised(lambda: interpret(tokenizer(), 'start: "a"', b"a", True, False))
    answers["interpreter, wrong token"] = raised(lambda: interpret(tokenizer(), 'start: "a"', b"b"))
    answers["interpreter, token out of range"] = raised(lambda: interpret(tokenizer(), 'start: "a"', [9999]))
    answers["interpreter, wrong grammar"] = raised(lambda: interpret(tokenizer(), "start: foo", b""))
    answers["interpreter, wrong types"] = [raised(lambda v=v: interpret(tokenizer(), v, b"")) for v in (5, None, {})]
    answers["interpreter, keys"] = keys()
    return answers


def copied(grammar):
    import llguidance

    first = llguidance.LLInterpreter(tokenizer(), grammar, log_level=0)
    first.start_without_prompt()
    second = first.deep_copy()
    return first.compute_mask()[0] == second.compute_mask()[0]


def keys():
    import llguidance

    interpreter = llguidance.LLInterpreter(tokenizer(), 'start: x\nx[capture]: "a"')
    interpreter.process_prompt([])
    report = json.loads(interpreter.compute_mask()[1])
    return {
        "report": sorted(report),
        **{part["object"]: sorted(part) for part in report["progress"]},
        "stats": sorted(next(part["stats"] for part in report["progress"] if part["object"] == "text")),
    }


def matchers():
    import llguidance

    answers = {}
    tok = tokenizer()
    for name, (grammar, texts) in GRAMMARS.items():
        for text in texts:
            tokens = list(text.encode()) if isinstance(text, str) else text
            answers[f"matcher, {name}, {text}"] = walk(tok, grammar, tokens)
    for name, (schema, text) in SCHEMAS.items():
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, {"whitespace_flexible": False})
        answers[f"schema, {name}"] = walk(tok, grammar, list(text.encode()))
    unforced = '%llguidance {"no_forcing":true}\n'
    tok = wrapped()
    for name, grammar, tokens in [
        ("long tokens", 'start: /[a-c]+/ "é" <think> "x"', [260, 97, 261, 257, 120]),
        ("shared", 'start: "abc" "ab"', [258, 99, 266]),
        ("by name", 'start: <tool> "ab"', [263, 258]),
        ("json", 'start: %json {"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}', [265, 264, 49, 125]),
    ]:
        answers[f"matcher, tokens, {name}"] = walk(tok, unforced + grammar, tokens, forced=False)
    return answers


def forced():
    import llguidance

    answers = {}
    for name, (grammar, tokens) in NAMED.items():
        matcher = after(llguidance.LLMatcher(tokenizer(), grammar, log_level=0), tokens)
        answers[f"forced, {name}"] = [matcher.compute_ff_tokens(), matcher.compute_ff_bytes().hex(), state(matcher)]
    for name, (grammar, texts) in ENDED.items():
        for text in texts:
            matcher = after(llguidance.LLMatcher(tokenizer(), grammar, log_level=0), text.encode())
            answers[f"ended, {name}, {text}"] = [matcher.compute_ff_bytes().hex(), state(matcher)]
    return answers


def bounds():
    import llguidance

    answers = {}
    for schema in BOUNDS:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        answers[f"bounds, {json.dumps(schema)}"] = [
            llguidance.LLMatcher.validate_grammar(grammar, tokenizer()),
            llguidance.LLMatcher.validate_grammar(grammar),
            llguidance.LLMatcher(tokenizer(), grammar, log_level=0).get_error(),
        ]
    for schema, texts in [
        ({"type": "integer", "minimum": 0}, ["0", "12", "-0"]), ({"type": "number", "maximum": 9}, ["0", "-0", "-0.0", "-0.5"]),
        ({"type": "integer"}, ["-0"]), ({"type": "string", "format": "unknown"}, ['"x"']),
    ]:  # fmt: skip
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema)
        for text in texts:
            matcher = llguidance.LLMatcher(tokenizer(), grammar, log_level=0)
            taken = matcher.try_consume_tokens(list(text.encode()))
            answers[f"bounds, {schema}, {text}"] = [taken == len(text) and matcher.is_accepting(), matcher.get_grammar_warnings()]
    return answers


def errors():
    import llguidance

    answers = {}
    for grammar in WRONG:
        matcher = llguidance.LLMatcher(tokenizer(), grammar, log_level=0)
        answers[f"wrong grammar, {grammar}"] = [
            matcher.is_error(),
            matcher.get_error() != "",
            state(matcher),
            matcher.consume_token(97),
            matcher.rollback(1),
            matcher.reset(),
            matcher.validate_tokens([97]),
            matcher.try_consume_tokens([97]),
            matcher.compute_ff_tokens(),
            matcher.compute_ff_bytes().hex(),
            matcher.get_captures(),
            matcher.get_capture("x"),
            matcher.deep_copy().is_error(),
            bool(llguidance.LLMatcher.validate_grammar(grammar, tokenizer())),
            [len(part) if isinstance(part, list) else part
             for part in llguidance.LLMatcher.validate_grammar_with_warnings(grammar, tokenizer())],
        ]
    new = lambda: llguidance.LLMatcher(tokenizer(), 'start: "ab" [ "c" ]', log_level=0)
    for name, act in {
        "wrong token": lambda m: m.consume_token(100),
        "wrong second": lambda m: m.consume_tokens([97, 100]),
        "out of range": lambda m: m.consume_token(5000),
        "rollback too far": lambda m: m.rollback(7),
        "validate out of range": lambda m: m.validate_tokens([5000]),
        "try out of range": lambda m: m.try_consume_tokens([5000]),
        "try wrong": lambda m: m.try_consume_tokens([97, 100, 98]),
        "validate past the end": lambda m: m.validate_tokens([97, 98, 99, 261]),
        "validate eos twice": lambda m: m.validate_tokens([97, 98, 261, 261]),
        "try past the end": lambda m: m.try_consume_tokens([97, 98, 99, 261]),
        "consume past the end": lambda m: m.consume_tokens([97, 98, 99, 261, 261]),
        "consume behind the end": lambda m: m.consume_tokens([97, 98, 99, 99]),
        "nothing": lambda m: m.consume_tokens([]),
    }.items():
        matcher = new()
        answers[f"misuse, {name}"] = [act(matcher), state(matcher), matcher.rollback(1), state(matcher)]
    for count in range(1, 4):
        matcher = new()
        answers[f"misuse, {count} EOS rolled back"] = [
            matcher.consume_tokens([97, 98]), matcher.consume_tokens([261] * count), matcher.rollback(count), state(matcher),
        ]
    for name, matcher in {"grammar": llguidance.LLMatcher(tokenizer(), "start: foo", log_level=0), "token": new()}.items():
        if name == "token":
            matcher.consume_token(100)
        answers[f"misuse, EOS after a wrong {name}"] = [
            matcher.validate_tokens([261]), matcher.validate_tokens([261, 261]), matcher.validate_tokens([97]),
            matcher.consume_token(261), matcher.consume_tokens([261]), state(matcher),
        ]
    matcher = new()
    buffer = ctypes.create_string_buffer(256)
    address = ctypes.addressof(buffer) + 3 & ~3
    calls = {
        "token -1": lambda: matcher.consume_token(-1),
        "token str": lambda: matcher.consume_token("a"),
        "token float": lambda: matcher.consume_token(1.5),
        "token 2^40": lambda: matcher.consume_token(2**40),
        "tokens int": lambda: matcher.consume_tokens(5),
        "tokens floats": lambda: matcher.validate_tokens([1.5]),
        "tokens None": lambda: matcher.try_consume_tokens(None),
        "rollback -1": lambda: matcher.rollback(-1),
        "no grammar": lambda: llguidance.LLMatcher(tokenizer()),
        "no tokenizer": lambda: llguidance.LLMatcher(5, "start: /a/"),
        "limits int": lambda: llguidance.LLMatcher(tokenizer(), "start: /a/", limits=5),
        "log_level str": lambda: llguidance.LLMatcher(tokenizer(), "start: /a/", log_level="x"),
        "positional log_level": lambda: llguidance.LLMatcher(tokenizer(), "start: /a/", 1),
        "mask at 0": lambda: matcher.unsafe_compute_mask_ptr(0, 36),
        "mask not aligned": lambda: matcher.unsafe_compute_mask_ptr(address + 1, 36),
        "tokenizer int": lambda: llguidance.LLTokenizer(5),
        "tokenizer missing": lambda: llguidance.LLTokenizer("/no/such/file"),
        "tokenizer empty JSON": lambda: llguidance.LLTokenizer("{}"),
        "eos str": lambda: llguidance.LLTokenizer("byte", eos_token="x"),
        "eos empty": lambda: llguidance.LLTokenizer("byte", eos_token=[]),
        "eos -1": lambda: llguidance.LLTokenizer("byte", eos_token=-1),
        "slices wrong": lambda: llguidance.LLTokenizer("byte", slices=["["]) and None,
        "tokenize str as bytes": lambda: tokenizer().tokenize_bytes("x"),
        "special -1": lambda: tokenizer().is_special_token(-1),
        "limits -1": lambda: llguidance.LLParserLimits(max_items_in_row=-1),
        "limits unknown": lambda: llguidance.LLParserLimits(foo=1),
        "limits positional": lambda: llguidance.LLParserLimits(1),
        "limits": lambda: repr(llguidance.LLParserLimits(step_max_items=7, verbose_errors=False)),
        "executor -1": lambda: llguidance.LLExecutor(-1),
        "executor nothing": lambda: llguidance.LLExecutor().unsafe_compute_mask_ptr([], address, 36, 1),
        "executor no tuple": lambda: llguidance.LLExecutor().unsafe_compute_mask_ptr([matcher], address, 36, 1),
        "executor int": lambda: llguidance.LLExecutor().unsafe_compute_mask_ptr([(5, 0)], address, 36, 1),
        "executor row": lambda: llguidance.LLExecutor().unsafe_compute_mask_ptr([(matcher, 5)], address, 36, 2),
        "executor twice": lambda: llguidance.LLExecutor().unsafe_compute_mask_ptr([(matcher, 0), (matcher, 1)], address, 36, 2),
        "executor empty draft": lambda: llguidance.LLExecutor().unsafe_compute_mask_ptr_with_draft_token(
            [(matcher, 0, [])], address, 36, 2),
        "executor no tokens": lambda: llguidance.LLExecutor().consume_token_par([]),
        "unknown format": lambda: llguidance.grammar_from("x", ""),
        "wrong GBNF": lambda: llguidance.grammar_from("gbnf", 'root ::= "a'),
        "wrong choice": lambda: llguidance.grammar_from("choice", "5"),
        "schema of objects": lambda: llguidance.LLMatcher.grammar_from_json_schema({"a": object()}),
        "options for an array": lambda: llguidance.LLMatcher.grammar_from_json_schema("[1]", {"lenient": True}),
        "no trigger": lambda: llguidance.StructTag(trigger="", begin="a", grammar={}, end=""),
        "other begin": lambda: llguidance.StructTag(trigger="b", begin="a", grammar={}, end=""),
        "no tags": lambda: llguidance.StructTag.to_grammar([]),
        "compilers": lambda: [
            raised(lambda: llguidance.LarkCompiler().compile("start: foo")),
            raised(lambda: llguidance.RegexCompiler().compile("a[")),
            raised(lambda: llguidance.JsonCompiler().compile('{"type":"nope"}')),
            raised(lambda: llguidance.JsonCompiler().compile("{bad")),
            raised(lambda: bool(llguidance.LarkCompiler().compile("start: foo", check=False))),
        ],
    }  # fmt: skip
    for size in (0, 32, 33, 35, 37, 40):
        calls[f"mask of {size}"] = lambda size=size: matcher.unsafe_compute_mask_ptr(address, size)
    for name, call in calls.items():
        answers[f"call, {name}"] = raised(call)
    answers["call, sound at last"] = state(matcher)
    return answers


def tokenizers():
    answers = {}
    for name, tok in {"byte": tokenizer(), "wrapper": wrapped()}.items():
        count = tok.vocab_size
        answers[f"tokenizer, {name}"] = {
            "size": count,
            "eos": [tok.eos_token, tok.eos_tokens],
            "canonical": tok.is_canonical,
            "decoded": [tok.decode_bytes([token]).hex() for token in range(count + 2)],
            "debug": [tok.dbg_tokens([token]) for token in range(count + 2)],
            "trace": [tok.test_trace_tokens([token]) for token in range(count + 2)],
            "debug all": tok.dbg_tokens([97, 98, 10]),
            "trace none": tok.test_trace_tokens([]),
            "special": [token for token in range(count + 2) if tok.is_special_token(token)],
            "tokens": [tok.tokenize_bytes(text) for text in (b"", b"abc", "é<think>".encode(), b"\xc3", b"a\xffb")],
            "of text": tok.tokenize_str("abé"),
            "greedy": tok.greedy_tokenize("abcé<think>"),
            "partial": [tok.tokenize_partial(text) for text in (b"", b"abc", b"xyz")],
            "slices": [tok.general_slices(), tok.json_slices(), tok.with_slices(["a+"]).vocab_size],
        }
        for part in answers[f"tokenizer, {name}"]["partial"]:
            assert isinstance(part[1], bytes)
        answers[f"tokenizer, {name}"]["partial"] = [
            [tokens, rest.hex()] for tokens, rest in answers[f"tokenizer, {name}"]["partial"]
        ]
    return answers


def converters():
    import llguidance
    from llguidance.gbnf_to_lark import GrammarParser, resolve

    answers = {
        f"regex_to_lark, {rx}": [llguidance.regex_to_lark(rx)]
        + [llguidance.regex_to_lark(rx, use) for use in ("d", "", "dw", "dws", None)]
        for rx in REGEXES
    }
    tok = tokenizer()
    for format, text, sample in [
        ("lark", 'start: "a" | "b"', "b"),
        ("gbnf", 'root ::= item ("," item)*\nitem ::= [a-c]+ | "x-" num\nnum ::= [0-9]{2}', "ab,x-12"),
        ("ebnf", 'root ::= "a" | "é\\n" rest\nrest ::= .', "é\nq"),
        ("cfg", 'root ::= "a"?', "a"),
        ("grammar", 'start: "a" "b"', "ab"),
        ("json_schema", '{"enum":["a"]}', '"a"'),
        ("json", '{"type":"integer"}', "12"),
        ("regex", r'a/"\d{2}', 'a/"12'),
        ("choice", '["a\\"b","é"]', "é"),
        ("llguidance", '{"grammars":[{"name":"a","lark_grammar":"start: @b"},{"name":"b","json_schema":{"type":"null"}}]}', "null"),
    ]:  # fmt: skip
        answers[f"grammar_from, {format}"] = walk(tok, llguidance.grammar_from(format, text), list(sample.encode()))
    rules = GrammarParser().parse('root ::= foo-bar{2}\n# note\nfoo-bar ::= "x" [a-z]* | ("y" | root)?')
    answers["gbnf, tree"] = {name: type(rule.alternatives).__name__ for name, rule in rules.items()}
    resolve(rules)
    answers["gbnf, resolved"] = {name: [rule.order, rule.rule_is_terminal] for name, rule in rules.items()}
    tags = [
        llguidance.StructTag(trigger="<|tool|>", begin="<|tool|>f(", grammar={"type": "integer"}, end=")"),
        llguidance.StructTag(trigger="[g", begin="[g=", grammar="start: /[0-9]+/", end="]"),
    ]
    for name, tokens in {"text": list(b"ab"), "special": [97, 256, *b"f(12)z"], "trigger": list(b"q[g=7]")}.items():
        answers[f"tags, {name}"] = walk(tok, llguidance.StructTag.to_grammar(tags), tokens)
    options = llguidance.LLMatcher.grammar_from_json_schema(
        {"type": "array", "x-guidance": {"item_separator": ";"}}, {"whitespace_flexible": False}, {"item_separator": ","}
    )
    answers["schema, options"] = json.loads(options)["grammars"][0]["json_schema"]
    return answers


def executors():
    import llguidance

    answers = {}
    size, rows = 36, 6
    buffer = ctypes.create_string_buffer(size * rows + 4)
    address = ctypes.addressof(buffer) + 3 & ~3
    executor = llguidance.LLExecutor(2)
    new = lambda tokens=b"", grammar='start: "ab" [ "c" ]': after(llguidance.LLMatcher(tokenizer(), grammar, log_level=0), tokens)

    def table():
        """The rows of the table; `None` where nothing was written."""
        data = ctypes.string_at(address, size * rows)
        parts = [data[size * row : size * (row + 1)] for row in range(rows)]
        return [
            None if part == b"\x55" * size else [token for token in range(262) if part[token // 8] >> token % 8 & 1]
            for part in parts
        ]

    for name, tokens, draft in [
        ("all fit", b"", b"abc"), ("refused", b"", b"acb"), ("eos", b"", [97, 98, 261]), ("past the end", b"", b"abcc"),
        ("stopped", b"abc", b"c"), ("stopped, eos", b"abc", [261]), ("eos first", b"ab", [261, 97]),
        ("out of range", b"", [97, 5000]),
    ]:  # fmt: skip
        ctypes.memset(address, 0x55, size * rows)
        matcher = new(tokens)
        executor.unsafe_compute_mask_ptr_with_draft_token([(matcher, 0, list(draft))], address, size, rows)
        answers[f"draft, {name}"] = [table(), state(matcher)]
    ctypes.memset(address, 0x55, size * rows)
    wrong = llguidance.LLMatcher(tokenizer(), "start: foo", log_level=0)
    batch = [(new(), 0), (new(b"ab"), 2), (new(b"abc"), 3), (wrong, 5)]
    executor.unsafe_compute_mask_ptr(batch, address, size, rows)
    answers["batch"] = table()
    tokens = [97, 99, 261, 97]
    took = executor.consume_token_par([(matcher, token) for (matcher, _), token in zip(batch, tokens)])
    answers["batch, consumed"] = [took, [state(matcher) for matcher, _ in batch]]
    return answers


def after(matcher, tokens):
    assert matcher.consume_tokens(list(tokens))
    return matcher


def signatures():
    """What there is: the names in the modules and in the classes, and those of the arguments that must be given."""
    import inspect

    import llguidance

    def needed(method):
        parameters = inspect.signature(method).parameters.values()
        return [each.name for each in parameters if each.default is each.empty and each.name != "self"]

    answers = {"names": sorted(llguidance.__all__)}
    for name in answers["names"]:
        thing = getattr(llguidance, name)
        if isinstance(thing, type):
            members = sorted(member for member in dir(thing) if not member.startswith("_"))
            answers[f"members, {name}"] = members
            methods = [member for member in members if callable(getattr(thing, member))]
            answers[f"arguments, {name}"] = {member: needed(getattr(thing, member)) for member in methods}
    return answers


def main():
    logging.disable()
    if sys.argv[1] == "ours":
        import larkspur.compat

        larkspur.compat.install()
    answers = {}
    for group in (signatures, tokenizers, converters, matchers, forced, bounds, errors, executors, interpreters):
        answers.update(group())
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
