import { hasEnded } from '../../services/model/executions/execution.ts'
import { finishExecution } from '../support/finish-execution.ts'
import { fileOperationOutput } from './file-operations.ts'
import type { TestApi } from '../support/start-api.ts'

/** How often due executions are looked for, milliseconds. */
const EVERY_MS = 50
const LATER_MS = 3_600_000

/** Ends every execution and command at once, so that no request of the fuzzer waits for a sandbox. Returns what stops it. */
export function endExecutions(api: TestApi): () => Promise<void> {
  let isWorking = true
  const working = (async () => {
    while (isWorking) {
      for (const { kind, tenant, id } of await api.table.due(Date.now() + LATER_MS, 200)) {
        if (kind !== 'execution') continue
        const row = await api.table.executions.get(tenant, id)
        if (row === null || hasEnded(row.status)) continue
        // A request may cancel it at the same moment.
        await finishExecution(api, tenant, id, { result: { stdout: fileOperationOutput(row.source) } }).catch(() => undefined)
        await api.table.containers.removeCommand(tenant, row.containerId, { commandId: id, now: Date.now() })
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  })()
  return async () => {
    isWorking = false
    await working
  }
}
