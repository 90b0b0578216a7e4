import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

/** Address families by number. 99 stands for future families. */
const FAMILIES = {
  UNSPEC: 0,
  UNIX: 1,
  INET: 2,
  AX25: 3,
  IPX: 4,
  X25: 9,
  INET6: 10,
  KEY: 15,
  NETLINK: 16,
  PACKET: 17,
  RDS: 21,
  PPPOX: 24,
  LLC: 26,
  CAN: 29,
  TIPC: 30,
  BLUETOOTH: 31,
  RXRPC: 33,
  PHONET: 35,
  ALG: 38,
  NFC: 39,
  VSOCK: 40,
  QIPCRTR: 42,
  SMC: 43,
  XDP: 44,
  MCTP: 45,
  future: 99,
}
const TYPES = { STREAM: 1, DGRAM: 2, RAW: 3, RDM: 4, SEQPACKET: 5 }

/**
 * Each attempt returns `open` or an errno. x32 is tried on x86-64 only; the 32-bit table by machine code (`int 0x80`, socket is 359) in a
 * child, because a kernel without that table ends the process; io_uring through a ring, which its SOCKET operation needs.
 */
const PROGRAM = `
import ctypes, errno, json, mmap, os, platform, struct
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
def said(r):
    if r >= 0: os.close(r); return "open"
    return errno.errorcode[ctypes.get_errno()]
def by_int80(family, kind):
    code = b"\\x53\\xb8\\x67\\x01\\x00\\x00\\xbb" + struct.pack("<I", family) + b"\\xb9" + struct.pack("<I", kind) + b"\\x31\\xd2\\xcd\\x80\\x5b\\xc3"
    page = mmap.mmap(-1, 4096, prot=7); page.write(code)
    child = os.fork()
    if child == 0:
        r = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page))); r = r(); os._exit(-r if r < 0 else 255)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status): return "signal"
    return "open" if os.WEXITSTATUS(status) == 255 else errno.errorcode[os.WEXITSTATUS(status)]
def by_ring():
    fd = libc.syscall(ctypes.c_long(425), 8, ctypes.create_string_buffer(120)); return said(fd)
x86 = platform.machine() == "x86_64"
number = 41 if x86 else 198
out = []
for fname, family in FAMILIES.items():
    for tname, kind in TYPES.items():
        rows = {"libc": said(libc.socket(family, kind, 0)), "call": said(libc.syscall(ctypes.c_long(number), ctypes.c_long(family), ctypes.c_long(kind), ctypes.c_long(0))),
                "high": said(libc.syscall(ctypes.c_long(number), ctypes.c_long(family | 1 << 40), ctypes.c_long(kind), ctypes.c_long(0))), "io_uring": by_ring()}
        if x86:
            rows["x32"] = said(libc.syscall(ctypes.c_long(0x40000000 + 41), ctypes.c_long(family), ctypes.c_long(kind), ctypes.c_long(0)))
            rows["int80"] = by_int80(family, kind)
        out += [[fname, tname, way, answer] for way, answer in rows.items()]
print(json.dumps(out, separators=(",", ":")))`

type Attempt = readonly [family: string, type: string, way: string, answer: string]

let server: LocalServerProcess
let attempts: readonly Attempt[]
beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: inject('sandboxImage') } })
  const tables = `FAMILIES = ${JSON.stringify(FAMILIES)}\nTYPES = ${JSON.stringify(TYPES)}\n`
  const execution = await server.native.run(await server.native.createContainer(), tables + PROGRAM)
  expect(execution.status, execution.stderr).toBe('succeeded')
  attempts = JSON.parse(execution.stdout) as readonly Attempt[]
})
afterAll(() => server.stop())

describe('the socket matrix', () => {
  it('covers at least 24 families, 5 types and 4 ways to call', () => {
    expect(new Set(attempts.map(([family]) => family)).size).toBeGreaterThanOrEqual(24)
    expect(attempts.length).toBeGreaterThanOrEqual(480)
  })

  it.each(Object.keys(FAMILIES).filter((name) => name !== 'UNIX'))('denies AF_%s in every way with the expected errno', (family) => {
    const answers = attempts.filter(([name]) => name === family)
    expect(answers.length).toBeGreaterThanOrEqual(20)
    const wanted: Record<string, RegExp> = {
      libc: /^ENETUNREACH$/,
      call: /^ENETUNREACH$/,
      high: /^ENETUNREACH$/,
      io_uring: /^ENOSYS$/,
      x32: /^ENOSYS$/,
      int80: /^(ENOSYS|signal)$/,
    }
    expect(answers.filter(([, , way, answer]) => !wanted[way]?.test(answer))).toEqual([])
  })

  it('opens AF_UNIX only through the native system call', () => {
    const open = attempts.filter(([, , , answer]) => answer === 'open').map(([family, , way]) => `${family} ${way}`)
    expect(open).toContain('UNIX libc')
    expect(open).toContain('UNIX call')
    // The engine may compare 32 or 64 bits of the family. Both mean AF_UNIX.
    expect(open.filter((way) => !['UNIX libc', 'UNIX call', 'UNIX high'].includes(way))).toEqual([])
  })
})
