import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusedCheck } from '../../../services/model/sandboxes/isolation-checks.ts'
import { SECURE_OPTIONS, startReadySandbox, startSandbox, type TestSandbox } from './start-sandbox.ts'

const without = (...starts: readonly string[]) => SECURE_OPTIONS.filter((option) => !starts.some((start) => option.startsWith(start)))
const LIGHT = { preload: [] }

const CODE = 'runtime-image/supervisor/cellblock_supervisor'
const INSTALLED = '/opt/cellblock/cellblock_supervisor'

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

/** A folder of the host that every user may write to. */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cbs-open-'))
  folders.push(folder)
  await chmod(folder, 0o777)
  return folder
}

/** Mounts an edited module of the supervisor over that of the image, and hides its bytecode, which Python would not compare with the source. */
async function withModule(module: string, find: string, replace: string): Promise<readonly string[]> {
  const source = await readFile(join(import.meta.dirname, '../../..', CODE, module), 'utf8')
  expect(source.split(find)).toHaveLength(2)
  const file = join(await openFolder(), 'module.py')
  await writeFile(file, source.replace(find, replace))
  return [...SECURE_OPTIONS, `--volume=${file}:${INSTALLED}/${module}:ro`, `--tmpfs=${INSTALLED}/${dirname(module)}/__pycache__`]
}

/** Without Landlock only modes restrict the worker's writes. */
const UNCONFINED = () => withModule('worker/isolation/drop_privileges.py', '    landlock.confine_writes()\n', '')

