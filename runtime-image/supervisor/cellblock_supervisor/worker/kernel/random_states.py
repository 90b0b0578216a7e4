"""Random states. Two kernels that come from one process, one snapshot or one checkpoint must not draw the same numbers."""

import os
import random
import sys
from typing import Any


def seed() -> None:
    """Of this process: Python's generator, NumPy's global one and that of OpenSSL."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(int.from_bytes(os.urandom(4)))
    openssl = sys.modules.get("_ssl")
    if openssl is not None:
        openssl.RAND_add(os.urandom(48), 48.0)


def renew(kernel: Any) -> None:
    """Also of the sessions of other languages."""
    seed()
    for languages in kernel.contexts.languages:
        languages.renew_random()
