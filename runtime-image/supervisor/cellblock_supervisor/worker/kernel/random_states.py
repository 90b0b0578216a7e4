"""Random states. Two kernels that come from one process, one snapshot or one checkpoint must not draw the same numbers."""

import os
import random
import sys
from typing import Any


def seed() -> None:
    """Of this process: Python's generator and NumPy's global one. OpenSSL's seeds itself again in a process with another id (CVE-2019-1549)."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(int.from_bytes(os.urandom(4)))


def seed_openssl() -> None:
    openssl = sys.modules.get("_ssl")
    if openssl is not None:
        openssl.RAND_add(os.urandom(48), 48.0)


def renew(kernel: Any) -> None:
    """Of a copy of this process that is no fork, also of its OpenSSL and of the sessions of other languages."""
    seed()
    seed_openssl()
    for languages in kernel.contexts.languages:
        languages.renew_random()
