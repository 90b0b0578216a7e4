import { ServiceError } from '../../model/errors.ts'
import { hasEnded } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import type { RunContext } from '../../operations/executions/run-code.ts'

const TIMEOUT_SECONDS = 60
const WRITE_SCRIPT = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'
const MOVE_SCRIPT = 'mkdir -p -- "$(dirname -- "$1")" && cat -- "$2" > "$1" && rm -- "$2"'

/** Copies changed stored files into the sandbox, and changed files out of it, while other programs run there. */
export async function syncSandbox(context: RunContext, containerId: string): Promise<void> {
  await runCommand(context, { containerId, argv: ['/bin/true'], timeoutSeconds: TIMEOUT_SECONDS, waitMs: TIMEOUT_SECONDS * 1000 })
}

interface Write {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Writes a file outside `/mnt/data`, which no store keeps. Throws ServiceError with the reason that the sandbox gives. */
export const writeInSandbox = (context: RunContext, containerId: string, { path, bytes }: Write): Promise<void> =>
  runScript(context, containerId, { argv: ['/bin/bash', '-c', WRITE_SCRIPT, 'write', path], stdin: bytes, path })

/** The same for a file that is stored as `from`; it keeps the owner and mode of a file that was there. Throws ServiceError. */
export const moveInSandbox = (
  context: RunContext,
  containerId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> => runScript(context, containerId, { argv: ['/bin/bash', '-c', MOVE_SCRIPT, 'write', to, `/mnt/data/${from}`], path: to })

async function runScript(
  context: RunContext,
  containerId: string,
  { argv, stdin, path }: { readonly argv: readonly string[]; readonly stdin?: Uint8Array; readonly path: string },
): Promise<void> {
  const waitMs = TIMEOUT_SECONDS * 1000
  const { execution: row } = await runCommand(context, {
    containerId,
    argv,
    ...(stdin !== undefined && { stdin }),
    timeoutSeconds: TIMEOUT_SECONDS,
    waitMs,
  })
  if (row.status === 'succeeded') return
  const why = (await loadResult(context.deps.objects, row))?.stderr.trim().slice(-500) ?? ''
  if (!hasEnded(row.status)) throw new ServiceError('sandbox_unavailable', 'The sandbox did not accept the file in time. Try again.')
  throw new ServiceError(
    'invalid_file_name',
    `The file ${path} cannot be written: ${why === '' ? (row.reason ?? row.status) : why}. Check its path and the free space.`,
  )
}
