import type Docker from 'dockerode'
import { TIERS } from '../../../model/limits.ts'
import type { SandboxSpec } from '../../../ports/sandbox-driver.ts'
import { HOST_NAME, hostsFileOf } from './control-folder.ts'
import { memoryLimitBytes, NETWORK_BYTES, RUN_BYTES, SKILLS_BYTES, type DockerLimits } from './limits.ts'

export const SANDBOX_LABEL = 'cellblock.sandbox'
export const STAGE_LABEL = 'cellblock.stage'
/** The worker's UID, so that no two sandboxes of an engine share one. */
export const WORKER_UID_LABEL = 'cellblock.worker-uid'

export const CONTROL_SOCKET = '/run/cellblock/control/supervisor.sock'
const CONTROL_FOLDER = '/run/cellblock/control'
/** For /etc/passwd and /etc/group, which name the worker. */
const IDENTITY_BYTES = 64 * 1024

/** Starting costs two seconds of processor time. A quarter of the default weight halves its effect on running code, and a busy machine still refills the pool. */
const SHARES_WHILE_STARTING = 256
export const SHARES_WHEN_READY = 1024
/** Linux accepts no smaller number. https://docs.kernel.org/scheduler/sched-design-CFS.html */
export const MIN_SHARES = 2

export interface ContainerPlan {
  readonly image: string
  readonly stage: string
  readonly limits: DockerLimits
  /** UID and GID of the worker. */
  readonly workerUid: number
  readonly seccompProfile: string
  /** More labels for the engine's lists. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The engine's runtime, such as `runsc`; its default when absent. */
  readonly runtime?: string | undefined
  /** Python modules that are imported before the claim; what the image says when absent. */
  readonly preload?: readonly string[] | undefined
  /** The host's folder for the control socket; absent when the relay is used. */
  readonly controlFolder?: string | undefined
  /** More folders of the host, read-only: `host:sandbox`. For development of the supervisor. */
  readonly readOnlyBinds?: readonly string[] | undefined
}

/** The container's isolation as options of the engine. Every writable path is a tmpfs with a size. */
export function containerOptions(spec: SandboxSpec, plan: ContainerPlan): Docker.ContainerCreateOptions & { readonly name: string } {
  return {
    name: spec.sandboxId,
    Image: plan.image,
    Hostname: HOST_NAME,
    // The engine then makes no network, which takes longer than the rest of a start. The runtime makes the namespace, with a loopback device only.
    NetworkDisabled: plan.controlFolder !== undefined,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    Labels: { ...plan.labels, [SANDBOX_LABEL]: spec.sandboxId, [STAGE_LABEL]: plan.stage, [WORKER_UID_LABEL]: String(plan.workerUid) },
    Env: Object.entries(supervisorEnv(spec, plan)).map(([name, value]) => `${name}=${value}`),
    HostConfig: hostConfig(spec, plan),
  }
}

/** What the engine hides by default; an own list replaces it. */
const ENGINE_MASKED_PATHS = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
]

/** Counters of the whole host, through which a sandbox could signal to another one or count them. Programs rarely read them. */
const HOST_COUNTERS = [
  '/proc/buddyinfo',
  '/proc/diskstats',
  '/proc/fs',
  '/proc/key-users',
  '/proc/pagetypeinfo',
  '/proc/pressure',
  '/proc/schedstat',
  '/proc/slabinfo',
  '/proc/softirqs',
  '/proc/vmallocinfo',
  '/proc/zoneinfo',
  '/proc/sys/fs/aio-nr',
  '/proc/sys/fs/dentry-state',
  '/proc/sys/fs/file-nr',
  '/proc/sys/fs/inode-nr',
  '/proc/sys/fs/inode-state',
  '/proc/sys/kernel/pty/nr',
]

/** `CgroupnsMode` is missing in the client's types. */
type HostConfig = Docker.HostConfig & { readonly CgroupnsMode: 'private' }

