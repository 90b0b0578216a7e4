import { mkdtemp, chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECURE_OPTIONS, startReadySandbox, startSandbox, type TestSandbox } from './start-sandbox.ts'

const without = (...starts: readonly string[]) => SECURE_OPTIONS.filter((option) => !starts.some((start) => option.startsWith(start)))
const LIGHT = { preload: [] }

describe('the self-test at start', () => {
  it.each<[string, readonly string[], string]>([
    ['a network', without('--network'), 'only_loopback_exists'],
    ['a writable root', without('--read-only'), 'root_file_system_is_read_only'],
    ['default capabilities', without('--cap-drop'), 'supervisor_has_only_its_capabilities'],
    ['SYS_ADMIN', [...SECURE_OPTIONS, '--cap-add=SYS_ADMIN'], 'supervisor_has_only_its_capabilities'],
    ['SYS_PTRACE', [...SECURE_OPTIONS, '--cap-add=SYS_PTRACE'], 'supervisor_has_only_its_capabilities'],
    ['DAC_OVERRIDE', [...SECURE_OPTIONS, '--cap-add=DAC_OVERRIDE'], 'supervisor_has_only_its_capabilities'],
    ['no KILL', without('--cap-add=KILL'), 'supervisor_has_only_its_capabilities'],
    ['no SETUID', without('--cap-add=SETUID'), 'supervisor_has_only_its_capabilities'],
    ['new privileges allowed', without('--security-opt'), 'no_new_privileges_is_set'],
    ['no seccomp of the engine', [...SECURE_OPTIONS, '--security-opt=seccomp=unconfined'], 'engine_seccomp_is_on'],
    ['no process limit', without('--pids-limit'), 'processes_are_limited'],
    ['no memory limit', without('--memory'), 'memory_is_limited'],
    ["the host's processes", [...SECURE_OPTIONS, '--pid=host'], 'supervisor_is_process_1'],
    ['an init before it', [...SECURE_OPTIONS, '--init'], 'supervisor_is_process_1'],
    ['an unsized data folder', without('--tmpfs=/mnt/data'), 'writable_places_are_sized'],
    ['an unsized /tmp', without('--tmpfs=/tmp'), 'writable_places_are_sized'],
    ["the engine's socket", [...SECURE_OPTIONS, '--volume=/var/run/docker.sock:/var/run/docker.sock'], 'engine_socket_is_absent'],
  ])('refuses %s with code 86 and one line', async (_name, options, wall) => {
    await using sandbox = await startSandbox({ options, limits: LIGHT })
    const { code, errors } = await sandbox.ended()
    expect([code, errors]).toEqual([86, expect.stringContaining('cellblock: refused, these walls do not hold: ')])
    expect(errors).toContain(wall)
  })

  it('refuses a folder of the system that the worker can write to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cbs-open-'))
    await chmod(folder, 0o777)
    await using sandbox = await startSandbox({ options: [...SECURE_OPTIONS, `--volume=${folder}:/var/lib`], limits: LIGHT })
    expect(await sandbox.ended()).toMatchObject({ code: 86, errors: expect.stringContaining('only_work_folders_are_writable') })
    await rm(folder, { recursive: true })
  })

  it('refuses a control folder that the worker can reach', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cbs-open-'))
    await chmod(folder, 0o777)
    const options = [...without('--tmpfs=/run/cellblock'), `--volume=${folder}:/run/cellblock`]
    await using sandbox = await startSandbox({ options, limits: LIGHT })
    expect(await sandbox.ended()).toMatchObject({ code: 86, errors: expect.stringContaining('control_socket_is_unreachable') })
    await rm(folder, { recursive: true, force: true })
  })

  it('tells the refusal to whoever waits on /health, and takes no work', async () => {
    await using sandbox = await startSandbox({ options: without('--pids-limit'), limits: LIGHT })
    expect(await sandbox.supervisor.untilDecided()).toMatchObject({ state: 'refused', refused: ['processes_are_limited'] })
  })

  it('under the emulated profile asks nothing of the container around it, but everything of the worker', async () => {
    await using sandbox = await startReadySandbox({ options: ['--memory=900m'], profile: 'emulated', limits: LIGHT })
    const run = await sandbox.supervisor.run('import socket\nsocket.socket()')
    expect(run.error).toMatchObject({ name: 'OSError', value: '[Errno 101] Network is unreachable' })
  })

  it('passes credentials of the supervisor on to nobody', async () => {
    await using sandbox = await startReadySandbox({
      limits: LIGHT,
      environment: { AWS_SECRET_ACCESS_KEY: 'canary', ECS_CONTAINER_METADATA_URI_V4: 'http://canary' },
    })
    const run = await sandbox.supervisor.run(
      'import os, glob\nprint(dict(os.environ))\nfor name in glob.glob("/proc/[0-9]*/environ"):\n    try: print(open(name, "rb").read())\n    except OSError as e: print(e.errno)',
    )
    expect(run.stdout).not.toMatch(/canary|CELLBLOCK_/)
  })
})

