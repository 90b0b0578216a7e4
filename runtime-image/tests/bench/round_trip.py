"""`print(1)` through the supervisor against a bare ipykernel over ipc, in one container, in turns.

docker run --rm --network none -v "$PWD/runtime-image/tests/bench:/bench:ro" --entrypoint python3 IMAGE /bench/round_trip.py [runs]
Prints one JSON object: medians, 99th percentiles and their ratio, in milliseconds.
"""

import base64
import http.client
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from jupyter_client import KernelManager
from nacl.signing import SigningKey

SOCKET = "/tmp/bench-supervisor.sock"
SANDBOX = "sbx_bench"


class Supervisor(http.client.HTTPConnection):
    def __init__(self) -> None:
        super().__init__("sandbox")
        self._key = SigningKey.generate()
        public = base64.urlsafe_b64encode(bytes(self._key.verify_key)).rstrip(b"=").decode()
        environment = {
            **os.environ,
            "CELLBLOCK_SANDBOX_ID": SANDBOX,
            "CELLBLOCK_PUBLIC_KEY": public,
            "CELLBLOCK_LISTEN": f"unix:{SOCKET}",
            "CELLBLOCK_PROFILE": "emulated",
        }
        self._process = subprocess.Popen([sys.executable, "-m", "cellblock_supervisor"], env=environment)
        while True:
            try:
                self.request("GET", "/health?wait=20000")
                assert json.loads(self.getresponse().read())["state"] == "ready"
                return
            except (FileNotFoundError, ConnectionRefusedError):
                self.close()
                time.sleep(0.01)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(SOCKET)

    def run(self, code: str) -> None:
        target, nonce, now = f"/executions/{secrets.token_hex(8)}", secrets.token_urlsafe(12), time.time_ns() // 1_000_000
        text = "\n".join(("cellblock-v1", SANDBOX, "PUT", target, str(now), nonce)).encode()
        signature = base64.urlsafe_b64encode(self._key.sign(text).signature).rstrip(b"=").decode()
        self.request(
            "PUT",
            target,
            json.dumps({"v": 1, "cells": [{"code": code}]}),
            {"Cellblock-Signature": f"v1 {now} {nonce} {signature}"},
        )
        assert b'"outcome":"ok"' in self.getresponse().read()

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()


class BareKernel:
    def __init__(self) -> None:
        os.makedirs("/tmp/bench-ipc", exist_ok=True)
        self._manager = KernelManager(transport="ipc", ip="/tmp/bench-ipc/k", kernel_name="python3")
        self._manager.start_kernel()
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    def run(self, code: str) -> None:
        message = self._client.execute(code)
        while True:
            event = self._client.get_iopub_msg(timeout=60)
            if (
                event["msg_type"] == "status"
                and event["content"]["execution_state"] == "idle"
                and event["parent_header"].get("msg_id") == message
            ):
                break
        self._client.get_shell_msg(timeout=60)

    def end(self) -> None:
        self._manager.shutdown_kernel(now=True)


def timed(run: Callable[[str], None], code: str) -> float:
    started = time.perf_counter()
    run(code)
    return (time.perf_counter() - started) * 1000


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    ours, bare = Supervisor(), BareKernel()
    times: dict[str, list[float]] = {"supervisor": [], "bare_kernel": []}
    for number in range(runs + 20):
        for name, target in (("supervisor", ours), ("bare_kernel", bare)):
            taken = timed(target.run, "print(1)")
            if number >= 20:
                times[name].append(taken)
    figures = {
        name: {"p50": round(statistics.median(all_), 3), "p99": round(statistics.quantiles(all_, n=100)[98], 3)}
        for name, all_ in times.items()
    }
    print(json.dumps({"runs": runs, **figures, "ratio": round(figures["supervisor"]["p50"] / figures["bare_kernel"]["p50"], 3)}))
    ours.end()
    bare.end()


if __name__ == "__main__":
    main()
