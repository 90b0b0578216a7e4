import { TIERS } from '../../../services/model/limits.ts'
import { actions, all, at, first, isAbsent, list, named, only, same, says, set, statements, value, type Property } from '../property.ts'
import type { Resource, Templates } from '../synthesise.ts'

const definitions = (t: Templates): Resource[] => all(t, 'AWS::ECS::TaskDefinition')
const anyDefinition = (t: Templates): Resource => definitions(t).at(-1) as Resource
const CONTAINER = 'Properties.ContainerDefinitions.0'
/** True of every tier's task definition; the mutant spoils one of them. */
const everywhere = (title: string, path: string, isRight: (found: unknown) => boolean, wrong: unknown): Property => ({
  title,
  holds: (t) => definitions(t).length > 0 && definitions(t).every((definition) => isRight(at(definition, path))),
  break: (t) => set(anyDefinition(t), path, wrong),
})
const absent = (title: string, path: string, wrong: unknown) => everywhere(title, path, isAbsent, wrong)
const equal = (title: string, path: string, wanted: unknown, wrong: unknown) =>
  everywhere(title, path, (found) => same(found, wanted), wrong)

const KEPT = ['KILL', 'SETGID', 'SETUID']
const DEFAULTS = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]
const DROPPED = DEFAULTS.filter((name) => !KEPT.includes(name))
const PULL = ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetAuthorizationToken', 'ecr:GetDownloadUrlForLayer']
/** Fargate's memory range for each CPU size: min, max, MiB. */
const FARGATE: Record<string, readonly [number, number]> = {
  256: [512, 2048],
  512: [1024, 4096],
  1024: [2048, 8192],
  2048: [4096, 16384],
  4096: [8192, 30720],
  8192: [16384, 61440],
  16384: [32768, 122880],
}
const SUPERVISOR_MIB = 192
const containerMiB = (definition: Resource): number => Number(at(definition, `${CONTAINER}.Memory`) ?? 0)
const pullRole = (t: Templates): Resource => named(t, 'network', 'PullRole', 'AWS::IAM::Role')
const repository = (t: Templates): Resource => only(t, 'AWS::ECR::Repository')

