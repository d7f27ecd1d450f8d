"""`python -m llguidance.cli`: a grammar along a text, token by token."""

import argparse
import json
from pathlib import Path

from . import LLInterpreter, LLTokenizer


def main() -> None:
    """Shows the tokens of a text and what is captured, up to the first token that a grammar does not allow."""
    parser = argparse.ArgumentParser(description="Runs a grammar along a text.")
    parser.add_argument(
        "--tokenizer", default="microsoft/Phi-3.5-mini-instruct", help="`byte`, a tokenizer.json, or a model's name"
    )
    parser.add_argument("--lark", help="file with a Lark grammar")
    parser.add_argument("--json-schema", help="file with a JSON Schema")
    parser.add_argument("--text", help="file with the text")
    parser.add_argument("--log-level", type=int, default=1, help="0: no warnings")
    parser.add_argument("--ff-tokens", action="store_true", help="commit what must follow without asking")
    parser.add_argument("--backtrack", action="store_true", help="take back the text of a `stop`")
    args = parser.parse_args()

    grammar: dict[str, object] = {}
    if args.lark:
        grammar["lark_grammar"] = Path(args.lark).read_text("utf-8")
    if args.json_schema:
        grammar["json_schema"] = json.loads(Path(args.json_schema).read_text("utf-8"))
    if not grammar:
        raise ValueError("No grammar provided; need --lark or --json-schema")
    tokenizer = _tokenizer(args.tokenizer)
    tokens = tokenizer.tokenize_str(Path(args.text).read_text("utf-8")) if args.text else []
    interpreter = LLInterpreter(
        tokenizer,
        json.dumps({"grammars": [grammar]}),
        enable_backtrack=args.backtrack,
        enable_ff_tokens=args.ff_tokens,
        log_level=args.log_level,
    )
    interpreter.start_without_prompt()
    print(tokenizer.dbg_tokens(tokens))
    _run(interpreter, tokenizer, tokens)


def _run(interpreter: LLInterpreter, tokenizer: LLTokenizer, tokens: list[int]) -> None:
    at = 0
    while True:
        mask, report = interpreter.compute_mask()
        for part in json.loads(report)["progress"]:
            if part["object"] != "text":
                print(f"\n   {part}")
        if mask is None or at == len(tokens):
            break
        token = tokens[at]
        print(tokenizer.dbg_tokens([token]), end=" ")
        if not mask[token]:
            print("Token not in mask")
            break
        _, committed = interpreter.commit_token(token)
        # What was committed besides stands in the text, too.
        ahead = committed[1:] if committed[:1] == [token] else committed
        same = ahead == tokens[at + 1 : at + 1 + len(ahead)]
        at += 1 + (len(ahead) if same else 0)
    print()


def _tokenizer(name: str) -> LLTokenizer:
    if name == "byte" or Path(name).is_file():
        return LLTokenizer(name)
    import huggingface_hub

    return LLTokenizer(huggingface_hub.hf_hub_download(name, "tokenizer.json"))


if __name__ == "__main__":
    main()
