import type { SandboxDriver, SandboxStatus } from '../../ports/sandbox-driver.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'

/** Reads the statuses of many sandboxes with the fewest calls, when the first is requested. If the read fails, each status fails. */
export function createStatusBatch(driver: SandboxDriver, sandboxes: readonly Sandbox[]): (sandbox: Sandbox) => Promise<SandboxStatus> {
  const { reportsStarts } = driver.capabilities
  // Where starts are reported by event, the platform does not know a start that it has not accepted: in a burst each would cost a search.
  const isAccepted = ({ state, launchedAt }: Sandbox): boolean => state !== 'starting' || !reportsStarts || launchedAt !== undefined
  const refs = sandboxes.filter(
    (sandbox) => (sandbox.state === 'starting' || sandbox.state === 'ready' || sandbox.state === 'claimed') && isAccepted(sandbox),
  )
  const places = new Map(refs.map(({ id }, place) => [id, place]))
  let reading: Promise<readonly SandboxStatus[]> | null = null
  return async ({ id }) => {
    reading ??= driver.inspectAll(refs)
    const status = (await reading)[places.get(id) ?? -1]
    if (status === undefined) throw new Error(`The driver reported no status for the sandbox ${id}.`)
    return status
  }
}
