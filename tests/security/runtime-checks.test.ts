import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newId } from '../../services/core/ids.ts'
import { createDockerDriver } from '../../services/orchestrator/drivers/docker/docker-driver.ts'
import { memoryLimitBytes, DEFAULT_LIMITS } from '../../services/orchestrator/drivers/docker/limits.ts'

const docker = new Docker()
const sandboxId = newId('sandbox')
/** Nobody speaks to this sandbox: what the engine was asked for is looked at, whether or not the supervisor takes work. */
const supervisor = { health: () => Promise.reject(new Error('nobody asks')) }

let controlRoot: string
let seen: Docker.ContainerInspectInfo
let host: Docker.HostConfig & { readonly CgroupnsMode?: string }
let driver: ReturnType<typeof createDockerDriver>
beforeAll(async () => {
  controlRoot = await mkdtemp(join(tmpdir(), 'cbx-'))
  driver = createDockerDriver({ docker, image: inject('sandboxImage'), stage: `checks-${sandboxId}`, supervisor, controlRoot })
  const publicKey = Buffer.alloc(32).toString('base64url')
  await driver.start({ sandboxId, publicKey, memoryTier: '1g', isAwaited: true }, AbortSignal.timeout(30_000))
  seen = await docker.getContainer(sandboxId).inspect()
  host = seen.HostConfig
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

/** What a benchmark of container settings asks of a running container. */
const CHECKS: Readonly<Record<string, () => void>> = {
  'has no network': () => expect([host.NetworkMode, Object.keys(seen.NetworkSettings.Networks)]).toEqual(['none', ['none']]),
  'publishes no port': () => expect([host.PortBindings ?? {}, host.PublishAllPorts]).toEqual([{}, false]),
  'has a read-only root': () => expect(host.ReadonlyRootfs).toBe(true),
  'drops every capability': () => expect(host.CapDrop).toEqual(['ALL']),
  'adds three capabilities back, for the supervisor': () => expect(host.CapAdd).toEqual(['SETUID', 'SETGID', 'KILL']),
  'is not privileged': () => expect(host.Privileged).toBe(false),
  'gains no new privileges': () => expect(host.SecurityOpt).toContain('no-new-privileges'),
  'runs under our profile of system calls': () => expect(profile().defaultAction).toBe('SCMP_ACT_ERRNO'),
  'lets no call into the kernel insides through': () =>
    expect(
      profile()
        .names('SCMP_ACT_ALLOW')
        .filter((name) => /bpf|ptrace|mount|keyctl|io_uring|userfaultfd|perf_event|unshare|setns|module|kexec|process_vm/.test(name)),
    ).toEqual([]),
  'has a limit of processes': () => expect(host.PidsLimit).toBe(256),
  'has a limit of memory, and no swap': () =>
    expect([host.Memory, host.MemorySwap]).toEqual([memoryLimitBytes('1g', DEFAULT_LIMITS), memoryLimitBytes('1g', DEFAULT_LIMITS)]),
  'has a limit of processor time': () => expect(host.NanoCpus).toBe(1e9),
  'is the first to go when the host has no memory': () => expect(host.OomScoreAdj).toBe(500),
  'writes no log to the host': () => expect(host.LogConfig?.Type).toBe('none'),
  'leaves no core file': () => expect(host.Ulimits).toContainEqual({ Name: 'core', Soft: 0, Hard: 0 }),
  'has a limit of open files': () => expect(host.Ulimits).toContainEqual({ Name: 'nofile', Soft: 1024, Hard: 1024 }),
  'keeps shared memory to itself, with a size': () =>
    expect([host.IpcMode, /,size=(\d+),/.exec(host.Tmpfs?.['/dev/shm'] ?? '')?.[1]]).toEqual(['private', `${DEFAULT_LIMITS.shmBytes}`]),
  'shares no process, user or host-name space': () => expect([host.PidMode, host.UsernsMode, host.UTSMode]).toEqual(['', '', '']),
  'hides the path of its control group': () => expect(host.CgroupnsMode).toBe('private'),
  'gives every writable folder a size and no devices': () =>
    expect(
      Object.entries(host.Tmpfs ?? {}).filter(
        ([, options]) => !/size=\d+/.test(options) || !/nosuid,nodev/.test(options) || !/nr_inodes=\d+/.test(options),
      ),
    ).toEqual([]),
  'mounts nothing of the host but its control folder': () =>
    expect(seen.Mounts.map(({ Source, Destination }) => [Source.startsWith(controlRoot), Destination])).toEqual([
      [true, '/run/cellblock/control'],
    ]),
  'shares no mount back to the host': () =>
    expect(seen.Mounts.map(({ Propagation }) => Propagation).filter((propagation) => propagation.includes('shared'))).toEqual([]),
  'was entered by nobody': () => expect(seen.ExecIDs ?? []).toEqual([]),
  'runs nothing but the supervisor, under its image by content': () =>
    expect([seen.Config.Image, seen.Path, seen.Args.join(' ')]).toEqual([
      expect.stringMatching(/^cellblock-sandbox(-mutant)?:[\w-]{8,}$/),
      expect.stringMatching(/python3$/),
      '-m cellblock_supervisor',
    ]),
  'stays in its own control group': () => expect(host.CgroupParent ?? '').toBe(''),
  'has no device of the host': () => expect([host.Devices ?? [], host.DeviceRequests ?? []]).toEqual([[], []]),
  'is told nothing that is secret': () =>
    expect(
      seen.Config.Env.map((entry) => entry.slice(0, entry.indexOf('='))).filter((name) => /KEY|SECRET|TOKEN|AWS|ECS/.test(name)),
    ).toEqual(['CELLBLOCK_PUBLIC_KEY']),
  'is never started again by the engine': () => expect(host.RestartPolicy?.Name).toMatch(/^(no)?$/),
  'has a name that tells nothing of the host': () => expect(seen.Config.Hostname).toBe('sandbox'),
}

/** The checks of container runtimes in docker-bench-security, section 5, by number; each is one of ours. */
const DOCKER_BENCH: Readonly<Record<number, keyof typeof CHECKS>> = {
  3: 'adds three capabilities back, for the supervisor',
  4: 'is not privileged',
  5: 'mounts nothing of the host but its control folder',
  6: 'runs nothing but the supervisor, under its image by content',
  7: 'publishes no port',
  8: 'publishes no port',
  9: 'has no network',
  10: 'has a limit of memory, and no swap',
  11: 'has a limit of processor time',
  12: 'has a read-only root',
  13: 'publishes no port',
  14: 'is never started again by the engine',
  15: 'shares no process, user or host-name space',
  16: 'keeps shared memory to itself, with a size',
  17: 'has no device of the host',
  18: 'has a limit of open files',
  19: 'shares no mount back to the host',
  20: 'shares no process, user or host-name space',
  21: 'runs under our profile of system calls',
  22: 'was entered by nobody',
  23: 'was entered by nobody',
  24: 'stays in its own control group',
  25: 'gains no new privileges',
  27: 'runs nothing but the supervisor, under its image by content',
  28: 'has a limit of processes',
  29: 'has no network',
  30: 'shares no process, user or host-name space',
  31: 'mounts nothing of the host but its control folder',
}
const NOT_APPLICABLE: Readonly<Record<number, string>> = {
  1: 'AppArmor is the choice of the host: where it is on, the engine applies its own profile by itself.',
  2: 'SELinux likewise.',
  26: "The orchestrator asks the supervisor's /health; a probe of the engine would be a process more in every sandbox.",
}
const DOCKER_BENCH_CHECKS = 31

describe('the checks of docker-bench-security', () => {
  it('are all answered by ours, but for at most four that are not applicable', () => {
    const answered = [...Object.keys(DOCKER_BENCH), ...Object.keys(NOT_APPLICABLE)].map(Number).toSorted((a, b) => a - b)
    expect(answered).toEqual(Array.from({ length: DOCKER_BENCH_CHECKS }, (_, index) => index + 1))
    expect(Object.keys(NOT_APPLICABLE).length).toBeLessThanOrEqual(4)
    expect(Object.values(DOCKER_BENCH).filter((name) => !Object.hasOwn(CHECKS, name))).toEqual([])
  })
})

describe('a sandbox, as the engine sees it', () => {
  it.each(Object.entries(CHECKS))('%s', (_name, check) => check())
})
