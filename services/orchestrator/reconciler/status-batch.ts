import type { SandboxDriver, SandboxStatus } from '../../core/ports/sandbox-driver.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'

/** The statuses of many sandboxes, read with the fewest calls when the first of them is wanted. A failed read is the failure of each. */
export function createStatusBatch(driver: SandboxDriver, sandboxes: readonly Sandbox[]): (sandbox: Sandbox) => Promise<SandboxStatus> {
  const refs = sandboxes.filter(({ state }) => state === 'starting' || state === 'ready' || state === 'claimed')
  const places = new Map(refs.map(({ id }, place) => [id, place]))
  let reading: Promise<readonly SandboxStatus[]> | null = null
  return async ({ id }) => {
    reading ??= driver.inspectAll(refs)
    const status = (await reading)[places.get(id) ?? -1]
    if (status === undefined) throw new Error(`The driver reported no status for the sandbox ${id}.`)
    return status
  }
}
