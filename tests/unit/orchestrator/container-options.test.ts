import { expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { containerOptions } from '../../../services/adapters/drivers/docker/container-options.ts'
import { DEFAULT_LIMITS } from '../../../services/adapters/drivers/docker/limits.ts'

const optionsWith = (runtime: string | undefined, controlFolder?: string): ReturnType<typeof containerOptions> => {
  const spec = { sandboxId: newId('sandbox'), publicKey: 'key', memoryTier: '1g' as const, isAwaited: false }
  const plan = { image: 'image', stage: 'test', limits: DEFAULT_LIMITS, workerUid: 20_000, seccompProfile: '{}', runtime, controlFolder }
  return containerOptions(spec, plan)
}

const profileWith = (runtime: string | undefined): string | undefined =>
  optionsWith(runtime)
    .Env?.find((entry) => entry.startsWith('CELLBLOCK_PROFILE='))
    ?.slice('CELLBLOCK_PROFILE='.length)

it('selects the profile of the self-test by the runtime of the engine', () => {
  expect([undefined, 'runc', 'kata', 'runsc', 'runsc-kvm'].map(profileWith)).toEqual(['docker', 'docker', 'docker', 'gvisor', 'gvisor'])
})

it('resolves the host name of a sandbox to loopback, on which its programs listen', () => {
  const { Hostname, HostConfig } = optionsWith(undefined)
  expect(HostConfig?.ExtraHosts).toEqual([`${Hostname}:127.0.0.1`])
  expect(optionsWith(undefined, '/tmp/control').HostConfig?.Mounts).toContainEqual({
    ...{ Type: 'bind', Source: '/tmp/hosts', Target: '/etc/hosts', ReadOnly: true },
  })
})
