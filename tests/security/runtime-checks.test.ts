import { singleImage } from '../../services/model/containers/images.ts'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newId } from '../../services/model/ids.ts'
import { createDockerDriver } from '../../services/adapters/drivers/docker/docker-driver.ts'
import { ownControlFolders } from '../../services/adapters/drivers/docker/control-folder.ts'
import { mountControlFolder, unmountControlFolder } from '../../services/adapters/drivers/docker/control-mount.ts'
import { memoryLimitBytes, DEFAULT_LIMITS } from '../../services/adapters/drivers/docker/limits.ts'

const docker = new Docker()
const sandboxId = newId('sandbox')
/** This test inspects the container only, so the supervisor is never called. */
const notCalled = () => Promise.reject(new Error('The supervisor must not be called'))
const supervisor = { health: notCalled, suspend: notCalled }

let controlRoot: string
let seen: Docker.ContainerInspectInfo
let host: Docker.HostConfig & { readonly CgroupnsMode?: string }
let canMount: boolean
let mountsInside: readonly string[]
let driver: ReturnType<typeof createDockerDriver>
beforeAll(async () => {
  controlRoot = await mkdtemp(join(tmpdir(), 'cbx-'))
  const probe = await mkdtemp(join(controlRoot, 'probe-'))
  canMount = await mountControlFolder(probe)
  await unmountControlFolder(probe)
  driver = createDockerDriver({
    docker,
    images: singleImage(inject('sandboxImage')),
    preload: [],
    stage: `checks-${sandboxId}`,
    supervisor,
    controlFolders: ownControlFolders(controlRoot),
  })
  const publicKey = Buffer.alloc(32).toString('base64url')
  await driver.start({ sandboxId, publicKey, memoryTier: '1g', isAwaited: true }, AbortSignal.timeout(30_000))
  seen = await docker.getContainer(sandboxId).inspect()
  host = seen.HostConfig
  mountsInside = (await readFile(`/proc/${seen.State.Pid}/mountinfo`, 'utf8')).split('\n')
})
afterAll(async () => {
  await driver.stop(sandboxId)
  await rm(controlRoot, { recursive: true, force: true })
})

const profile = (): { defaultAction: string; names: (action: string) => string[] } => {
  const text = host.SecurityOpt?.find((option: string) => option.startsWith('seccomp='))?.slice('seccomp='.length) ?? '{}'
  const parsed = JSON.parse(text) as { defaultAction: string; syscalls: { names: string[]; action: string }[] }
  return {
    defaultAction: parsed.defaultAction,
    names: (action) => parsed.syscalls.filter((rule) => rule.action === action).flatMap(({ names }) => names),
  }
}