describe('inside the walls', () => {
  let sandbox: TestSandbox
  beforeAll(async () => void (sandbox = await startReadySandbox({ limits: LIGHT })))
  afterAll(() => sandbox[Symbol.asyncDispose]())
  const say = async (code: string) => (await sandbox.supervisor.run(code)).stdout

  it('no socket family but AF_UNIX opens, by libc or by number, in the kernel or in its children', async () => {
    const code = `
import ctypes, os, subprocess, sys
program = '''
import ctypes, errno, platform
libc = ctypes.CDLL(None, use_errno=True)
number, pair = (41, 53) if platform.machine() == "x86_64" else (198, 199)
opened = set()
for family in range(64):
    for kind in (1, 2, 3, 4, 5, 1 | 0o2000000):
        fds = (ctypes.c_int * 2)()
        tries = [libc.socket(family, kind, 0), libc.syscall(number, family, kind, 0), libc.syscall(number, ctypes.c_ulong(family | 1 << 40), kind, 0),
                 libc.socketpair(family, kind, 0, fds), libc.syscall(pair, family, kind, 0, fds)]
        if any(answer >= 0 for answer in tries): opened.add(family)
print(sorted(opened))
'''
exec(program)
print(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout, end="")`
    expect(await say(code)).toBe('[1]\n[1]\n')
  })

  it('no socket opens through the doors of other architectures either', async () => {
    const code = `
import ctypes, errno, mmap, os, platform, signal
answers = set()
if platform.machine() == "x86_64":
    libc = ctypes.CDLL(None, use_errno=True)
    for family in (1, 2, 10, 16, 38, 40):
        # x32: the same numbers with a bit on top. int 0x80: the 32-bit table, where socket() is 359.
        answers.add(ctypes.get_errno() if libc.syscall(0x40000000 + 41, family, 1, 0) < 0 else "open")
        code = b"\\x53\\xb8\\x67\\x01\\x00\\x00\\xbb" + bytes([family]) + b"\\x00\\x00\\x00\\xb9\\x01\\x00\\x00\\x00\\x31\\xd2\\xcd\\x80\\x5b\\xc3"
        page = mmap.mmap(-1, 4096, prot=7)
        page.write(code)
        child = os.fork()
        if child == 0:
            answer = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
            os._exit(-answer if answer < 0 else 255)
        status = os.waitpid(child, 0)[1]
        # A kernel built without the 32-bit table ends the child instead.
        answers.add(errno.ENOSYS if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSEGV else os.WEXITSTATUS(status))
print(answers - {errno.ENOSYS})`
    const run = await sandbox.supervisor.run(code)
    expect([run.done.outcome, run.stdout]).toEqual(['ok', 'set()\n'])
  })

  it('dangerous calls have exactly the errno of the table, on x86-64 and on ARM', async () => {
    const code = `
import ctypes, errno, platform, sys
from cellblock_supervisor.worker import syscall_table as table
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
wrong, tried = [], 0
for calls, answer in ((table.ABSENT, errno.ENOSYS), (table.REFUSED, errno.EPERM)):
    for name, of in calls.items():
        number = of.x86_64 if platform.machine() == "x86_64" else of.aarch64
        if number is None: continue
        tried += 1
        if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6) != -1 or ctypes.get_errno() != answer: wrong.append(name)
print(tried >= 45, wrong)`
    expect(await say(code)).toBe('True []\n')
  })

  it.each([
    [
      'user namespaces',
      'import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); print(libc.unshare(0x10000000), ctypes.get_errno())',
      '-1 1\n',
    ],
    ["another process's memory", 'import os\ntry: open(f"/proc/{os.getppid()}/mem", "rb")\nexcept OSError as e: print(e.errno)', '13\n'],
    ["the supervisor's environment", 'try: open("/proc/1/environ", "rb")\nexcept OSError as e: print(e.errno)', '13\n'],
    ["the supervisor's life", 'import os\ntry: os.kill(1, 9)\nexcept OSError as e: print(e.errno)', '1\n'],
    ['root', 'import os\ntry: os.setuid(0)\nexcept OSError as e: print(e.errno)', '1\n'],
    ["the system's files", 'try: open("/usr/bin/x", "w")\nexcept OSError as e: print(e.errno in (13, 30))', 'True\n'],
    [
      'core dumps and capabilities',
      'import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE), [l.split()[1] for l in open("/proc/self/status") if l.startswith(("CapEff", "CapPrm", "NoNewPrivs", "Seccomp:"))])',
      "(0, 0) ['0000000000000000', '0000000000000000', '1', '2']\n",
    ],
    [
      'setuid programs',
      'import subprocess\nprint(subprocess.run("find / -xdev -perm /6000 -type f", shell=True, capture_output=True, text=True).stdout, end="none")',
      'none',
    ],
    ['abstract sockets', 'print([l for l in open("/proc/net/unix") if " @" in l])', '[]\n'],
    ['names', 'import socket\ntry: socket.getaddrinfo("example.com", 80)\nexcept socket.gaierror: print("no names")', 'no names\n'],
  ])('the worker does not get at %s', async (_name, code, expected) => {
    expect(await say(code)).toBe(expected)
  })

  it('the worker is the first to go when memory ends', async () => {
    expect(await say('print(open("/proc/self/oom_score_adj").read(), end="")')).toBe('1000\n')
  })
})
