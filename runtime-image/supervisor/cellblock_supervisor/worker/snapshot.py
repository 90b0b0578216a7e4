"""Namespace snapshots (placeholder until the format below is complete)."""


def dump(shell, channel, max_bytes):  # type: ignore[no-untyped-def]
    return {"status": "error", "name": "KernelFault", "value": "not implemented"}


def load(shell, channel):  # type: ignore[no-untyped-def]
    return {"status": "error", "name": "KernelFault", "value": "not implemented"}