function hostConfig(spec: SandboxSpec, plan: ContainerPlan): HostConfig {
  const { limits } = plan
  const memory = memoryLimitBytes(spec.memoryTier, limits)
  const noExec = 'rw,nosuid,nodev,noexec'
  const worker = `uid=${plan.workerUid},gid=${plan.workerUid}`
  return {
    NetworkMode: 'none',
    ...(plan.controlFolder === undefined && { ExtraHosts: [`${HOST_NAME}:127.0.0.1`] }),
    IpcMode: 'private',
    CgroupnsMode: 'private',
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    CapAdd: ['SETUID', 'SETGID', 'KILL'],
    // System V shared memory is freed with its last process, also after the out-of-memory killer.
    Sysctls: { 'kernel.shm_rmid_forced': '1' },
    MaskedPaths: [...ENGINE_MASKED_PATHS, ...HOST_COUNTERS],
    SecurityOpt: ['no-new-privileges', `seccomp=${plan.seccompProfile}`],
    PidsLimit: limits.processes,
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.round(limits.cpus * 1e9),
    CpuShares: spec.isAwaited ? SHARES_WHEN_READY : SHARES_WHILE_STARTING,
    OomScoreAdj: 500,
    LogConfig: { Type: 'none', Config: {} },
    Ulimits: [
      { Name: 'nofile', Soft: limits.openFiles, Hard: limits.openFiles },
      { Name: 'core', Soft: 0, Hard: 0 },
    ],
    // Programs that the code brings along may run where it can write them: they run under the same restrictions as the code.
    Tmpfs: {
      '/mnt/data': `rw,nosuid,nodev,exec,${worker},mode=0770,size=${limits.dataBytes},nr_inodes=${limits.inodes}`,
      '/tmp': `rw,nosuid,nodev,exec,mode=1777,size=${limits.tmpBytes},nr_inodes=100000`,
      '/home/worker': `rw,nosuid,nodev,exec,${worker},mode=0700,size=${limits.homeBytes},nr_inodes=50000`,
      // Replaces that of the engine, which does not limit inodes.
      '/dev/shm': `${noExec},mode=1777,size=${limits.shmBytes},nr_inodes=10000`,
      // The supervisor's, which is root: the worker reads and runs what is there, and changes nothing.
      '/mnt/skills': `rw,nosuid,nodev,exec,mode=0755,size=${SKILLS_BYTES},nr_inodes=70000`,
      '/run/worker': `${noExec},${worker},mode=0770,size=${RUN_BYTES},nr_inodes=1000`,
      '/run/identity': `${noExec},mode=0755,size=${IDENTITY_BYTES},nr_inodes=16`,
      '/run/network': `${noExec},mode=0755,size=${NETWORK_BYTES},nr_inodes=16`,
      '/run/cellblock': `${noExec},mode=0700,size=${RUN_BYTES},nr_inodes=1000`,
      ...(plan.controlFolder === undefined && { [CONTROL_FOLDER]: `${noExec},mode=0700,size=${RUN_BYTES},nr_inodes=1000` }),
    },
    Mounts: plan.controlFolder === undefined ? [] : mountsOf(plan.controlFolder),
    ...(plan.readOnlyBinds && { Binds: plan.readOnlyBinds.map((bind) => `${bind}:ro`) }),
    ...(plan.runtime !== undefined && { Runtime: plan.runtime }),
  }
}

/**
 * Another container with the options of one that exists, for a copy of its checkpoint. Its worker has the same UID inside: on gVisor no process of the host has
 * it, so sandboxes cannot meet in the host's counts.
 */
export const copiedOptions = (
  { Config, HostConfig, Image }: Docker.ContainerInspectInfo,
  { sandboxId, controlFolder }: { readonly sandboxId: string; readonly controlFolder: string },
): Docker.ContainerCreateOptions & { readonly name: string } => ({
  ...Config,
  // By its hash: the name may refer to another one meanwhile.
  Image,
  name: sandboxId,
  Labels: { ...Config.Labels, [SANDBOX_LABEL]: sandboxId },
  HostConfig: { ...HostConfig, Mounts: mountsOf(controlFolder) },
})

const mountsOf = (controlFolder: string): Docker.MountConfig => [
  { Type: 'bind', Source: controlFolder, Target: CONTROL_FOLDER },
  { Type: 'bind', Source: hostsFileOf(controlFolder), Target: '/etc/hosts', ReadOnly: true },
]

const supervisorEnv = (spec: SandboxSpec, { limits, preload, workerUid, runtime }: ContainerPlan): Record<string, string> => ({
  CELLBLOCK_SANDBOX_ID: spec.sandboxId,
  CELLBLOCK_PUBLIC_KEY: spec.publicKey,
  CELLBLOCK_LISTEN: `unix:${CONTROL_SOCKET}`,
  CELLBLOCK_PROFILE: runtime?.startsWith('runsc') === true ? 'gvisor' : 'docker',
  CELLBLOCK_WORKER_UID: String(workerUid),
  CELLBLOCK_LIMITS: JSON.stringify({
    memory_bytes: TIERS[spec.memoryTier].memoryBytes,
    processes: limits.processes,
    open_files: limits.openFiles,
    file_bytes: limits.fileBytes,
    // A pool sandbox imports the data stack in advance. An awaited one starts at once, and the code imports what it needs.
    ...(spec.isAwaited ? { preload: [] } : preload && { preload }),
  }),
})
