"""Which llguidance this stands in for."""

from larkspur import __version__ as _larkspur

__version__ = "1.9.1+larkspur"


def get_version() -> str:
    """llguidance's version and ours, as `name@version`."""
    return f"llguidance@{__version__} larkspur@{_larkspur}"
