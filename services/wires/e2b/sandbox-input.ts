import { ServiceError } from '../../model/errors.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { LIMITS } from '../../model/limits.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { sendCommandInput } from '../../operations/commands/send-input.ts'
import { waitForExecution, type RunContext } from '../../operations/executions/run-code.ts'

const TIMEOUT_SECONDS = 60
/** Input up to this size is part of the command; more follows in pieces, bytes. */
const MAX_INLINE_BYTES = 64 * 1024
const PIECE_BYTES = LIMITS.maxCommandInputBytes / 4
const WRITE_SCRIPT = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'

/** Copies changed stored files into the sandbox, and changed files out of it, while other programs run there. */
export async function syncSandbox(context: RunContext, containerId: string): Promise<void> {
  await runCommand(context, { containerId, argv: ['/bin/true'], timeoutSeconds: TIMEOUT_SECONDS, waitMs: TIMEOUT_SECONDS * 1000 })
}

/** Writes a file outside `/mnt/data`, which no store keeps. Throws ServiceError with the reason that the sandbox gives. */
export async function writeInSandbox(
  context: RunContext,
  containerId: string,
  { path, bytes }: { readonly path: string; readonly bytes: Uint8Array },
): Promise<void> {
  const isLarge = bytes.byteLength > MAX_INLINE_BYTES
  const waitMs = TIMEOUT_SECONDS * 1000
  const { execution } = await runCommand(context, {
    containerId,
    argv: ['/bin/bash', '-c', WRITE_SCRIPT, 'write', path],
    stdin: isLarge ? 'open' : bytes,
    timeoutSeconds: TIMEOUT_SECONDS,
    waitMs: isLarge ? 0 : waitMs,
  })
  if (isLarge) await sendInput(context, execution, bytes)
  const { tenant, id } = execution
  const read = async (): Promise<Execution> => (await context.deps.table.executions.get(tenant, id)) ?? execution
  const row = hasEnded(execution.status) ? execution : await waitForExecution(context, id, { read, waitMs })
  if (row.status === 'succeeded') return
  const why = (await loadResult(context.deps.objects, row))?.stderr.trim().slice(-500) ?? ''
  if (!hasEnded(row.status)) throw new ServiceError('sandbox_unavailable', 'The sandbox did not accept the file in time. Try again.')
  throw new ServiceError(
    'invalid_file_name',
    `The file ${path} cannot be written: ${why === '' ? (row.reason ?? row.status) : why}. Check its path and the free space.`,
  )
}

async function sendInput(context: RunContext, execution: Execution, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    const data = Buffer.from(bytes.subarray(at, at + PIECE_BYTES)).toString('base64')
    await sendCommandInput(context.deps, execution, { type: 'stdin', data })
  }
  await sendCommandInput(context.deps, execution, { type: 'close' })
}
