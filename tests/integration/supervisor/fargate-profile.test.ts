import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { refusedCheck } from '../../../services/model/sandboxes/isolation-checks.ts'
import { startReadySandbox, startSandbox } from './start-sandbox.ts'

const SUPERVISOR = join(import.meta.dirname, '../../../runtime-image/supervisor/cellblock_supervisor')
const INSTALLED = '/opt/cellblock/cellblock_supervisor'
const MEMORY_BYTES = 700 * 1024 ** 2
const LIMITS = { preload: [], memory_bytes: MEMORY_BYTES }

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function newFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cbs-fargate-'))
  folders.push(folder)
  await chmod(folder, 0o755)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** Mounts an edited module of the supervisor over that of the image. */
async function withModule(module: string, find: string, replace: string): Promise<readonly string[]> {
  const source = await readFile(join(SUPERVISOR, module), 'utf8')
  expect(source.split(find)).toHaveLength(2)
  const folder = await newFolder({ 'module.py': source.replace(find, replace) })
  return [`--volume=${folder}/module.py:${INSTALLED}/${module}:ro`, `--tmpfs=${INSTALLED}/${dirname(module)}/__pycache__`]
}
/** Fargate's kernel may have no Landlock. */
const WITHOUT_LANDLOCK = () =>
  withModule('worker/isolation/landlock.py', '_LEAST_VERSION, _VERSION_OF_TRUNCATE = 2, 3', '_LEAST_VERSION, _VERSION_OF_TRUNCATE = 99, 99')

/** What the task definition drops of Docker's default capabilities; Fargate adds none. */
const DROPPED = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETPCAP',
  'SYS_CHROOT',
]

/**
 * A Fargate task: a network, the default seccomp profile, no `no-new-privileges`, no limit of processes, a data volume without a quota, and the
 * tmpfs of the task definition.
 */
const TASK: readonly string[] = [
  '--read-only',
  ...DROPPED.map((name) => `--cap-drop=${name}`),
  '--cgroupns=private',
  '--log-driver=json-file',
  '--volume=/mnt/data',
  '--tmpfs=/tmp:rw,nosuid,nodev,exec,size=64m,mode=1777',
  '--tmpfs=/home/worker:rw,nosuid,nodev,exec,size=16m,uid=10001,gid=10001,mode=0700',
  '--tmpfs=/run/worker:size=4m,noexec,uid=10001,gid=10001,mode=0770',
  '--tmpfs=/run/network:size=1m,noexec,mode=0755',
  '--tmpfs=/run/cellblock:size=4m,noexec,mode=0700',
]

/** A control group of version 2, of which a task without a container limit shows `max`. */
const cgroupV2 = async (limit: string): Promise<readonly string[]> => [
  `--volume=${await newFolder({
    'cgroup.controllers': 'cpu io memory pids\n',
    'memory.max': `${limit}\n`,
    'memory.current': '104857600\n',
    'memory.peak': '104857600\n',
    'memory.stat': 'anon 52428800\nfile 52428800\ninactive_file 1048576\n',
    'memory.events': ['oom 0', 'oom_kill 0', ''].join('\n'),
    'pids.max': 'max\n',
    'pids.current': '12\n',
    'cpu.stat': 'usage_usec 1000000\n',
    'cpu.max': '50000 100000\n',
  })}:/sys/fs/cgroup:ro`,
]

const TASKS: Readonly<Record<string, () => Promise<readonly string[]> | readonly string[]>> = {
  'a container limit, version 1': () => ['--memory=900m', '--memory-swap=900m'],
  'no container limit, version 1': () => [],
  'a container limit, version 2': () => cgroupV2(String(900 * 1024 ** 2)),
  'no container limit, version 2': () => cgroupV2('max'),
}

describe('a sandbox with the properties of a Fargate task', () => {
  it.each(Object.entries(TASKS))('serves code without Landlock, with %s', { timeout: 60_000 }, async (_name, options) => {
    await using sandbox = await startReadySandbox({
      options: [...TASK, ...(await WITHOUT_LANDLOCK()), ...(await options())],
      profile: 'fargate',
      limits: LIMITS,
    })
    const code = `import socket
print(sum(range(10)), open("/mnt/data/kept.txt", "w").write("kept"))
try: socket.create_connection(("1.1.1.1", 443), 2)
except OSError as error: print(error.errno)`
    expect((await sandbox.supervisor.run(code)).stdout).toBe('45 4\n101\n')
  })

  const without = (...starts: readonly string[]) => TASK.filter((option) => !starts.some((start) => option.startsWith(start)))
  const REFUSED: Readonly<
    Record<string, { readonly options: () => Promise<readonly string[]> | readonly string[]; readonly limits?: object }>
  > = {
    root_file_system_is_read_only: { options: () => without('--read-only') },
    capabilities_are_not_dangerous: { options: () => [...TASK, '--cap-add=SYS_PTRACE'] },
    memory_is_limited: { options: () => TASK, limits: { preload: [] } },
    data_folder_is_writable: { options: () => [...without('--volume=/mnt/data'), '--tmpfs=/mnt/data:size=64m,mode=0700'] },
    // The edit also skips `no_new_privs`, which Landlock needs: here the engine sets it.
    no_other_socket_opens: {
      options: async () => [
        ...TASK,
        '--security-opt=no-new-privileges',
        ...(await withModule('worker/isolation/seccomp.py', '    code = filter_code()', '    return')),
      ],
    },
    engine_socket_is_absent: { options: () => [...TASK, '--volume=/var/run/docker.sock:/var/run/docker.sock'] },
  }
  it.each(Object.entries(REFUSED))(
    'refuses to start with the exit code of the check %s',
    { timeout: 60_000 },
    async (check, { options, limits = LIMITS }) => {
      await using sandbox = await startSandbox({ options: await options(), profile: 'fargate', limits: { ...limits } })
      const { code, errors } = await sandbox.ended()
      expect(errors).toContain(check)
      expect(refusedCheck(code)).toBe(check)
    },
  )
})
