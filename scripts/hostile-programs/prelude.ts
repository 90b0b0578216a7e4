import type { Targets } from './targets.ts'

/** Definitions for every program: the addresses of the tripwires (never the canaries), and functions that touch them. */
export const prelude = (targets: Targets, token: string): string => `
import ctypes, errno, os, signal, socket, struct, subprocess, sys, threading, time
T = __import__("types").SimpleNamespace(**__import__("json").loads(${JSON.stringify(JSON.stringify({ ...targets, token }))}))
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
# Without it the loopback library of the larger images is inactive, so that a program meets the filter, as one that avoids the library does.
LOOPBACK = os.environ.pop("SOCKET_WRAPPER_DIR", None)
def with_loopback():
    "Activates the loopback library again, where the image has it."
    if LOOPBACK: os.environ["SOCKET_WRAPPER_DIR"] = LOOPBACK
def name(number): return errno.errorcode.get(number, str(number))
def err(f, *a, **k):
    "Returns ok, the errno name or the name of the exception."
    try: f(*a, **k); return "ok"
    except socket.gaierror: return "gaierror"
    except TimeoutError: return "timeout"
    except OSError as e: return name(e.errno) if e.errno else type(e).__name__
    except BaseException as e: return type(e).__name__
def sc(number, *a):
    "Makes a raw system call. Returns its result or the name of its errno."
    r = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(x) if isinstance(x, int) else x for x in a])
    return r if r >= 0 else name(ctypes.get_errno())
def tcp(host, port, text=None):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM); s.settimeout(3); s.connect((host, port)); s.sendall((text or f"GET /{T.token} HTTP/1.0\\r\\n\\r\\n").encode())
def udp(host, port, data=None):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(data or T.token.encode(), (host, port))
def query(kind=1):
    "Returns a DNS query for a name that contains the token."
    labels = b"".join(bytes([len(p)]) + p.encode() for p in (T.token + ".example.com").split("."))
    return struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\\0" + struct.pack(">HH", kind, 1)
def sh(*command, **k):
    "Returns stdout and stderr of a child process."
    p = subprocess.run(command if len(command) > 1 else ["bash", "-c", command[0]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, text=True, errors="replace", **k); return p.stdout.strip()
def readable(path):
    "Returns whether a file is readable, and prints its content."
    try: print(open(path, "rb").read(65536)); return True
    except OSError: return False
`
