"""Signatures, by vectors that the TypeScript tests load too."""

import base64
import json
import os
import pathlib
import unittest

from cellblock_supervisor.signing import NonceCache, Refused, Verifier, string_to_sign

VECTORS = json.loads(pathlib.Path(os.environ["CELLBLOCK_VECTORS"], "signatures.json").read_text())
PUBLIC_KEY = base64.urlsafe_b64decode(VECTORS["public_key"] + "=")


def verifier() -> Verifier:
    return Verifier(VECTORS["sandbox_id"], PUBLIC_KEY)


class Signatures(unittest.TestCase):
    def test_accepts_every_valid_vector_once(self) -> None:
        check = verifier().check
        for vector in VECTORS["accepted"]:
            with self.subTest(vector["name"]):
                arguments = (vector["header"], vector["method"], vector["target"], VECTORS["now"])
                check(*arguments)
                with self.assertRaises(Refused):
                    check(*arguments)

    def test_signs_the_string_of_the_vectors(self) -> None:
        for vector in VECTORS["accepted"]:
            text = string_to_sign(
                VECTORS["sandbox_id"], vector["method"], vector["target"], str(vector["timestamp"]), vector["nonce"]
            )
            self.assertEqual(text.decode(), vector["string_to_sign"])

    def test_refuses_every_invalid_vector(self) -> None:
        for vector in VECTORS["refused"]:
            with self.subTest(vector["name"]), self.assertRaises(Refused):
                verifier().check(vector["header"], vector["method"], vector["target"], VECTORS["now"])


class Nonces(unittest.TestCase):
    def test_drops_a_nonce_whose_timestamp_is_refused_anyway(self) -> None:
        cache = NonceCache(window_ms=1000)
        self.assertTrue(cache.add("n" * 16, 0))
        self.assertFalse(cache.add("n" * 16, 1999))
        self.assertTrue(cache.add("n" * 16, 2000))

    def test_refuses_requests_when_the_cache_is_full(self) -> None:
        cache = NonceCache(window_ms=1000, capacity=2)
        self.assertEqual([cache.add(name * 16, 0) for name in "abc"], [True, True, False])


if __name__ == "__main__":
    unittest.main()
