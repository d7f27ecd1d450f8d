"""Key phrases: the words that clients of llguidance look for in its messages, before our sentence of the same mistake."""

import re

from larkspur import Diagnostic

# By the code of ours. `{0}`, `{1}`: the names that our sentence has between backticks.
_PHRASES = {
    "L001": "lexer error",
    "L002": "lexer error",
    "L003": "lexer error",
    "L005": "lexer error",
    "L010": "Expected token",
    "L014": "range end must be >= start",
    "L020": "Unknown attribute: {0}",
    "L022": "Expected token",
    "L040": 'unknown name: "{0}"',
    "L041": 'unknown name: "{0}"',
    "L043": "Unknown common regex: {0}.{1}",
    "L044": "circular reference in token",
    "L045": "no start rule found",
    "L050": "rules and name::param cannot be used in terminals",
    "L051": "cannot be used in terminals",
    "L053": "'%if' is not supported in terminals",
    "L060": "lexer error",
    "L062": "range start must be a single character, range end must be a single character",
    "L063": "invalid range order",
    "L065": "{0}-flag is not supported in regexes",
    "L066": "invalid token range",
    "L067": "failed to parse %regex",
    "L070": "rule '{0}' is not parametric, but parameter provided",
    "L071": "rule '{0}' is parametric, but no parameter provided",
    "L073": "rule is not parametric, but its body requires parameters",
    "L074": "Unexpected condition '{0}'",
    "L080": "failed to parse %llguidance declaration",
    "L081": "failed to parse %llguidance declaration",
    "N004": "key must be a string",
    "N015": "EOF while parsing an object",
    "R032": "initial lexer configuration (grammar) too big",
    "J020": "Unsatisfiable schema",
    "J031": "Unknown format",
    "V001": "unknown special token",
}

# Of codes that stand for several of its mistakes, by what our sentence begins with. `{…}` as above.
_PHRASES_OF = {
    "L010": {"expected `_` or `[": "expected '_' or '[start_bit:stop_bit]'"},
    "L015": {"expected a count, found `-`": "range start must be >= 0, range end must be >= start"},
    "L027": {
        "`stop` is": "stop-like is not supported for parametric rules",
        "`suffix` is": "stop-like is not supported for parametric rules",
        "": "{0}= is not supported for parametric rules",
    },
    "L066": {
        "the list of tokens is empty": "empty token range",
        "no token is outside": "negated wildcard token <[^*]> is not supported",
        "`*` is every token": "wildcard token range '*' must not contain additional tokens",
    },
    "L067": {
        "there is no field": "failed to parse %regex: unknown field `{0}`",
        "one of": "failed to parse %regex: no fields set on %regex",
        "only one of": "failed to parse %regex: only one field can be set on %regex",
    },
}


def phrased(diagnostic: Diagnostic) -> str:
    """The sentence of a diagnostic behind the phrase of its code, if there is one."""
    names = re.findall(r"`([^`]*)`", diagnostic.message)
    try:
        phrase = _phrase(diagnostic).format(*names)
    except IndexError:
        phrase = ""
    return f"{phrase}: {diagnostic.message}" if phrase else diagnostic.message


def _phrase(diagnostic: Diagnostic) -> str:
    code = diagnostic.code
    if code == "L042":
        is_terminal = re.search("`[^a-z`]+`", diagnostic.message) is not None
        return 'duplicate token: "{0}"' if is_terminal else 'duplicate rule: "{0}"'
    if code == "J032":
        return "unknown field" if "is no option" in diagnostic.message else "invalid type or value"
    if code.startswith("R") and code not in _PHRASES and diagnostic.severity == "error":
        return "invalid regex"
    said = (phrase for begin, phrase in _PHRASES_OF.get(code, {}).items() if diagnostic.message.startswith(begin))
    return next(said, _PHRASES.get(code, ""))
