import { singleImage } from '../../services/model/containers/images.ts'
import { DriverError, type SandboxDriver } from '../../services/ports/sandbox-driver.ts'

/** A platform without capacity, for suites that start no sandbox. */
export const noSandboxes: SandboxDriver = {
  name: 'none',
  capabilities: { addressKinds: [], reportsStarts: false, startMs: 0 },
  images: singleImage('none'),
  start: () => Promise.reject(new DriverError('capacity', 'No capacity.')),
  inspect: () => Promise.resolve({ phase: 'gone', reason: 'lost', exitCode: null }),
  inspectAll: async (sandboxes) => sandboxes.map(() => ({ phase: 'gone', reason: 'lost', exitCode: null })),
  waitReady: () => Promise.resolve({ phase: 'gone', reason: 'lost', exitCode: null }),
  stop: () => Promise.resolve(),
  list: async function* () {
    yield* []
  },
  check: () => Promise.reject(new DriverError('capacity', 'No capacity.')),
}