interface Misconfiguration {
  readonly options: () => Promise<readonly string[]> | readonly string[]
  /** The check that fails; each misconfiguration has another one. */
  readonly check: string
  readonly profile?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** Misconfigured environments by what is wrong. */
const MISCONFIGURATIONS: Readonly<Record<string, Misconfiguration>> = {
  'a network': { options: () => without('--network'), check: 'only_loopback_exists' },
  'a writable root': { options: () => without('--read-only'), check: 'root_file_system_is_read_only' },
  'the default capabilities': { options: () => without('--cap-drop'), check: 'supervisor_has_only_its_capabilities' },
  'new privileges allowed': { options: () => without('--security-opt'), check: 'no_new_privileges_is_set' },
  'no seccomp of the engine': { options: () => [...SECURE_OPTIONS, '--security-opt=seccomp=unconfined'], check: 'engine_seccomp_is_on' },
  'no process limit': { options: () => without('--pids-limit'), check: 'processes_are_limited' },
  'no memory limit': { options: () => without('--memory'), check: 'memory_is_limited' },
  "the host's processes": { options: () => [...SECURE_OPTIONS, '--pid=host'], check: 'supervisor_is_process_1' },
  'an unsized data folder': { options: () => without('--tmpfs=/mnt/data'), check: 'writable_mounts_are_sized' },
  'a data folder of another user': {
    options: () => [...without('--tmpfs=/mnt/data'), '--tmpfs=/mnt/data:size=128m,mode=0700'],
    check: 'data_folder_is_writable',
  },
  "the engine's socket": {
    options: () => [...SECURE_OPTIONS, '--volume=/var/run/docker.sock:/var/run/docker.sock'],
    check: 'engine_socket_is_absent',
  },
  'unmasked kernel settings': {
    options: () => [...SECURE_OPTIONS, '--security-opt=systempaths=unconfined'],
    check: 'kernel_interfaces_are_closed',
  },
  "the host's control groups": { options: () => [...without('--cgroupns'), '--cgroupns=host'], check: 'control_group_is_hidden' },
  'a terminal device that user code may open': {
    options: () => withModule('execution/terminals.py', '    os.chmod(f"{_FOLDER}/ptmx", 0o600)', '    return'),
    check: 'terminals_are_closed',
  },
  'a worker without a name': { options: () => SECURE_OPTIONS, environment: { CELLBLOCK_WORKER_UID: '20001' }, check: 'worker_has_a_name' },
  'a device of the host': { options: () => [...SECURE_OPTIONS, '--device=/dev/null:/dev/kvm'], check: 'devices_are_harmless' },
  'a folder of the system that the worker can write to': {
    options: async () => [...(await UNCONFINED()), `--volume=${await openFolder()}:/var/lib`],
    check: 'only_worker_folders_are_writable',
  },
  'a control folder that the worker can reach': {
    options: async () => [...without('--tmpfs=/run/cellblock'), `--volume=${await openFolder()}:/run/cellblock`],
    check: 'control_socket_is_unreachable',
  },
  'a worker without a filter of system calls': {
    options: () => withModule('worker/isolation/seccomp.py', '    code = filter_code()', '    return'),
    check: 'no_other_socket_opens',
  },
  'a worker that may attach filters to sockets': {
    options: () =>
      withModule('worker/isolation/seccomp.py', '(_JUMP_EQUAL, 2, 0, _SO_ATTACH_FILTER)', '(_JUMP_EQUAL, 3, 0, _SO_ATTACH_FILTER)'),
    check: 'own_filters_are_refused',
  },
  'a worker that stays root': {
    options: () => withModule('worker/isolation/drop_privileges.py', '    os.setresuid(WORKER_UID, WORKER_UID, WORKER_UID)\n', ''),
    check: 'no_privilege_is_left',
  },
  "a worker with the supervisor's environment": {
    options: () => withModule('worker/isolation/environment.py', '    return {\n', '    return {\n        **__import__("os").environ,\n'),
    check: 'environment_holds_no_secret',
  },
  'a worker without Landlock': {
    options: UNCONFINED,
    check: 'oom_score_is_fixed',
  },
  'a worker that cannot be created': { options: () => without('--cap-add=SETUID'), check: 'worker_could_not_be_created' },
  'a capability that Fargate does not grant': {
    options: () => [...SECURE_OPTIONS, '--cap-add=SYS_ADMIN'],
    profile: 'fargate',
    check: 'capabilities_are_not_dangerous',
  },
}

describe('the self-test at start', () => {
  it('is tested in at least 15 misconfigured environments, each found by a different check', () => {
    const checks = Object.values(MISCONFIGURATIONS).map(({ check }) => check)
    expect(new Set(checks).size).toBe(checks.length)
    expect(checks.length).toBeGreaterThanOrEqual(15)
  })

  it.each(Object.entries(MISCONFIGURATIONS))(
    'refuses %s with an exit code and one line that name the check, before any execution',
    async (_name, { options, check, profile, environment = {} }) => {
      await using sandbox = await startSandbox({
        options: await options(),
        environment,
        limits: LIGHT,
        ...(profile !== undefined && { profile }),
      })
      // A sandbox that takes work would not end.
      await expect.poll(() => sandbox.docker('inspect', '--format={{.State.Status}}', sandbox.name)).toBe('exited\n')
      const { code, errors } = await sandbox.ended()
      const names = /cellblock: refused, these isolation checks failed: (.*)/.exec(errors)?.[1]?.split(', ') ?? []
      expect(refusedCheck(code)).toBe(names[0])
      expect(errors).toContain(check)
    },
  )

  it('reports the refusal to clients that wait on /health and takes no work', async () => {
    await using sandbox = await startSandbox({ options: without('--pids-limit'), limits: LIGHT })
    expect(await sandbox.supervisor.untilDecided()).toMatchObject({ state: 'refused', refused: ['processes_are_limited'] })
  })

  it('checks under the emulated profile the worker and the memory limit only', async () => {
    // Without a limit of the container the supervisor sets RLIMIT_NPROC, which counts the processes of all sandboxes of the host.
    const options = ['--memory=900m', '--pids-limit=256']
    await using sandbox = await startReadySandbox({ options, profile: 'emulated', limits: LIGHT })
    const run = await sandbox.supervisor.run('import socket\nsocket.socket()')
    expect(run.error).toMatchObject({ name: 'OSError', value: expect.stringMatching(/^\[Errno 101\] Network is unreachable/) as string })
  })

  it('limits memory itself under the fargate profile where the container has no limit', async () => {
    const options = without('--memory')
    await using sandbox = await startReadySandbox({ options, profile: 'fargate', limits: { ...LIGHT, memory_bytes: 500 * 1024 ** 2 } })
    expect((await sandbox.supervisor.run('x = bytearray(600 << 20)')).error?.name).toBe('MemoryError')
    const children = `
import os, time
for _ in range(4):
    if os.fork() == 0:
        kept = bytearray(os.urandom(1 << 20)) * 200
        time.sleep(60)
        os._exit(0)
time.sleep(60)`
    expect((await sandbox.supervisor.run(children, { timeout_ms: 50_000 })).done).toMatchObject({
      outcome: 'oom',
      state_lost: { reason: 'oom' },
    })
    expect((await sandbox.supervisor.run('print(1)')).stdout).toBe('1\n')
  }, 120_000)

  it('refuses under the fargate profile without any limit of memory', async () => {
    await using sandbox = await startSandbox({ options: without('--memory'), profile: 'fargate', limits: LIGHT })
    expect(await sandbox.supervisor.untilDecided()).toMatchObject({ state: 'refused', refused: ['memory_is_limited'] })
  })

  it('does not pass credentials of the supervisor to the worker', async () => {
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

describe('the worker', () => {
  let sandbox: TestSandbox
  beforeAll(async () => void (sandbox = await startReadySandbox({ limits: LIGHT })))
  afterAll(() => sandbox[Symbol.asyncDispose]())
  const say = async (code: string) => (await sandbox.supervisor.run(code)).stdout

  it('opens no socket but AF_UNIX, by libc or by number, in the kernel or in its children', async () => {
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

  it('opens no socket through system calls of other architectures', async () => {
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

  it('gets exactly the errno of the table for dangerous system calls', async () => {
    const code = `
import ctypes, errno, platform, sys
from cellblock_supervisor.worker.isolation import syscall_table as table
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
  ])('has no access to %s', async (_name, code, expected) => {
    expect(await say(code)).toBe(expected)
  })

  it('is killed first when memory runs out', async () => {
    expect(await say('print(open("/proc/self/oom_score_adj").read(), end="")')).toBe('1000\n')
  })

  it('many processes run in SCHED_IDLE after the supervisor and cannot leave it', async () => {
    await using own = await startReadySandbox({ limits: LIGHT })
    const code = `
import os, subprocess, sys, time
look = "import os; print(os.sched_getscheduler(0))"
def child(): return int(subprocess.run([sys.executable, "-c", look], capture_output=True, text=True).stdout)
alone = (os.sched_getscheduler(0), child())
processes = [subprocess.Popen(["sleep", "600"]) for _ in range(40)]
end = time.monotonic() + 10
def classes(): return {os.sched_getscheduler(pid) for pid in (0, *(process.pid for process in processes))}
while classes() != {os.SCHED_IDLE} and time.monotonic() < end: time.sleep(0.01)
def back():
    try: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError: return "refused"
print(alone == (os.SCHED_OTHER,) * 2, classes() == {child()} == {os.SCHED_IDLE}, os.sched_getscheduler(1) == os.SCHED_OTHER, back())
for process in processes: process.kill(); process.wait()`
    expect((await own.supervisor.run(code)).stdout).toBe('True True True refused\n')
  })

  it('many processes and the supervisor have different processors until the processes have ended', async () => {
    await using own = await startReadySandbox({ limits: LIGHT })
    const look = `
import subprocess, time
def processors(pid):
    text = next(line.split()[1] for line in open(f"/proc/{pid}/status") if line.startswith("Cpus_allowed_list:"))
    ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return {number for first, *last in ends for number in range(first, (last or [first])[0] + 1)}
def wait(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end: time.sleep(0.01)
    return condition()
`
    const many = `${look}
every = processors(1)
many = [subprocess.Popen(["sleep", "600"]) for _ in range(40)]
def of_worker(): return {frozenset(processors(pid)) for pid in ("self", *(process.pid for process in many))}
wait(lambda: all(len(own) == 1 for own in of_worker()))
print(of_worker() == {frozenset((every - processors(1)) or every)}, [len(own) for own in of_worker()])
for process in many: process.kill(); process.wait()`
    expect((await own.supervisor.run(many)).stdout).toBe('True [1]\n')
    expect((await own.supervisor.run('print(wait(lambda: processors(1) == processors("self") == every))')).stdout).toBe('True\n')
  })

  // With Landlock's second version, Linux 5.19; without it code may write to its own files of /proc, and this shows what it then gets.
  it('writes only below its folders and can move files between them', async () => {
    const code = `
import ctypes, errno, os, subprocess, sys
libc = ctypes.CDLL(None); libc.syscall.restype = ctypes.c_long
confined = libc.syscall(444, None, ctypes.c_size_t(0), 1) >= 2
def attempt(do):
    try: do()
    except OSError as error: return errno.errorcode[error.errno]
    return "ok"
names = ("oom_score_adj", "oom_adj", "comm", "coredump_filter", "clear_refs", "task/%d/comm" % os.getpid())
write = "import errno, sys\\ntry: open(sys.argv[1], 'w')\\nexcept OSError as error: print(errno.errorcode[error.errno])\\nelse: print('ok')"
here = {attempt(lambda: open(f"/proc/self/{name}", "w")) for name in names}
child = {subprocess.run([sys.executable, "-c", write, "/proc/self/oom_score_adj"], capture_output=True, text=True).stdout.strip()}
print(here == child == {"EACCES" if confined else "ok"})
def move():
    for folder in ("/mnt/data", "/tmp", os.environ["HOME"], "/dev/shm", "/run/worker"):
        os.makedirs(f"{folder}/a"); os.makedirs(f"{folder}/b")
        open(f"{folder}/a/x", "w").write("moved")
        os.truncate(f"{folder}/a/x", 4)
        os.rename(f"{folder}/a/x", f"{folder}/b/x"); os.link(f"{folder}/b/x", f"{folder}/a/y"); os.symlink("x", f"{folder}/b/z")
        os.mkfifo(f"{folder}/a/p")
        subprocess.run(["rm", "-r", f"{folder}/a", f"{folder}/b"], check=True)
    for device in ("/dev/null", "/dev/zero", "/dev/full", "/dev/stdout", "/proc/self/fd/1"): os.close(os.open(device, os.O_WRONLY))
    kept = os.memfd_create("kept"); os.close(os.open(f"/proc/self/fd/{kept}", os.O_RDWR))
    ends = os.openpty(); os.close(os.open(os.ttyname(ends[1]), os.O_RDWR | os.O_NOCTTY)); os.close(ends[0]); os.close(ends[1])
print(attempt(move))`
    expect(await say(code)).toBe('True\nok\n')
  })

  it('gets at most eight working terminals, all from the supervisor', async () => {
    const code = `
import errno, os, pty, sys
def attempt(do):
    try: return do()
    except OSError as error: return errno.errorcode[error.errno]
held = []
while not isinstance(ends := attempt(os.openpty), str): held.append(ends)
print(len(held), ends, attempt(lambda: os.open("/dev/ptmx", os.O_RDWR)))
for pair in held: [os.close(end) for end in pair]
pid, terminal = pty.fork()
if pid == 0: os.execvp("sh", ["sh", "-c", "test -t 0 && stty -a | head -1 | cut -d' ' -f1 && tty"])
said = b""
while part := attempt(lambda: os.read(terminal, 1024)):
    if isinstance(part, str): break
    said += part
os.waitpid(pid, 0)
print(said)`
    expect(await say(code)).toBe("8 ENOSPC EACCES\nb'speed\\r\\n/dev/pts/0\\r\\n'\n")
  })

  it('leaves no System V objects behind when the kernel dies', async () => {
    await using own = await startReadySandbox({ limits: LIGHT })
    const make = `
import ctypes, os
libc = ctypes.CDLL(None)
print([make >= 0 for make in (libc.shmget(7, 1 << 20, 0o1600), libc.semget(7, 1, 0o1600), libc.msgget(7, 0o1600))], flush=True)
os.kill(os.getpid(), 9)`
    expect((await own.supervisor.run(make)).stdout).toBe('[True, True, True]\n')
    const left = 'print([len(open(f"/proc/sysvipc/{name}").readlines()) - 1 for name in ("shm", "sem", "msg")])'
    expect((await own.supervisor.run(left)).stdout).toBe('[0, 0, 0]\n')
  })
})
