import { expect, it } from 'vitest'
import { checkpointOptions } from '../../../services/adapters/drivers/docker/host.ts'

const RESUMING = { path: '/usr/local/lib/cellblock/runsc-0123-resuming-4567', runtimeArgs: ['--network=none'] }
const isRoot = process.getuid?.() === 0

it('the runtime of --runtime gvisor keeps processes, if this process may use its state', () => {
  const expected = isRoot ? { engine: '/data', program: RESUMING.path, args: RESUMING.runtimeArgs } : undefined
  expect(checkpointOptions({ runtime: 'g', transport: 'unix' }, { DockerRootDir: '/data', Runtimes: { g: RESUMING } })).toEqual(expected)
})

it.each([
  ['the default runtime', { runtime: null, transport: 'unix' }, { runc: { path: 'runc' } }],
  ['another runsc', { runtime: 'g', transport: 'unix' }, { g: { path: '/usr/bin/runsc' } }],
  ['a runtime that the engine does not know', { runtime: 'g', transport: 'unix' }, {}],
  ['the relay, whose programs are processes of the sandbox', { runtime: 'g', transport: 'exec' }, { g: RESUMING }],
] as const)('%s keeps none', (_, chosen, runtimes) => {
  expect(checkpointOptions(chosen, { DockerRootDir: '/data', Runtimes: runtimes })).toBeUndefined()
})

it('an engine that does not answer keeps none', () => {
  expect(checkpointOptions({ runtime: 'g', transport: 'unix' }, null)).toBeUndefined()
})