export const sandboxProperties: readonly Property[] = [
  absent('a sandbox has no task role', 'Properties.TaskRoleArn', 'arn:aws:iam::123456789012:role/any'),
  equal('its root file system is read-only', `${CONTAINER}.ReadonlyRootFilesystem`, true, false),
  everywhere(
    'it drops every default capability but three, by name',
    `${CONTAINER}.LinuxParameters.Capabilities.Drop`,
    (drop) => same(list(drop).toSorted(), DROPPED),
    DROPPED.filter((name) => name !== 'NET_RAW'),
  ),
  absent('it adds no capability', `${CONTAINER}.LinuxParameters.Capabilities.Add`, ['SYS_PTRACE']),
  absent('it has no log driver', `${CONTAINER}.LogConfiguration`, { LogDriver: 'awslogs' }),
  equal('it is not privileged', `${CONTAINER}.Privileged`, false, true),
  equal('it has its own network interface', 'Properties.NetworkMode', 'awsvpc', 'bridge'),
  equal('it runs on Fargate only', 'Properties.RequiresCompatibilities', ['FARGATE'], ['FARGATE', 'EC2']),
  equal('fault injection is off', 'Properties.EnableFaultInjection', false, true),
  absent('it shares no process namespace', 'Properties.PidMode', 'task'),
  absent('it shares no IPC namespace', 'Properties.IpcMode', 'task'),
  everywhere('it is one container', 'Properties.ContainerDefinitions', (found) => list(found).length === 1, [
    { Name: 'sandbox' },
    { Name: 'sidecar' },
  ]),
  absent('it is given no secret', `${CONTAINER}.Secrets`, [
    { Name: 'KEY', ValueFrom: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:key' },
  ]),
  absent('it reads no environment file', `${CONTAINER}.EnvironmentFiles`, [{ Type: 's3', Value: 'arn:aws:s3:::bucket/file.env' }]),
  everywhere(
    'its environment holds the listen address, the isolation profile and the limits only',
    `${CONTAINER}.Environment`,
    (found) =>
      same(
        list(found)
          .map((item) => at(item, 'Name'))
          .toSorted(),
        ['CELLBLOCK_LIMITS', 'CELLBLOCK_LISTEN', 'CELLBLOCK_PROFILE'],
      ),
    [{ Name: 'AWS_ACCESS_KEY_ID', Value: 'any' }],
  ),
  absent('it publishes no port', `${CONTAINER}.PortMappings`, [{ ContainerPort: 8700 }]),
  equal(
    'its only volume is its own disk',
    'Properties.Volumes',
    [{ Name: 'data' }],
    [{ Name: 'data', EFSVolumeConfiguration: { FilesystemId: 'fs-1' } }],
  ),
  everywhere(
    'its other writable places are sized and take no devices or setuid files',
    `${CONTAINER}.LinuxParameters.Tmpfs`,
    (found) =>
      list(found).length === 6 &&
      list(found).every((item) => Number(at(item, 'Size')) <= 256 && says(item, 'nosuid') && says(item, 'nodev')),
    [{ ContainerPath: '/tmp', Size: 256, MountOptions: ['nodev'] }],
  ),
  everywhere(
    'on-demand tasks are stopped within five seconds',
    `${CONTAINER}.StopTimeout`,
    (found) => typeof found === 'number' && found <= 5,
    120,
  ),
  everywhere(
    'its image is named by content, from our repository',
    `${CONTAINER}.Image`,
    (found) => says(found, ':0123456789ab') && says(found, 'Cellblock-prod-Image:'),
    'docker.io/library/python:latest',
  ),
  equal(
    'its architecture is the one that the image is built for',
    'Properties.RuntimePlatform',
    { CpuArchitecture: 'X86_64', OperatingSystemFamily: 'LINUX' },
    { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
  ),
  everywhere(
    'Fargate pulls its image with the pull role',
    'Properties.ExecutionRoleArn',
    (found) => says(found, 'PullRole'),
    'arn:aws:iam::123456789012:role/admin',
  ),
  {
    title: 'the task size is one that Fargate offers',
    holds: (t) =>
      definitions(t).every((definition) => {
        const memory = Number(at(definition, 'Properties.Memory'))
        const [min, max] = FARGATE[String(at(definition, 'Properties.Cpu'))] ?? [Infinity, 0]
        return memory >= min && memory <= max
      }),
    break: (t) => set(anyDefinition(t), 'Properties.Memory', '1024'),
  },
  {
    title: 'the container has its own memory limit, below the memory of the task',
    holds: (t) => definitions(t).every((d) => containerMiB(d) > 0 && containerMiB(d) < Number(at(d, 'Properties.Memory'))),
    break: (t) => set(anyDefinition(t), `${CONTAINER}.Memory`, undefined),
  },
  {
    title: 'the memory limit of the container holds the tier, every tmpfs and the supervisor',
    holds: (t) =>
      definitions(t).every((definition) => {
        const tier = Object.entries(TIERS).find(([name]) => String(at(definition, 'Properties.Family')).endsWith(`-${name}`))?.[1]
        const tmpfs = list(at(definition, `${CONTAINER}.LinuxParameters.Tmpfs`)).map((item) => Number(at(item, 'Size')))
        const neededMiB = tmpfs.reduce((sum, size) => sum + size, SUPERVISOR_MIB)
        return tier !== undefined && (containerMiB(definition) - neededMiB) * 1024 ** 2 >= tier.memoryBytes
      }),
    break: (t) => set(anyDefinition(t), `${CONTAINER}.Memory`, 1_024),
  },
  {
    title: 'the pull role pulls and does nothing else',
    holds: (t) =>
      same(
        list(at(pullRole(t), 'Properties.Policies'))
          .flatMap((policy) => statements(at(policy, 'PolicyDocument')).flatMap(actions))
          .toSorted(),
        PULL,
      ) && isAbsent(at(pullRole(t), 'Properties.ManagedPolicyArns')),
    break: (t) => set(pullRole(t), 'Properties.Policies.0.PolicyDocument.Statement.1.Action', ['ecr:*']),
  },
  {
    title: 'the pull role reads our repository only',
    holds: (t) =>
      statements(at(pullRole(t), 'Properties.Policies.0.PolicyDocument')).every(
        (s) => actions(s).includes('ecr:GetAuthorizationToken') || (says(s.Resource, 'Cellblock-prod-Image:') && !says(s.Resource, '*')),
      ),
    break: (t) => set(pullRole(t), 'Properties.Policies.0.PolicyDocument.Statement.1.Resource', '*'),
  },
  {
    title: 'only ECS tasks assume the pull role, under the trust policy of the AWS documentation',
    holds: (t) =>
      statements(at(pullRole(t), 'Properties.AssumeRolePolicyDocument')).every(
        (s) => same(s.Principal, { Service: 'ecs-tasks.amazonaws.com' }) && same(s.Action, 'sts:AssumeRole') && s.Condition === undefined,
      ),
    break: (t) => set(first(statements(at(pullRole(t), 'Properties.AssumeRolePolicyDocument'))), 'Principal', { AWS: '*' }),
  },
  value('an image tag never changes its content', repository, 'Properties.ImageTagMutability', 'IMMUTABLE', 'MUTABLE'),
  value('images are scanned when they are pushed', repository, 'Properties.ImageScanningConfiguration.ScanOnPush', true, false),
  value('the image repository goes with its stack', repository, 'Properties.EmptyOnDelete', true, false),
  {
    title: 'GuardDuty adds no agent to sandboxes',
    holds: (t) =>
      list(at(only(t, 'AWS::ECS::Cluster'), 'Properties.Tags')).some((tag) => same(tag, { Key: 'GuardDutyManaged', Value: 'false' })),
    break: (t) => set(only(t, 'AWS::ECS::Cluster'), 'Properties.Tags', []),
  },
  value(
    'the cluster records no exec session, because there is none',
    (t) => only(t, 'AWS::ECS::Cluster'),
    'Properties.Configuration.ExecuteCommandConfiguration.Logging',
    'NONE',
    'DEFAULT',
  ),
]
