"""What a reducer returns: a function that pickles name, and its arguments."""

from collections.abc import Callable
from typing import Any

Reduced = tuple[Callable[..., object], tuple[Any, ...]]
