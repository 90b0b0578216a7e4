"""Authenticates requests: Ed25519 signatures over method, target and time, each usable once."""

import base64
import re
from collections import OrderedDict

from nacl.bindings import crypto_sign_BYTES, crypto_sign_open
from nacl.exceptions import BadSignatureError

WINDOW_MS = 60_000
# Bounds the memory: more signed requests than this within two windows are refused.
MAX_NONCES = 200_000

_HEADER = re.compile(r"v1 ([0-9]{1,15}) ([A-Za-z0-9_-]{16,128}) ([A-Za-z0-9_-]{86})")


class Refused(Exception):
    """The request is not authentic. The message names the failed check and nothing else."""


def string_to_sign(sandbox_id: str, method: str, target: str, timestamp: str, nonce: str) -> bytes:
    return "\n".join(("cellblock-v1", sandbox_id, method, target, timestamp, nonce)).encode()


class NonceCache:
    """Nonces seen within the window. An older one is refused by its timestamp."""

    def __init__(self, window_ms: int = WINDOW_MS, capacity: int = MAX_NONCES) -> None:
        self._expires: OrderedDict[str, int] = OrderedDict()
        self._window_ms = window_ms
        self._capacity = capacity

    def add(self, nonce: str, now_ms: int) -> bool:
        """False when the nonce was seen before or the cache is full."""
        while self._expires:
            oldest = next(iter(self._expires))
            if self._expires[oldest] > now_ms:
                break
            del self._expires[oldest]
        if nonce in self._expires or len(self._expires) >= self._capacity:
            return False
        # A timestamp may be one window ahead of the clock, so it is valid for up to two.
        self._expires[nonce] = now_ms + 2 * self._window_ms
        return True


class Verifier:
    def __init__(self, sandbox_id: str, public_key: bytes, nonces: NonceCache | None = None) -> None:
        self._sandbox_id = sandbox_id
        self._public_key = public_key
        self._nonces = nonces or NonceCache()

    def check(self, header: str | None, method: str, target: str, now_ms: int) -> None:
        """Raises Refused unless `header` signs exactly this request, now, for the first time."""
        if header is None:
            raise Refused("the request carries no Cellblock-Signature header")
        match = _HEADER.fullmatch(header)
        if match is None:
            raise Refused("the Cellblock-Signature header is malformed")
        timestamp, nonce = match[1], match[2]
        if abs(int(timestamp) - now_ms) > WINDOW_MS:
            raise Refused("the signature's timestamp is more than 60 s away from the sandbox's clock")
        signature = base64.urlsafe_b64decode(match[3] + "==")
        if len(signature) != crypto_sign_BYTES:
            raise Refused("the Cellblock-Signature header is malformed")
        try:
            crypto_sign_open(signature + string_to_sign(self._sandbox_id, method, target, timestamp, nonce), self._public_key)
        except BadSignatureError:
            raise Refused("the signature does not match the request") from None
        # Only a valid signature may fill the cache.
        if not self._nonces.add(nonce, now_ms):
            raise Refused("the nonce was used before")
