"""What can go wrong. Everything derives from `LarkspurError`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ._native import Diagnostic


E = TypeVar("E", bound=BaseException)


def again(kind: type[E], *args: object) -> E:
    """An exception without its attributes, for `pickle`, which calls the class with the message alone; most want more."""
    return kind.__new__(kind, *args)


class LarkspurError(Exception):
    """Base of all errors of this package. All can be copied and pickled, with their attributes."""

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (type(self), *self.args), self.__dict__


class VocabularyError(LarkspurError, ValueError):
    """A tokenizer that masks cannot be made for; the message says why."""


class GrammarError(LarkspurError, ValueError):
    """A grammar that does not compile. Its text is all mistakes with the lines that they are about."""

    diagnostics: list[Diagnostic]
    """Everything that was found, warnings included; at least one error."""

    def __init__(self, message: str, *, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)

    def _first(self) -> Diagnostic | None:
        errors = (diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error")
        return next(errors, None)

    @property
    def code(self) -> str | None:
        """Code of the first error, such as `L012`."""
        first = self._first()
        return first.code if first else None

    @property
    def message(self) -> str:
        """The first error in a sentence."""
        first = self._first()
        return first.message if first else str(self)

    @property
    def span(self) -> tuple[int, int] | None:
        """Where the first error is, in UTF-8 bytes; end exclusive."""
        first = self._first()
        return first.span if first else None

    @property
    def rendered(self) -> str:
        """All diagnostics, warnings included, with the lines that they are about."""
        return "\n\n".join(diagnostic.rendered for diagnostic in self.diagnostics)


class SavedGrammarError(LarkspurError, ValueError):
    """A grammar that cannot be saved, or bytes that are no grammar for this engine."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
        """`F020` to `F026` (docs/diagnostics.md)."""


class MatcherError(LarkspurError):
    """A matcher refused. It is then where it was before the call."""


class TokenRejected(MatcherError):
    """The token would leave the language."""

    def __init__(self, message: str, *, token: int, at_byte: int) -> None:
        super().__init__(message)
        self.token = token
        self.at_byte = at_byte
        """First byte of the token that cannot follow; 0 for a special token."""


class TextRejected(MatcherError):
    """The text would leave the language."""

    def __init__(self, message: str, *, at_byte: int) -> None:
        super().__init__(message)
        self.at_byte = at_byte
        """First byte that cannot follow, counted in the bytes given."""


class UnknownToken(MatcherError, ValueError):
    """The id is not one of the vocabulary's, or is none at all, such as -1."""

    def __init__(self, message: str, *, token: int) -> None:
        super().__init__(message)
        self.token = token


class Stopped(MatcherError):
    """The text has ended; only an EOS token or a rollback is possible."""


class RollbackTooFar(MatcherError, ValueError):
    """More tokens to take back than there are."""


class NoToken(MatcherError):
    """No token of the vocabulary can follow, although the text is not complete."""


class LimitExceeded(MatcherError):
    """A limit was met (docs/limits.md); `Engine(…, limits={name: value})` raises it."""

    def __init__(self, message: str, *, limit: str, value: int) -> None:
        super().__init__(message)
        self.limit = limit
        self.value = value


class BatchError(MatcherError):
    """Some masks of a batch failed."""

    def __init__(self, errors: Mapping[int, Exception]) -> None:
        super().__init__("; ".join(f"row {row}: {error}" for row, error in errors.items()))
        self.errors = dict(errors)
        """By row."""
