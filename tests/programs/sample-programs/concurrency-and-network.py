# %% threads
#| stdout: [0, 1, 4]
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda n: n * n, range(3))))

# %% processes
#| stdout: [0, 1, 4]
from multiprocessing import Pool
def square(n): return n * n
if __name__ == "__main__":
    with Pool(2) as pool:
        print(pool.map(square, range(3)))

# %% process pool executor
#| stdout: 45
from concurrent.futures import ProcessPoolExecutor
def total(n): return sum(range(n))
with ProcessPoolExecutor(2) as pool:
    print(pool.submit(total, 10).result())

# %% asyncio.run in a cell
#| stdout: done
import asyncio
async def main():
    await asyncio.gather(*(asyncio.sleep(0.01) for _ in range(5))); print("done")
asyncio.run(main())

# %% top-level await
#| result: 7
import asyncio
await asyncio.sleep(0, result=7)

# %% event loop of older programs
#| stdout: 3
import asyncio
async def three(): return 3
print(asyncio.get_event_loop().run_until_complete(three()))

# %% subprocess with output
#| stdout: Python 3
import subprocess, sys
print(subprocess.run([sys.executable, "--version"], capture_output=True, text=True, check=True).stdout)

# %% number of processors
#| stdout: ok
import multiprocessing, os
print("ok" if 1 <= os.cpu_count() <= 4 and multiprocessing.cpu_count() == os.cpu_count() else os.cpu_count())

# %% Python and nproc count the processors of the sandbox's limit
#| stdout: {1} {1}
import concurrent.futures, multiprocessing, os, subprocess, sys, joblib
counts = [os.cpu_count(), os.process_cpu_count(), len(os.sched_getaffinity(0)), multiprocessing.cpu_count()]
counts += [joblib.cpu_count(), int(subprocess.getoutput("nproc"))]
program = "import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))"
print(set(counts), set(map(int, subprocess.check_output([sys.executable, "-c", program]).split())))

# %% Node counts the processors of the limit
#| image: standard
#| language: javascript
#| result: [ 1, 1 ]
const os = require('os')
;[os.cpus().length, os.availableParallelism()]

# %% pools of spawned processes run functions of the notebook
#| stdout: [10.0, 20.0] [10.0, 20.0] True
import multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor
import numpy as np
FACTOR = 10
class Box:
    def __init__(self, value): self.value = value
def scale(box): return Box(float(np.float64(box.value)) * FACTOR)
results = []
for method in ("spawn", "forkserver"):
    with ProcessPoolExecutor(2, mp_context=mp.get_context(method)) as pool: results.append(list(pool.map(scale, [Box(1), Box(2)])))
print(*[[box.value for box in boxes] for boxes in results], isinstance(results[0][0], Box))

# %% a Flask application tested with its client
#| image: standard
#| stdout: {'ok': True}
from flask import Flask, jsonify
app = Flask("app")
@app.get("/")
def index(): return jsonify(ok=True)
print(app.test_client().get("/").json)

# %% http.server and urllib over loopback
#| image: standard
#| stdout: 200
#| stderr: any
import http.server, threading, urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://127.0.0.1:8000/").status); server.shutdown()

# %% Flask server and requests over loopback
#| image: standard
#| stdout: {'pong': 1}
#| stderr: any
import threading, time, requests
from flask import Flask
from werkzeug.serving import make_server
app = Flask("srv")
@app.get("/ping")
def ping(): return {"pong": 1}
server = make_server("localhost", 5000, app); threading.Thread(target=server.serve_forever, daemon=True).start()
print(requests.get("http://localhost:5000/ping", timeout=5).json()); server.shutdown()

# %% sockets over loopback
#| image: standard
#| stdout: b'echo'
import socket, threading
listener = socket.create_server(("127.0.0.1", 0)); port = listener.getsockname()[1]
def serve():
    peer, _ = listener.accept(); peer.sendall(peer.recv(10)); peer.close()
threading.Thread(target=serve).start()
with socket.create_connection(("127.0.0.1", port)) as s:
    s.sendall(b"echo"); print(s.recv(10))

