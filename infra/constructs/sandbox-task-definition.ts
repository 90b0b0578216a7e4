import { Stack } from 'aws-cdk-lib'
import { CfnTaskDefinition } from 'aws-cdk-lib/aws-ecs'
import type { IRole } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { TIERS, type MemoryTier } from '../../services/model/limits.ts'
import { DEFAULT_LIMITS, NETWORK_BYTES, RUN_BYTES, SKILLS_BYTES } from '../../services/adapters/drivers/docker/limits.ts'
import { SANDBOX_CONTAINER } from '../../services/adapters/drivers/fargate/config.ts'
import { FARGATE_SIZES, vcpusOf } from '../../services/adapters/drivers/fargate/sizes.ts'
import { SUPERVISOR_PORT } from './security-groups.ts'

/** The default capabilities except SETUID, SETGID and KILL. Fargate drops capabilities by name only and can add SYS_PTRACE only. */
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

const WORKER = ['uid=10001', 'gid=10001']
const tmpfs = (containerPath: string, bytes: number, ...mountOptions: string[]) => ({
  containerPath,
  size: bytes / 1024 ** 2,
  mountOptions: ['nosuid', 'nodev', ...mountOptions],
})
/** The writable paths besides `/mnt/data`, sized as in Docker. The container's memory holds the tier's memory, all of these and the supervisor. */
const TMPFS = [
  tmpfs('/tmp', DEFAULT_LIMITS.tmpBytes, 'exec', 'mode=1777'),
  tmpfs('/home/worker', DEFAULT_LIMITS.homeBytes, 'exec', 'mode=0700', ...WORKER),
  // Without an owner it is root's, so the worker changes nothing there.
  tmpfs('/mnt/skills', SKILLS_BYTES, 'exec', 'mode=0755'),
  tmpfs('/run/worker', RUN_BYTES, 'noexec', 'mode=0770', ...WORKER),
  tmpfs('/run/network', NETWORK_BYTES, 'noexec', 'mode=0755'),
  tmpfs('/run/cellblock', RUN_BYTES, 'noexec', 'mode=0700'),
]

/** Task memory that the container leaves to Fargate's own processes, MiB. */
const PLATFORM_MEMORY_MIB = 128

export interface SandboxTaskDefinitionProps {
  readonly stage: string
  readonly tier: MemoryTier
  /** The name with which containers ask for the image, and its URI. */
  readonly imageName: string
  readonly image: string
  readonly architecture: 'X86_64' | 'ARM64'
  readonly diskGiB: number
  /** If the operator chose another number than the tier's. */
  readonly vcpu?: number | undefined
  readonly executionRole: IRole
  /** Some of its tasks are on Spot. */
  readonly isInterruptible: boolean
}

/**
 * A sandbox of one tier. No task role, so it holds no credentials; no log driver, so output leaves by the control port only; no exec, no fault
 * injection. The supervisor checks the isolation when it starts and exits with code 86 if a layer does not hold.
 */
export class SandboxTaskDefinition extends Construct {
  /** Includes the revision: a deployment starts tasks of this revision only. */
  readonly arn: string

  constructor(
    scope: Construct,
    id: string,
    { stage, tier, imageName, image, architecture, diskGiB, vcpu, executionRole, isInterruptible }: SandboxTaskDefinitionProps,
  ) {
    super(scope, id)
    const { memoryMiB } = FARGATE_SIZES[tier]
    const definition = new CfnTaskDefinition(this, 'Resource', {
      family: `cellblock-${stage}-sandbox-${imageName}-${tier}`,
      requiresCompatibilities: ['FARGATE'],
      networkMode: 'awsvpc',
      cpu: String(vcpusOf(tier, vcpu) * 1024),
      memory: String(memoryMiB),
      runtimePlatform: { cpuArchitecture: architecture, operatingSystemFamily: 'LINUX' },
      executionRoleArn: executionRole.roleArn,
      ephemeralStorage: { sizeInGiB: diskGiB },
      enableFaultInjection: false,
      volumes: [{ name: 'data' }],
      containerDefinitions: [
        {
          name: SANDBOX_CONTAINER,
          image,
          essential: true,
          // Without its own limit the container's cgroup shows none, and the supervisor refuses to serve.
          memory: memoryMiB - PLATFORM_MEMORY_MIB,
          privileged: false,
          readonlyRootFilesystem: true,
          // A Spot interruption is announced by SIGTERM; the supervisor waits until the variables are saved, and at once ends what we stop.
          stopTimeout: isInterruptible ? 120 : 3,
          environment: [
            { name: 'CELLBLOCK_LISTEN', value: `tcp:0.0.0.0:${SUPERVISOR_PORT}` },
            { name: 'CELLBLOCK_PROFILE', value: 'fargate' },
            ...(isInterruptible ? [{ name: 'CELLBLOCK_STOP_SECONDS', value: '115' }] : []),
            {
              name: 'CELLBLOCK_LIMITS',
              value: Stack.of(this).toJsonString({
                memory_bytes: TIERS[tier].memoryBytes,
                processes: DEFAULT_LIMITS.processes,
                open_files: DEFAULT_LIMITS.openFiles,
              }),
            },
          ],
          mountPoints: [{ sourceVolume: 'data', containerPath: '/mnt/data', readOnly: false }],
          linuxParameters: { initProcessEnabled: false, capabilities: { drop: DROPPED }, tmpfs: TMPFS },
        },
      ],
    })
    this.arn = definition.ref
  }
}
