import { DriverError, type SandboxDriver } from '../../services/core/ports/sandbox-driver.ts'

/** A compute platform with no room at all: what suites that start no sandbox give to workers that want a driver. */
export const noSandboxes: SandboxDriver = {
  name: 'docker',
  image: 'none',
  start: () => Promise.reject(new DriverError('capacity', 'There is no room.')),
  inspect: () => Promise.resolve({ phase: 'gone', reason: 'lost', exitCode: null }),
  waitReady: () => Promise.resolve({ phase: 'gone', reason: 'lost', exitCode: null }),
  stop: () => Promise.resolve(),
  list: async function* () {
    yield* []
  },
  check: () => Promise.reject(new DriverError('capacity', 'There is no room.')),
}