# %% asyncio streams over loopback
#| image: standard
#| stdout: b'hi\n'
import asyncio
async def main():
    async def handle(reader, writer):
        writer.write(await reader.readline()); await writer.drain(); writer.close()
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
    writer.write(b"hi\n"); print(await reader.readline()); writer.close(); server.close()
asyncio.run(main())

# %% a server that names no host, started in the shell
#| image: standard
#| stdout: b'hello\n'
import subprocess, sys, time, urllib.request
open("/tmp/page.txt", "w").write("hello\n")
server = subprocess.Popen([sys.executable, "-m", "http.server", "8123"], cwd="/tmp", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for _ in range(200):
    try:
        print(urllib.request.urlopen("http://localhost:8123/page.txt").read())
        break
    except OSError:
        time.sleep(0.1)
server.terminate()

# %% a server on all addresses of IPv6, called by IPv4
#| image: standard
#| stdout: b'6'
#| stdout: EADDRINUSE
#| stdout: ECONNREFUSED
#| stdout: b'4'
import errno, socket, threading
def serve(listener, answer):
    peer, _ = listener.accept(); peer.sendall(answer); peer.close()
def call():
    with socket.create_connection(("127.0.0.1", 8124)) as s: return s.recv(10)
def failure(act):
    try: act()
    except OSError as error: return errno.errorcode[error.errno]
with socket.create_server(("::", 8124), family=socket.AF_INET6, dualstack_ipv6=True) as both:
    threading.Thread(target=serve, args=(both, b"6")).start()
    print(call())
    print(failure(lambda: socket.create_server(("127.0.0.1", 8124))))
print(failure(call))
with socket.create_server(("127.0.0.1", 8124)) as one:
    threading.Thread(target=serve, args=(one, b"4")).start()
    print(call())

# %% a Node server that names no host, called from Python and Node
#| image: standard
#| stdout: {'ok': True}
#| stdout: from node true
import subprocess, time, requests
open("/tmp/server.js", "w").write("require('http').createServer((_, reply) => reply.end(JSON.stringify({ ok: true }))).listen(3000, () => console.log('ready'))")
server = subprocess.Popen(["node", "/tmp/server.js"], stdout=subprocess.PIPE, text=True)
server.stdout.readline()
print(requests.get("http://localhost:3000/", timeout=5).json())
!node -e "fetch('http://127.0.0.1:3000').then(r => r.json()).then(v => console.log('from node', v.ok))"
server.terminate()

# %% a socket server on the name of the machine
#| image: standard
#| stdout: b'HELLO'
import socket, threading
listener = socket.socket(); listener.bind((socket.gethostname(), 0)); listener.listen()
def serve():
    peer, _ = listener.accept(); peer.sendall(peer.recv(10).upper()); peer.close()
threading.Thread(target=serve).start()
with socket.create_connection((socket.gethostname(), listener.getsockname()[1])) as s:
    s.sendall(b"hello"); print(s.recv(10))

# %% nest_asyncio, and then uvicorn in a thread
#| image: standard
#| stdout: [1, 2]
#| stdout: {'up': True}
#| stderr: any
import asyncio, threading, time, nest_asyncio, requests, uvicorn
from fastapi import FastAPI
nest_asyncio.apply()
app = FastAPI()
@app.get("/")
def root(): return {"up": True}
async def number(n):
    await asyncio.sleep(0.01); return n
print(asyncio.get_event_loop().run_until_complete(asyncio.gather(number(1), number(2))))
server = uvicorn.Server(uvicorn.Config(app, port=8345, log_level="warning"))
thread = threading.Thread(target=server.run, daemon=True); thread.start()
while thread.is_alive() and not server.started: time.sleep(0.05)
print(requests.get("http://127.0.0.1:8345/", timeout=5).json()); server.should_exit = True

# %% an error of a request that the program catches and prints
#| image: standard
#| stdout: This sandbox has no network
import requests
try:
    requests.get("https://api.github.com", timeout=5)
except requests.exceptions.RequestException as error:
    print("Request failed:", error)

# %% FastAPI with its test client
#| image: standard
#| stdout: {'item': 3}
#| stderr: any
from fastapi import FastAPI
from fastapi.testclient import TestClient
app = FastAPI()
@app.get("/items/{n}")
def item(n: int): return {"item": n}
print(TestClient(app).get("/items/3").json())

# %% a request to the internet fails with a reason
#| image: standard
#| error: ConnectionError
#| stderr: any
import requests
requests.get("https://example.com", timeout=5)

# %% urllib without a network
#| error: URLError
import urllib.request
urllib.request.urlopen("https://example.com", timeout=5)

# %% threads print in order
#| stdout: worker 2
import threading
threads = [threading.Thread(target=print, args=("worker", n)) for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()

# %% progress bar
#| image: standard
#| stderr: 100%
from tqdm import tqdm
for _ in tqdm(range(10)):
    pass

# %% progress bar for notebooks
#| image: standard
#| stdout: 4
#| stderr: any
from tqdm.notebook import tqdm
print(sum(1 for _ in tqdm(range(4))))

# %% a local port on which nothing listens refuses connections
#| image: standard
#| stdout: localhost 111 127.0.0.1 111 111 refused
#| not-stdout: no network
import errno, socket, urllib.error, urllib.request
for host in ("localhost", "127.0.0.1"):
    try:
        socket.create_connection((host, 5999), timeout=2)
    except ConnectionRefusedError as error:
        print(host, error.errno, end=" ")
print(socket.socket().connect_ex(("127.0.0.1", 5999)), end=" ")
try:
    urllib.request.urlopen("http://localhost:5999/")
except urllib.error.URLError as error:
    print("refused" if isinstance(error.reason, ConnectionRefusedError) else error, error)

# %% an uncaught refusal of a local port says what is wrong
#| image: standard
#| error: ConnectionError
#| hint: Nothing listens on this port of the sandbox
import requests
requests.get("http://localhost:5999/")

# %% asyncio waits for a server that starts later
#| image: standard
#| stdout: connected
import asyncio
async def late():
    await asyncio.sleep(0.5)
    return await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 5998)
async def main():
    starting = asyncio.create_task(late())
    while True:
        try:
            await asyncio.open_connection("localhost", 5998)
            break
        except ConnectionRefusedError:
            await asyncio.sleep(0.05)
    print("connected")
    (await starting).close()
await main()

# %% a second server on the same port is refused
#| image: standard
#| stdout: 98 98 98
import socket, subprocess, sys
first = socket.create_server(("127.0.0.1", 8123))
bound = socket.socket(); bound.bind(("127.0.0.1", 8124))
codes = []
for address in (("127.0.0.1", 8123), ("", 8123), ("127.0.0.1", 8124)):
    try:
        socket.create_server(address)
    except OSError as error:
        codes.append(error.errno)
print(*codes)

# %% a program in another process finds the port in use, and free after its end
#| image: standard
#| stdout: EADDRINUSE
#| stdout: free again
import socket, subprocess
server = socket.create_server(("127.0.0.1", 8125))
program = 'require("net").createServer().on("error", (error) => console.log(error.code)).listen(8125, "127.0.0.1", () => { console.log("free again"); process.exit() })'
for _ in range(2):
    print(subprocess.run(["node", "-e", program], capture_output=True, text=True).stdout)
    server.close()

# %% data stays readable after the other side has closed
#| image: standard
#| stdout: b'hi' BrokenPipeError
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname()); server, _ = listener.accept()
server.sendall(b"hi"); server.close(); client.send(b"x")
print(client.recv(10), end=" ")
try:
    client.send(b"y")
except OSError as error:
    print(type(error).__name__)

# %% programs learn the memory of the sandbox
#| image: standard
#| stdout: True True True True
import os, psutil, subprocess
most = 3 * 2**30
free = int(subprocess.run(["free", "-b"], capture_output=True, text=True).stdout.split()[7])
node = int(subprocess.run(["node", "-p", "os.totalmem()"], capture_output=True, text=True).stdout)
pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
print(psutil.virtual_memory().total < most, free < most, node < most, pages < most)

# %% child programs use the bytecode of the image
#| image: standard
#| stdout: /usr/local/lib/python3.13/dist-packages/pandas/__pycache__
#| stdout: 0 files
!python3 -c "import pandas; print(pandas.__cached__)"
!echo $(find /tmp -name '*.pyc' | wc -l) files
