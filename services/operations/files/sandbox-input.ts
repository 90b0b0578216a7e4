import { ServiceError, type ErrorCode } from '../../model/errors.ts'
import { hasEnded } from '../../model/executions/execution.ts'
import { loadResult } from '../executions/load-result.ts'
import { runCommand } from '../commands/run-command.ts'
import type { RunContext } from '../executions/run-code.ts'

const TIMEOUT_SECONDS = 60
/** Exit codes of the scripts below that have a separate error code. */
const MISSING = 2
const EXISTS = 17
const WRONG_TYPE = 21
const CODES: Readonly<Record<number, ErrorCode>> = { [MISSING]: 'file_not_found', [EXISTS]: 'conflict', [WRONG_TYPE]: 'invalid_request' }

/** `$1`: the file. `$2`: the file with the bytes, which is then removed; without it they are the standard input. */
const WRITE = {
  replace: 'cat -- "${2:--}" > "$1"',
  append: 'cat -- "${2:--}" >> "$1"',
  create: `set -C; exec 3> "$1" || { [ -e "$1" ] && echo 'it exists' >&2 && exit ${EXISTS}; exit 1; }; cat -- "\${2:--}" >&3`,
} as const
/** What a write does with a file that exists: replace it, continue it, or refuse. */
export type WriteMode = keyof typeof WRITE

const writeScript = (mode: WriteMode): string =>
  `mkdir -p -- "$(dirname -- "$1")" || exit; ${WRITE[mode]} && { [ -z "$2" ] || rm -- "$2"; }`

/** `$1`, `$2`: source and target. `$3`, `$4`: 1 for a folder with its content, and 1 for replacing the target. */
const COPY_SCRIPT = [
  `[ -e "$1" ] || { echo 'nothing is there' >&2; exit ${MISSING}; }`,
  `[ "$4" = 1 ] || [ ! -e "$2" ] || { echo 'the target exists' >&2; exit ${EXISTS}; }`,
  `[ ! -d "$1" ] || [ "$3" = 1 ] || { echo 'it is a folder, which needs recursive' >&2; exit ${WRONG_TYPE}; }`,
  `case "$(realpath -m -- "$2")/" in "$(realpath -- "$1")"/*) echo 'the target is the source or in it' >&2; exit ${WRONG_TYPE};; esac`,
  'mkdir -p -- "$(dirname -- "$2")" && cp -rT -- "$1" "$2"',
].join('; ')

/** Copies changed stored files into the sandbox, and changed files out of it, while other programs run there. */
export async function syncSandbox(context: RunContext, containerId: string): Promise<void> {
  await runCommand(context, { containerId, argv: ['/bin/true'], timeoutSeconds: TIMEOUT_SECONDS, waitMs: TIMEOUT_SECONDS * 1000 })
}

/** Writes a file of the sandbox, with its folders. Throws ServiceError with the reason that the sandbox gives. */
export const writeInSandbox = (
  context: RunContext,
  containerId: string,
  { path, bytes, mode = 'replace' }: { readonly path: string; readonly bytes: Uint8Array; readonly mode?: WriteMode },
): Promise<void> => runScript(context, containerId, { script: writeScript(mode), args: [path], stdin: bytes, fault: cannotWrite(path) })

/** The same with the bytes of the file that is stored as `from`; it keeps the owner and mode of a file that was there. Throws ServiceError. */
export const moveInSandbox = (
  context: RunContext,
  containerId: string,
  { from, to, mode = 'replace' }: { readonly from: string; readonly to: string; readonly mode?: WriteMode },
): Promise<void> => runScript(context, containerId, { script: writeScript(mode), args: [to, `/mnt/data/${from}`], fault: cannotWrite(to) })

const cannotWrite = (path: string): string => `The file ${path} cannot be written`

/** Copies a file, or with `recursive` a folder. Throws ServiceError with the reason that the sandbox gives. */
export const copyInSandbox = (
  context: RunContext,
  containerId: string,
  {
    from,
    to,
    recursive,
    overwrite,
  }: { readonly from: string; readonly to: string; readonly recursive: boolean; readonly overwrite: boolean },
): Promise<void> => {
  const args = [from, to, recursive ? '1' : '0', overwrite ? '1' : '0']
  return runScript(context, containerId, { script: COPY_SCRIPT, args, fault: `${from} cannot be copied to ${to}` })
}

interface Script {
  readonly script: string
  readonly args: readonly string[]
  readonly stdin?: Uint8Array
  /** How the message of a refusal begins. */
  readonly fault: string
}

async function runScript(context: RunContext, containerId: string, { script, args, stdin, fault }: Script): Promise<void> {
  const waitMs = TIMEOUT_SECONDS * 1000
  const { execution: row } = await runCommand(context, {
    containerId,
    argv: ['/bin/bash', '-c', script, 'files', ...args],
    ...(stdin !== undefined && { stdin }),
    timeoutSeconds: TIMEOUT_SECONDS,
    waitMs,
  })
  if (row.status === 'succeeded') return
  const result = await loadResult(context.deps.objects, row)
  const why = result?.stderr.trim().slice(-500) ?? ''
  if (!hasEnded(row.status)) throw new ServiceError('sandbox_unavailable', 'The sandbox did not complete the call in time. Try again.')
  throw new ServiceError(
    CODES[result?.exit?.code ?? 0] ?? 'invalid_file_name',
    `${fault}: ${why === '' ? (row.reason ?? row.status) : why}. Check the path and the free space.`,
  )
}
