import { DIES, family, type Expected } from '../../../scripts/hostile-programs/program.ts'

const py = String.raw

/** Messages of the kernel channel with the number of the running request, as a hostile kernel would send them. */
const MESSAGES = py`
import json
session = get_ipython().kernel.session; sock = session.channel._socket; request = session.request_id; numbers = iter(range(1 << 52, 1 << 53))
def raw(body): 
    at = [body[i:i + 60_000] for i in range(0, len(body), 60_000)] or [b""]; number = next(numbers)
    for i, part in enumerate(at): sock.send(struct.pack("<BQB", 0x4A, number, int(i == len(at) - 1)) + part)
def send(**fields): raw(json.dumps({"id": request, **fields}).encode())
ODD = [None, True, False, -1, 1.5, 1 << 70, "", "x", [], [[]], {}, {"toString": 1, "valueOf": 1}, {"then": 1}, {"__proto__": {"x": 1}}, "\ud800"]
`
const STILL_HERE: Expected = { status: 'succeeded', stdout: /still here\n$/ }

/** Every field of every message in every wrong type: the execution ends with its own status, and nothing of the sandbox is lost. */
export const kernelMessages = family('kernel-messages', [
  [
    'counts of cells',
    'count of a cell',
    py`${MESSAGES}
for odd in ODD: send(op="input", count=odd)
print("still here")`,
    STILL_HERE,
  ],
  [
    'counts of results',
    'count of a result',
    py`${MESSAGES}
for odd in ODD: send(op="result", data={"text/plain": "x"}, metadata={}, count=odd)
print("still here")`,
    STILL_HERE,
  ],
  [
    'metadata of another type',
    'metadata of a display',
    py`${MESSAGES}
for odd in ODD: send(op="display", data={"text/plain": "x"}, metadata=odd, transient=odd)
print("still here")`,
    STILL_HERE,
  ],
  [
    'bundles of another type',
    'data of a display',
    py`${MESSAGES}
for odd in ODD: send(op="display", data=odd, metadata={})
print("still here")`,
    STILL_HERE,
  ],
  [
    'values that hosts convert',
    'values of a bundle',
    py`${MESSAGES}
for mime in ("text/plain", "text/html", "image/png", "image/svg+xml", "application/json", "application/vnd.plotly.v1+json", "text/latex", "x"):
    for odd in ODD: send(op="display", data={mime: odd}, metadata={})
    send(op="display", data={mime: [{"toString": 1, "valueOf": 1}, "a"]}, metadata={mime: {"width": odd}})
print("still here")`,
    STILL_HERE,
  ],
  [
    'images that are no images',
    'image data of a bundle',
    py`${MESSAGES}
for odd in ("", "AAAA", "data:image/png;base64,AAAA", "-" * 999, "=" * 99, "\0" * 9, "A" * 70_001):
    for mime in ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"): send(op="display", data={mime: odd}, metadata={mime: {"width": 1e308, "height": -1}})
print("still here")`,
    STILL_HERE,
  ],
  [
    'names of types',
    'media types of a bundle',
    py`${MESSAGES}
for mime in ("", "x" * 100_000, "__proto__", "constructor", "text/html\r\nset-cookie: a=b", "../../etc/passwd", "\u202e", "application/json; charset=evil", "IMAGE/PNG"): send(op="display", data={mime: "x", "text/plain": "y"}, metadata={mime: {}})
print("still here")`,
    STILL_HERE,
  ],
  [
    'thousands of types',
    'number of media types',
    py`${MESSAGES}
send(op="display", data={f"x/{i}": "v" for i in range(5_000)}, metadata={})
print("still here")`,
    STILL_HERE,
  ],
  [
    'updates of displays',
    'identifier of a display',
    py`${MESSAGES}
for odd in ODD + ["x" * 100_000]: send(op="update", data={"text/plain": "x"}, metadata={}, transient={"display_id": odd})
print("still here")`,
    STILL_HERE,
  ],
  [
    'clearing of outputs',
    'clearing of outputs by message',
    py`${MESSAGES}
for odd in ODD: send(op="clear", wait=odd)
for _ in range(20_000): send(op="clear", wait=True)
print("still here")`,
    STILL_HERE,
  ],
  [
    'tracebacks of another type',
    'traceback of an error',
    py`${MESSAGES}
for odd in ODD: send(op="error", name=odd, value=odd, traceback=odd)
send(op="error", name="E", value="v", traceback=ODD)
print("still here")`,
    STILL_HERE,
  ],
  [
    'tracebacks without an end',
    'size of tracebacks',
    py`${MESSAGES}
for _ in range(300): send(op="error", name="E" * 5_000, value="v" * 100_000, traceback=["t" * 60_000] * 3)
print("still here")`,
    STILL_HERE,
  ],
  [
    'tracebacks by the shell',
    'showtraceback of IPython',
    py`
ip = get_ipython()
try: raise ValueError("A" * 60_000)
except ValueError:
    for _ in range(300): ip.showtraceback()
print("still here")`,
    STILL_HERE,
  ],
  [
    'lines of a traceback',
    'number of lines of a traceback',
    py`${MESSAGES}
send(op="error", name="E", value="v", traceback=["\x1b[31mx"] * 200_000)
print("still here")`,
    STILL_HERE,
  ],
  [
    'claims of removed bytes',
    'claimed sizes',
    py`${MESSAGES}
for odd in ODD + [1 << 62, (1 << 63) - 1]: send(op="error", name="E", value="v", traceback=[], cut_bytes=odd); send(op="omitted", reason="max_display_bytes", bytes=odd)
print("still here")`,
    STILL_HERE,
  ],
  [
    'operations that do not exist',
    'operation of a message',
    py`${MESSAGES}
for odd in ODD + ["comm_open", "comm_msg", "comm_close", "input_request", "status", "shutdown_reply", "execute", "snapshot", "exited", "started", "ready"]: send(op=odd, comm_id="c", target_name="jupyter.widget", data={}, content={"prompt": "password?"})
print("still here")`,
    STILL_HERE,
  ],
  [
    'requests that do not exist',
    'request of a message',
    py`${MESSAGES}
for odd in ODD: raw(json.dumps({"id": odd, "op": "display", "data": {"text/plain": "forged"}, "metadata": {}}).encode())
print("still here")`,
    { status: 'succeeded', stdout: 'still here\n' },
  ],
  [
    'keys that are repeated',
    'repeated keys of JSON',
    py`${MESSAGES}
raw(b'{"id":"' + request.encode() + b'","op":"clear","op":"display","data":{"text/plain":"a","text/plain":["b"]},"data":{"text/plain":"c"},"metadata":{}}')
print("still here")`,
    STILL_HERE,
  ],
  [
    'numbers beyond doubles',
    'range of numbers',
    py`${MESSAGES}
for text in ("1e999", "-1e999", "1" * 400, "-0", "0.1e-400", "1E+308", "9007199254740993"): raw(b'{"id":"' + request.encode() + b'","op":"display","data":{"application/json":{"n":' + text.encode() + b'}},"metadata":{"n":' + text.encode() + b'}}')
print("still here")`,
    STILL_HERE,
  ],
  [
    'encodings other than UTF-8',
    'encoding of a message',
    py`${MESSAGES}
for code in ("utf-16", "utf-32", "latin-1", "utf-7"): raw(json.dumps({"id": request, "op": "display", "data": {"text/plain": "\u00e9"}, "metadata": {}}, ensure_ascii=False).encode(code))
raw(b"\xef\xbb\xbf{}"); raw(b"\xed\xa0\x80"); raw(b'"' + b"\xc0\xaf" * 9 + b'"')
print("still here")`,
    STILL_HERE,
  ],
  [
    'charts that are no charts',
    'structured data of a chart',
    py`${MESSAGES}
for odd in ODD + [{"charts": [{"series": [{"x": [1e308] * 9, "y": "z"}]}]}, {"charts": {"length": -1}}]: send(op="display", data={"application/vnd.cellblock.chart.v1+json": odd, "application/vnd.dataresource+json": odd}, metadata={})
print("still here")`,
    STILL_HERE,
  ],
  [
    'fragments under one number',
    'numbers of fragments',
    py`${MESSAGES}
for _ in range(200): sock.send(struct.pack("<BQB", 0x4A, 7, 0) + b'{"id":')
sock.send(struct.pack("<BQB", 0x4A, 7, 1) + b"}")
print("still here")`,
    STILL_HERE,
  ],
  [
    'reply with an error',
    'error of a forged reply',
    py`${MESSAGES}
for odd in ODD[:6]: raw(json.dumps({"id": "0", "op": "reply", "status": "error", "name": odd, "value": odd}).encode())
send(op="reply", status={"toString": 1}, name=["x"], value={"valueOf": 1}, cut_bytes=True, count=True, restored="9", lost=[1, None, {"what": 1}])
time.sleep(0.3)`,
    { status: 'failed', reason: 'error' },
  ],
  [
    'reply, then more outputs',
    'messages after the reply',
    py`${MESSAGES}
send(op="reply", status="ok", count=1)
for _ in range(500): send(op="display", data={"text/plain": "late"}, metadata={})
time.sleep(0.3)`,
    { status: 'succeeded' },
  ],
  [
    'reply, then death',
    'death after the reply',
    py`${MESSAGES}
send(op="reply", status="ok", count=1); os._exit(0)`,
    { status: 'succeeded' },
    { isQuick: true },
  ],
  [
    'bytes of a snapshot',
    'bulk packets without a snapshot',
    py`${MESSAGES}
for _ in range(2_000): sock.send(b"\x42" + bytes(60_000))
print("still here")`,
    STILL_HERE,
  ],
  [
    'channel that is never read',
    'send buffer of the supervisor',
    py`
import fcntl
if os.fork() == 0:
    sock = get_ipython().kernel.session.channel._socket; end = time.time() + 1
    while time.time() < end: err(sock.recv, 70_000, socket.MSG_DONTWAIT)
    os._exit(0)
time.sleep(1.2); print("still here")`,
    STILL_HERE,
  ],
  [
    'display of a million keys',
    'keys of nested objects',
    py`${MESSAGES}
send(op="display", data={"application/json": [{str(i): i} for i in range(60_000)]}, metadata={})
print("still here")`,
    STILL_HERE,
  ],
  [
    'death in the middle of a message',
    'unfinished message of a dead kernel',
    py`${MESSAGES}
sock.send(struct.pack("<BQB", 0x4A, next(numbers), 0) + b'{"id":"' + request.encode() + b'","op":"disp'); os._exit(3)`,
    DIES,
  ],
])
