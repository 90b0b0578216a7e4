"""Stock ipykernels over ipc, driven on the level of the Jupyter protocol: what code costs with no service around it.

Arguments: the number of kernels. Writes one JSON line when they are ready, then one for each JSON line on standard input:
{"op": "run", "code"} answers {"ms"} of one round trip on the first kernel (request sent until reply and idle status are in),
{"op": "load", "code", "seconds"} keeps every kernel busy and answers {"count", "seconds"}.
"""

import json
import os
import subprocess
import sys
import time

import zmq
from jupyter_client.session import Session


class Kernel:
    def __init__(self, context, number):
        base = f"/tmp/kernel-{number}"
        key = os.urandom(16).hex()
        ports = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
        connection = {"transport": "ipc", "ip": base, "key": key, "signature_scheme": "hmac-sha256", **ports}
        with open(f"{base}.json", "w", encoding="utf-8") as file:
            json.dump(connection, file)
        self.process = subprocess.Popen([sys.executable, "-m", "ipykernel_launcher", "-f", f"{base}.json"], stdout=subprocess.DEVNULL)
        self.session = Session(key=key.encode())
        self.shell = context.socket(zmq.DEALER)
        self.iopub = context.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        for socket, port in ((self.shell, 1), (self.iopub, 2)):
            socket.reconnect_ivl = 2
            socket.connect(f"ipc://{base}-{port}")
        self.poller = zmq.Poller()
        self.poller.register(self.shell, zmq.POLLIN)
        self.poller.register(self.iopub, zmq.POLLIN)
        self.pending = None
        self.waits_for = set()

    def wait_ready(self):
        """Ready: it answered kernel_info and its iopub channel was heard."""
        while True:
            self.ask("kernel_info_request", {})
            until = time.monotonic() + 0.05
            while self.waits_for and time.monotonic() < until:
                if self.poller.poll(10):
                    self.receive()
            if not self.waits_for:
                return

    def start(self, code):
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
        self.ask("execute_request", content)

    def ask(self, kind, content):
        self.pending = self.session.send(self.shell, kind, content)["header"]["msg_id"]
        self.waits_for = {"reply", "idle"}

    def receive(self):
        """Takes in what has come; says whether the request has ended."""
        for socket in (self.shell, self.iopub):
            while socket.poll(0):
                _, frames = self.session.feed_identities(socket.recv_multipart())
                message = self.session.deserialize(frames)
                if message["parent_header"].get("msg_id") != self.pending:
                    continue
                if socket is self.shell:
                    self.waits_for.discard("reply")
                    if message["content"].get("status") == "error":
                        raise RuntimeError(message["content"].get("evalue"))
                elif message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                    self.waits_for.discard("idle")
        return not self.waits_for

    def run(self, code):
        self.start(code)
        while not self.receive():
            self.poller.poll()


def load(kernels, code, seconds):
    poller = zmq.Poller()
    owners = {}
    for kernel in kernels:
        for socket in (kernel.shell, kernel.iopub):
            poller.register(socket, zmq.POLLIN)
            owners[socket] = kernel
        kernel.start(code)
    count = 0
    started = time.monotonic()
    until = started + seconds
    busy = set(kernels)
    while busy:
        for kernel in {owners[socket] for socket, _ in poller.poll()} & busy:
            if not kernel.receive():
                continue
            count += 1
            if time.monotonic() < until:
                kernel.start(code)
            else:
                busy.discard(kernel)
    return {"count": count, "seconds": time.monotonic() - started}


def main():
    context = zmq.Context()
    kernels = [Kernel(context, number) for number in range(int(sys.argv[1]))]
    for kernel in kernels:
        kernel.wait_ready()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "load":
            answer = load(kernels, request["code"], request["seconds"])
        else:
            started = time.perf_counter_ns()
            kernels[0].run(request["code"])
            answer = {"ms": (time.perf_counter_ns() - started) / 1e6}
        print(json.dumps(answer), flush=True)


main()
