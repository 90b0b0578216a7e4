import { describe, expect, it } from 'vitest'
import { containerOptions, type ContainerPlan } from '../../../services/adapters/drivers/docker/container-options.ts'
import { DEFAULT_LIMITS } from '../../../services/adapters/drivers/docker/limits.ts'
import { readSandboxRequest } from '../../../services/adapters/drivers/docker/read-sandbox-request.ts'
import { SERVER_LABEL } from '../../../services/adapters/drivers/docker/remove-orphaned-sandboxes.ts'
import { newId } from '../../../services/model/ids.ts'
import type { SandboxSpec } from '../../../services/ports/sandbox-driver.ts'

const controlFolderOf = (sandboxId: string): string => `/control/${sandboxId}`
const SECCOMP = '{"defaultAction":"SCMP_ACT_ERRNO"}'
const spec: SandboxSpec = { sandboxId: newId('sandbox'), memoryTier: '1g', publicKey: 'a'.repeat(43), isAwaited: false }
const plan: ContainerPlan = {
  image: 'cellblock-sandbox:dev',
  stage: 'local-0123456789ab',
  limits: DEFAULT_LIMITS,
  workerUid: 20_123,
  seccompProfile: SECCOMP,
  labels: { [SERVER_LABEL]: '1' },
  preload: ['numpy', 'matplotlib.pyplot'],
}

const bodyOf = (ownSpec: SandboxSpec = spec, own: Partial<ContainerPlan> = {}): Record<string, unknown> =>
  JSON.parse(JSON.stringify(containerOptions(ownSpec, { ...plan, ...own, controlFolder: controlFolderOf(ownSpec.sandboxId) }))) as Record<
    string,
    unknown
  >
const read = (body: unknown) => readSandboxRequest(body, { controlFolderOf, seccompProfile: SECCOMP })

/** Every copy of a body in which one value differs, one is missing, or an object has one more. */
function* variants(body: unknown, path: readonly string[] = []): Generator<{ readonly path: string; readonly body: unknown }> {
  if (typeof body !== 'object' || body === null) {
    const other = typeof body === 'number' ? body + 1 : typeof body === 'boolean' ? !body : `${String(body)}x`
    yield { path: path.join('.'), body: other }
    return
  }
  const put = (key: string, value: unknown): unknown =>
    Array.isArray(body) ? body.map((old, index) => (String(index) === key ? value : old)) : { ...body, [key]: value }
  for (const [key, value] of Object.entries(body)) {
    for (const { path: where, body: changed } of variants(value, [...path, key])) yield { path: where, body: put(key, changed) }
    yield {
      path: `${[...path, key].join('.')} missing`,
      body: Array.isArray(body)
        ? body.filter((_, index) => String(index) !== key)
        : Object.fromEntries(Object.entries(body).filter(([name]) => name !== key)),
    }
  }
  yield { path: `${path.join('.')} more`, body: Array.isArray(body) ? [...body, 'x'] : { ...body, Extra: 'x' } }
}

describe('a request for a sandbox', () => {
  it.each([
    ['of the pool', bodyOf()],
    ['that an execution waits for', bodyOf({ ...spec, isAwaited: true })],
    [
      'with its own limits',
      bodyOf({ ...spec, memoryTier: '4g' }, { limits: { ...DEFAULT_LIMITS, dataBytes: 1024 ** 3, processes: 50, cpus: 2 } }),
    ],
    ['with the preload of the image', bodyOf(spec, { preload: undefined })],
    ['on another runtime', bodyOf(spec, { runtime: 'runsc' })],
  ])('is read %s', (_, body) => {
    const found = read(body)
    expect(found).not.toBeNull()
    if (found === null) return
    expect(
      JSON.parse(JSON.stringify(containerOptions(found.spec, { ...found.plan, controlFolder: controlFolderOf(found.spec.sandboxId) }))),
    ).toEqual(body)
  })

  it('is refused with any other value, without one, and with one more, except for the variables of a sandbox', () => {
    const accepted = [...variants(bodyOf())].filter(({ body }) => read(body) !== null).map(({ path }) => path)
    // The key of the sandbox, its image, which the proxy compares with a list, its share of the processor, and who started it.
    expect(accepted.toSorted()).toEqual([
      'Env.1',
      'HostConfig.NanoCpus',
      'Image',
      'Labels.cellblock.server-pid',
      'Labels.cellblock.server-pid missing',
      'Labels.cellblock.stage',
    ])
  })

  it.each([
    ['is privileged', { Privileged: true }],
    ['mounts a folder of the host', { Binds: ['/:/host'] }],
    ['mounts another folder than its own', { Mounts: [{ Type: 'bind', Source: '/control/other', Target: '/run/cellblock/control' }] }],
    ['has the network of the host', { NetworkMode: 'host' }],
    ['has the processes of the host', { PidMode: 'host' }],
    ['has a device', { Devices: [{ PathOnHost: '/dev/sda', PathInContainer: '/dev/sda', CgroupPermissions: 'rwm' }] }],
    ['has one more capability', { CapAdd: ['SETUID', 'SETGID', 'KILL', 'SYS_ADMIN'] }],
    ['has no profile of system calls', { SecurityOpt: ['no-new-privileges', 'seccomp=unconfined'] }],
    ['takes the volumes of another container', { VolumesFrom: ['other'] }],
  ])('is refused if it %s', (_, hostConfig) => {
    const body = bodyOf()
    expect(read({ ...body, HostConfig: { ...(body['HostConfig'] as object), ...hostConfig } })).toBeNull()
  })

  it('is refused with another command, and when its worker would have a UID of the machine', () => {
    expect(read({ ...bodyOf(), Entrypoint: ['/bin/sh'] })).toBeNull()
    expect(read({ ...bodyOf(), Cmd: ['sh'] })).toBeNull()
    expect(read({ ...bodyOf(), User: '0' })).toBeNull()
    for (const workerUid of [0, 1_000, 60_000]) expect(read(bodyOf(spec, { workerUid }))).toBeNull()
  })
})
