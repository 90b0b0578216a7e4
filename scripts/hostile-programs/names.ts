import { family } from './program.ts'

const py = String.raw

/** The ways by which name resolution can send a packet. */
export const names = family('names', [
  ['getaddrinfo', 'getaddrinfo(3)', py`print(err(socket.getaddrinfo, T.token + ".example.com", 80))`, 'gaierror', { aims: ['dns'] }],
  ['gethostbyname', 'gethostbyname(3)', py`print(err(socket.gethostbyname, T.token + ".example.com"))`, 'gaierror', { aims: ['dns'] }],
  [
    'gethostbyaddr',
    'gethostbyaddr(3)',
    py`
def go():
    try: socket.gethostbyaddr("192.0.2.7")
    except socket.herror: raise KeyError
print(err(go))`,
    /^(KeyError|gaierror)\n$/,
  ],
  [
    'libc res_query',
    'res_query(3)',
    py`
lib = next((l for l in map(lambda n: err(ctypes.CDLL, n) == "ok" and ctypes.CDLL(n), ("libresolv.so.2", "libc.so.6")) if l and hasattr(l, "res_query")), libc)
b = ctypes.create_string_buffer(512); print(lib.res_query((T.token + ".example.com").encode(), 1, 1, b, 512) if hasattr(lib, "res_query") else lib.__res_query((T.token + ".example.com").encode(), 1, 1, b, 512))`,
    '-1',
    { aims: ['dns'] },
  ],
  [
    'asyncio resolver',
    'getaddrinfo(3)',
    py`
import asyncio
try: await asyncio.get_running_loop().getaddrinfo(T.token + ".example.com", 80); print("ok")
except OSError as e: print("refused")`,
    'refused',
    { aims: ['dns'] },
  ],
  ['getent', 'name service of a child program', py`print(sh(f"getent ahosts {T.token}.example.com; echo $?"))`, '2', { aims: ['dns'] }],
  ['udp to the resolver', 'DNS over UDP', py`print(err(udp, T.gateway, 53, query()))`, 'ENETUNREACH', { aims: ['dns'] }],
  [
    'tcp to the resolver',
    'DNS over TCP',
    py`print(err(lambda: tcp(T.gateway, 53, (struct.pack(">H", len(query())) + query()).decode("latin1"))))`,
    'ENETUNREACH',
    { aims: ['dns'] },
  ],
  ['udp to the cloud resolver', 'DNS over UDP', py`print(err(udp, T.resolver, 53, query()))`, 'ENETUNREACH', { aims: ['resolver'] }],
  ['ipv6 resolver', 'AF_INET6', py`print(err(lambda: socket.socket(10, 2).sendto(query(28), ("fd00:ec2::253", 53))))`, 'ENETUNREACH'],
  [
    'https to a public resolver',
    'DNS over HTTPS',
    py`
import urllib.request
print(err(lambda: urllib.request.urlopen(f"https://1.1.1.1/dns-query?name={T.token}", timeout=3)))`,
    'URLError',
  ],
  ['txt question with data', 'DNS over UDP', py`print(err(udp, T.gateway, 53, query(16)))`, 'ENETUNREACH', { aims: ['dns'] }],
  [
    'resolver file',
    'open(2) for writing below the read-only root',
    py`print(err(lambda: open("/etc/resolv.conf", "a")))`,
    /^(EROFS|EACCES)\n$/,
  ],
  [
    'nss daemon socket',
    'socket of the name service cache',
    py`print(err(lambda: socket.socket(1).connect("/var/run/nscd/socket")))`,
    'ENOENT',
  ],
  [
    'resolver over varlink',
    'varlink to the system resolver',
    py`print(err(lambda: socket.socket(1).connect("/run/systemd/resolve/io.systemd.Resolve")))`,
    'ENOENT',
  ],
  ['multicast dns', 'multicast', py`print(err(udp, "224.0.0.251", 5353, query()))`, 'ENETUNREACH'],
])