/** The checks of container settings on a running container. */
const CHECKS: Readonly<Record<string, () => void>> = {
  'has no network': () =>
    expect([host.NetworkMode, seen.Config, seen.NetworkSettings.Networks]).toMatchObject(['none', { NetworkDisabled: true }, {}]),
  'is in no network of the engine': () => expect(Object.keys(seen.NetworkSettings.Networks)).toEqual([]),
  'publishes no port': () => expect([host.PortBindings ?? {}, host.PublishAllPorts]).toEqual([{}, false]),
  'has a read-only root': () => expect(host.ReadonlyRootfs).toBe(true),
  'drops every capability': () => expect(host.CapDrop).toEqual(['ALL']),
  'adds three capabilities for the supervisor': () => expect(host.CapAdd).toEqual(['SETUID', 'SETGID', 'KILL']),
  'is not privileged': () => expect(host.Privileged).toBe(false),
  'gains no new privileges': () => expect(host.SecurityOpt).toContain('no-new-privileges'),
  'has the seccomp profile of the project': () => expect(profile().defaultAction).toBe('SCMP_ACT_ERRNO'),
  'allows no system call of the kernel administration': () =>
    expect(
      profile()
        .names('SCMP_ACT_ALLOW')
        .filter((name) => /bpf|ptrace|mount|keyctl|io_uring|userfaultfd|perf_event|unshare|setns|module|kexec|process_vm/.test(name)),
    ).toEqual([]),
  'has a process limit': () => expect(host.PidsLimit).toBe(256),
  'has a memory limit and no swap': () =>
    expect([host.Memory, host.MemorySwap]).toEqual([memoryLimitBytes('1g', DEFAULT_LIMITS), memoryLimitBytes('1g', DEFAULT_LIMITS)]),
  'has a processor limit': () => expect(host.NanoCpus).toBe(1e9),
  'has the OOM score of a container to kill first': () => expect(host.OomScoreAdj).toBe(500),
  'writes no log to the host': () => expect(host.LogConfig?.Type).toBe('none'),
  'leaves no core file': () => expect(host.Ulimits).toContainEqual({ Name: 'core', Soft: 0, Hard: 0 }),
  'has a limit for open files': () => expect(host.Ulimits).toContainEqual({ Name: 'nofile', Soft: 1024, Hard: 1024 }),
  'has private shared memory with a size limit': () =>
    expect([host.IpcMode, /,size=(\d+),/.exec(host.Tmpfs?.['/dev/shm'] ?? '')?.[1]]).toEqual(['private', `${DEFAULT_LIMITS.shmBytes}`]),
  'frees shared memory with its last process': () => expect(host.Sysctls).toEqual({ 'kernel.shm_rmid_forced': '1' }),
  'runs code under a separate user id': () => {
    const uid = seen.Config.Labels['cellblock.worker-uid']
    expect(Number(uid)).toBeGreaterThanOrEqual(20_000)
    expect(host.Tmpfs?.['/mnt/data']).toContain(`uid=${uid},gid=${uid},`)
    // Without an owner it belongs to root.
    expect(host.Tmpfs?.['/mnt/skills']).toMatch(/mode=0755(?!.*[ug]id=)/)
    expect(seen.Config.Env).toContain(`CELLBLOCK_WORKER_UID=${uid}`)
  },
  'shares no PID, user or UTS namespace': () => expect([host.PidMode, host.UsernsMode, host.UTSMode]).toEqual(['', '', '']),
  'has a private cgroup namespace': () => expect(host.CgroupnsMode).toBe('private'),
  'has a size limit, an inode limit, nosuid and nodev on every tmpfs': () =>
    expect(
      Object.entries(host.Tmpfs ?? {}).filter(
        ([, options]) => !/size=\d+/.test(options) || !/nosuid,nodev/.test(options) || !/nr_inodes=\d+/.test(options),
      ),
    ).toEqual([]),
  'mounts only its control folder and the file of names from the host': () =>
    // The engine lists them in any order.
    expect(new Set(seen.Mounts.map(({ Source, Destination, RW }) => `${Source.startsWith(controlRoot)} ${Destination} ${RW}`))).toEqual(
      new Set(['true /run/cellblock/control true', 'true /etc/hosts false']),
    ),
  'has a small control folder without programs, devices and setuid bits': () => {
    const line = mountsInside.find((mount) => mount.split(' ')[4] === '/run/cellblock/control') ?? ''
    // Without the rights to mount, the folder stays one of the host.
    const flags = canMount ? ['nosuid', 'nodev', 'noexec'] : []
    expect(line.split(' ')[5]?.split(',')).toEqual(expect.arrayContaining(flags))
    expect(/ - tmpfs .*size=64k,nr_inodes=8/.test(line)).toBe(canMount)
  },
  'has no shared mount propagation': () =>
    expect(seen.Mounts.map(({ Propagation }) => Propagation).filter((propagation) => propagation.includes('shared'))).toEqual([]),
  'has no exec session': () => expect(seen.ExecIDs ?? []).toEqual([]),
  'runs only the supervisor from a content-addressed image': () =>
    expect([seen.Config.Image, seen.Path, seen.Args.join(' ')]).toEqual([
      expect.stringMatching(/^cellblock-sandbox(-mutant)?:[\w-]{8,}$/),
      expect.stringMatching(/python3$/),
      '-OO -X pycache_prefix=/opt/cellblock/bytecode -m cellblock_supervisor',
    ]),
  'stays in its own control group': () => expect(host.CgroupParent ?? '').toBe(''),
  'hides counters of the host, and what the engine hides by default': () =>
    expect(host.MaskedPaths).toEqual(
      expect.arrayContaining(['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware', '/proc/key-users', '/proc/sys/fs/file-nr']),
    ),
  'has no device of the host': () => expect([host.Devices ?? [], host.DeviceRequests ?? []]).toEqual([[], []]),
  'has no secret in its environment': () =>
    expect(
      seen.Config.Env.map((entry) => entry.slice(0, entry.indexOf('='))).filter((name) => /KEY|SECRET|TOKEN|AWS|ECS/.test(name)),
    ).toEqual(['CELLBLOCK_PUBLIC_KEY']),
  'has no restart policy': () => expect(host.RestartPolicy?.Name).toMatch(/^(no)?$/),
  'has a neutral host name': () => expect(seen.Config.Hostname).toBe('sandbox'),
}

/** The checks of section 5 (container runtime) of docker-bench-security, by number, and the check here that covers each. */
const DOCKER_BENCH: Readonly<Record<number, keyof typeof CHECKS>> = {
  3: 'adds three capabilities for the supervisor',
  4: 'is not privileged',
  5: 'mounts only its control folder and the file of names from the host',
  6: 'runs only the supervisor from a content-addressed image',
  7: 'publishes no port',
  8: 'publishes no port',
  9: 'has no network',
  10: 'has a memory limit and no swap',
  11: 'has a processor limit',
  12: 'has a read-only root',
  13: 'publishes no port',
  14: 'has no restart policy',
  15: 'shares no PID, user or UTS namespace',
  16: 'has private shared memory with a size limit',
  17: 'has no device of the host',
  18: 'has a limit for open files',
  19: 'has no shared mount propagation',
  20: 'shares no PID, user or UTS namespace',
  21: 'has the seccomp profile of the project',
  22: 'has no exec session',
  23: 'has no exec session',
  24: 'stays in its own control group',
  25: 'gains no new privileges',
  27: 'runs only the supervisor from a content-addressed image',
  28: 'has a process limit',
  29: 'has no network',
  30: 'shares no PID, user or UTS namespace',
  31: 'mounts only its control folder and the file of names from the host',
}
const NOT_APPLICABLE: Readonly<Record<number, string>> = {
  1: 'AppArmor depends on the host. Where it is enabled, the engine applies its default profile.',
  2: 'SELinux depends on the host as well.',
  26: "The orchestrator calls the supervisor's /health. A health check of the engine would add a process to every sandbox.",
}
const DOCKER_BENCH_CHECKS = 31

describe('the checks of docker-bench-security', () => {
  it('are all covered here, except for at most four that do not apply', () => {
    const answered = [...Object.keys(DOCKER_BENCH), ...Object.keys(NOT_APPLICABLE)].map(Number).toSorted((a, b) => a - b)
    expect(answered).toEqual(Array.from({ length: DOCKER_BENCH_CHECKS }, (_, index) => index + 1))
    expect(Object.keys(NOT_APPLICABLE).length).toBeLessThanOrEqual(4)
    expect(Object.values(DOCKER_BENCH).filter((name) => !Object.hasOwn(CHECKS, name))).toEqual([])
  })
})

describe('the container of a sandbox', () => {
  it.each(Object.entries(CHECKS))('%s', (_name, check) => check())
})
