import { describe, expect, inject, it } from 'vitest'
import { pythonInImage } from '../support/in-image.ts'

const image = inject('sandboxImage')

/** Probes each call in a container with the profile but without the worker's own filter. */
const PROBE = `
import ctypes, errno, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *arguments)
    return 'ok' if result >= 0 else errno.errorcode[ctypes.get_errno()]
machine = os.uname().machine
numbers = json.loads(NUMBERS)[machine]
families = {}
for family in range(0, 46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            families[family] = 'ok'
        except OSError as error:
            families.setdefault(family, errno.errorcode[error.errno])
calls = {name: call(number, *( [0x10000000] if name == 'unshare' else [0, 0, 0, 0] )) for name, number in numbers.items()}
print(json.dumps({'families': {str(k): v for k, v in families.items() if v != 'EPERM'}, 'calls': calls}))
`

const SHARED = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  clone3: 435,
  pidfd_getfd: 438,
  mount_setattr: 442,
  open_tree: 428,
}
const NUMBERS = {
  x86_64: {
    ...SHARED,
    ...{
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      keyctl: 250,
      add_key: 248,
      ptrace: 101,
      process_vm_readv: 310,
      process_vm_writev: 311,
    },
    ...{
      unshare: 272,
      setns: 308,
      mount: 165,
      pivot_root: 155,
      vmsplice: 278,
      open_by_handle_at: 304,
      init_module: 175,
      kexec_load: 246,
      syslog: 103,
    },
    ...{ quotactl: 179, acct: 163, swapon: 167, reboot: 169, iopl: 172, modify_ldt: 154, fanotify_init: 300 },
  },
  aarch64: {
    ...SHARED,
    ...{
      bpf: 280,
      perf_event_open: 241,
      userfaultfd: 282,
      keyctl: 219,
      add_key: 217,
      ptrace: 117,
      process_vm_readv: 270,
      process_vm_writev: 271,
    },
    ...{
      unshare: 97,
      setns: 268,
      mount: 40,
      pivot_root: 41,
      vmsplice: 75,
      open_by_handle_at: 265,
      init_module: 105,
      kexec_load: 104,
      syslog: 116,
    },
    ...{ quotactl: 60, acct: 89, swapon: 224, reboot: 142, fanotify_init: 262 },
  },
}

describe('seccomp.json', () => {
  it('allows AF_UNIX as the only socket family and denies privileged system calls', async () => {
    const { code, stdout, output } = await pythonInImage(image, PROBE.replace('NUMBERS', `'${JSON.stringify(NUMBERS)}'`))
    expect(code, output).toBe(0)
    const { families, calls } = JSON.parse(stdout) as { families: Record<string, string>; calls: Record<string, string> }
    expect(families).toEqual({ 1: 'ok' })
    const { io_uring_setup, io_uring_enter, io_uring_register, clone3, ...others } = calls
    expect([io_uring_setup, io_uring_enter, io_uring_register, clone3]).toEqual(['ENOSYS', 'ENOSYS', 'ENOSYS', 'ENOSYS'])
    expect(Object.keys(others).length).toBeGreaterThan(20)
    expect(Object.entries(others).filter(([, answer]) => answer !== 'EPERM')).toEqual([])
  })

  it('allows threads, processes, pools and pipes', async () => {
    const program = `
import asyncio, multiprocessing, subprocess, threading
threading.Thread(target=lambda: print('thread')).start()
with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2]))
print(subprocess.run('seq 1000 | sort -R | sort -n | tail -1; mkfifo /tmp/fifo && echo fifo', shell=True, capture_output=True, text=True).stdout)
asyncio.run(asyncio.sleep(0.001))
`
    expect(await pythonInImage(image, program)).toMatchObject({ code: 0, stdout: 'thread\n[1, 2]\n1000\nfifo\n\n' })
  })
})
