"""Validation of the supervisor's configuration."""

import unittest

from cellblock_supervisor.config import DEFAULT_PRELOAD, ConfigError, load_config

GOOD = {
    "CELLBLOCK_SANDBOX_ID": "sbx_1",
    "CELLBLOCK_PUBLIC_KEY": "A" * 43,
    "CELLBLOCK_LISTEN": "tcp:0.0.0.0:8700",
    "CELLBLOCK_PROFILE": "fargate",
    "CELLBLOCK_LIMITS": '{"processes": 64, "preload": [], "memory_bytes": null}',
}


class Configuration(unittest.TestCase):
    def test_reads_every_variable(self) -> None:
        config = load_config(GOOD)
        self.assertEqual((config.sandbox_id, config.profile, len(config.public_key)), ("sbx_1", "fargate", 32))
        self.assertEqual((config.limits.processes, config.limits.preload, config.limits.memory_bytes), (64, (), None))

    def test_limits_are_optional(self) -> None:
        config = load_config({name: value for name, value in GOOD.items() if name != "CELLBLOCK_LIMITS"})
        self.assertEqual((config.limits.preload, config.stop_seconds), (DEFAULT_PRELOAD, 0))
        self.assertEqual(load_config({**GOOD, "CELLBLOCK_STOP_SECONDS": "115"}).stop_seconds, 115)

    def test_says_which_variable_is_wrong(self) -> None:
        wrong = {
            "CELLBLOCK_SANDBOX_ID": ("",),
            "CELLBLOCK_PUBLIC_KEY": ("", "A", "!" * 43, "A" * 44),
            "CELLBLOCK_LISTEN": ("", "8700", "tcp:0.0.0.0", "http://x", "unix:relative"),
            "CELLBLOCK_PROFILE": ("", "none"),
            "CELLBLOCK_WORKER_UID": ("", "0", "10002", "10003", "19999", "60000", "-1", "2e4"),
            "CELLBLOCK_STOP_SECONDS": ("", "-1", "116", "1.5", "ten"),
            "CELLBLOCK_LIMITS": ("[]", "{", '{"processes": 0}', '{"processes": true}', '{"speed": 1}', '{"preload": "numpy"}'),
        }
        for name, values in wrong.items():
            for value in values:
                with self.subTest(name=name, value=value), self.assertRaisesRegex(ConfigError, name):
                    load_config({**GOOD, name: value})


if __name__ == "__main__":
    unittest.main()
