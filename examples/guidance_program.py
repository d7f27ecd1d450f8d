"""A program of Guidance on Larkspur: one line before Guidance is imported. Needs the package guidance.

The model is Guidance's mock, which writes this text as far as the program allows it; `guidance.models.Transformers` and the
others go the same way.
"""

import json

import larkspur.compat

larkspur.compat.install()

from guidance import gen, json as gen_json, models, select  # noqa: E402

TEXT = b'<s>Name: Ada\nBorn: 1815\nField: mathematics\n{"works": ["Notes"], "alive": false}'
SCHEMA = {
    "type": "object",
    "properties": {"works": {"type": "array", "items": {"type": "string"}}, "alive": {"type": "boolean"}},
    "required": ["works", "alive"],
    "additionalProperties": False,
}



def main() -> dict[str, str]:
    lm = models.Mock(TEXT)
    lm += "Name: " + gen("name", stop="\n") + "\n"
    lm += "Born: " + gen("born", regex="[0-9]{4}") + "\n"
    lm += "Field: " + select(["mathematics", "poetry"], name="field") + "\n"
    lm += gen_json("record", schema=SCHEMA)
    written = {name: lm[name] for name in ("name", "born", "field", "record")}
    assert json.loads(written["record"])["alive"] is False
    return written


if __name__ == "__main__":
    print(main())
