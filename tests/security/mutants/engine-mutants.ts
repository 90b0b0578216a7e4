import type { Mutant } from './mutant.ts'

const OPTIONS = 'services/adapters/drivers/docker/container-options.ts'

const option = (protection: string, find: string, replace = ''): Mutant => ({
  protection: `engine: ${protection}`,
  edits: [{ file: OPTIONS, find, replace }],
  killer: { test: 'tests/security/runtime-checks.test.ts' },
})

/** Protections of the container that Docker starts. */
export const ENGINE_MUTANTS: readonly Mutant[] = [
  option('no network', "NetworkMode: 'none',"),
  option('no network that the engine makes', 'NetworkDisabled: plan.controlFolder !== undefined,'),
  option('read-only root', 'ReadonlyRootfs: true', 'ReadonlyRootfs: false'),
  option('capabilities dropped', "CapDrop: ['ALL'],"),
  option('three capabilities only', "CapAdd: ['SETUID', 'SETGID', 'KILL']", "CapAdd: ['SETUID', 'SETGID', 'KILL', 'SYS_PTRACE']"),
  option('no new privileges', "'no-new-privileges', "),
  option('seccomp profile', ', `seccomp=${plan.seccompProfile}`'),
  option('process limit', 'PidsLimit: limits.processes,'),
  option('memory limit', 'Memory: memory,\n'),
  option('no swap', 'MemorySwap: memory,\n'),
  option('processor limit', 'NanoCpus: Math.round(limits.cpus * 1e9),'),
  option('first to be killed when memory runs out', 'OomScoreAdj: 500,'),
  option('no log', "LogConfig: { Type: 'none', Config: {} },"),
  option('no core files', ', Soft: 0, Hard: 0 }', ', Soft: 1, Hard: 1 }'),
  option('limit of open files', "{ Name: 'nofile', Soft: limits.openFiles, Hard: limits.openFiles },"),
  option('private shared memory', "IpcMode: 'private',", "IpcMode: 'shareable',"),
  option('size of shared memory', 'size=${limits.shmBytes},'),
  option('shared memory freed with its last process', "Sysctls: { 'kernel.shm_rmid_forced': '1' },"),
  option('a user id for each sandbox', 'CELLBLOCK_WORKER_UID: String(workerUid),'),
  option('hidden counters of the host', ', ...HOST_COUNTERS]', ']'),
  option('hidden control group', "CgroupnsMode: 'private',", "CgroupnsMode: 'host' as 'private',"),
  option('size of the data folder', 'size=${limits.dataBytes},'),
  option('size of /tmp', 'size=${limits.tmpBytes},'),
  option('inodes of the home folder', ',nr_inodes=50000'),
  option(
    'a folder of skills that only root changes',
    "'/mnt/skills': `rw,nosuid,nodev,exec,mode=0755,",
    "'/mnt/skills': `rw,nosuid,nodev,exec,mode=0777,",
  ),
]
