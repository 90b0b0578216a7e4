import { createHash } from 'node:crypto'
import { commandsOf, type Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { hasEnded, type CommandSource, type Execution } from '../../model/executions/execution.ts'
import { isFileOperation } from '../../model/executions/command-arguments.ts'
import type { Call } from '../../http/route.ts'
import { USER_NAME } from './access-token.ts'

/** A command that runs, as E2B's clients see it. */
export interface RunningCommand {
  readonly row: Execution
  readonly source: CommandSource
  readonly pid: number
  readonly tag: string | null
}

/** Metadata of commands of this wire. */
export const TAG_METADATA = 'e2b_tag'

/** Which process a call means. */
export type ProcessSelector = { readonly pid?: number | undefined; readonly tag?: string | undefined }

/** Clients know processes by positive numbers of 31 bits. The number is derived from the command's id, so it is the same in every worker. */
export const pidOf = (commandId: string): number => createHash('sha256').update(commandId).digest().readUInt32BE() >>> 1 || 1

/** The commands of a container that have not ended, of every wire. Operations on files are no processes for E2B's clients. */
export async function runningCommands({ deps }: Pick<Call, 'deps'>, container: Container): Promise<readonly RunningCommand[]> {
  const rows = await Promise.all(commandsOf(container).map((id) => deps.table.executions.get(container.tenant, id)))
  return rows.flatMap((row) =>
    row === null || row.source.kind !== 'command' || hasEnded(row.status) || isFileOperation(row.source.argv)
      ? []
      : [{ row, source: row.source, pid: pidOf(row.id), tag: row.metadata[TAG_METADATA] ?? null }],
  )
}

/** Throws ServiceError `command_not_found` when no running command has the number or the tag. */
export async function selectCommand(
  call: Pick<Call, 'deps'>,
  container: Container,
  { pid, tag }: ProcessSelector,
): Promise<RunningCommand> {
  const found = (await runningCommands(call, container)).find((command) =>
    pid === undefined ? tag !== undefined && command.tag === tag : command.pid === pid,
  )
  if (found !== undefined) return found
  throw new ServiceError(
    'command_not_found',
    `No process ${pid ?? JSON.stringify(tag?.slice(0, 80) ?? '')} runs in this sandbox. List the processes, or start it again.`,
  )
}

/** Users that each sandbox of E2B has. Here both are the one user that everything runs as. */
const USERS = new Set(['', 'user', 'root'])

/** Arguments for the user that a call names. Another one than E2B's goes to `sudo`, which says that it does not exist. Throws ServiceError. */
export function argumentsAs({ headers }: Request, argv: readonly string[]): readonly string[] {
  const [, credentials = ''] = /^Basic (\S+)$/.exec(headers.get('authorization') ?? '') ?? []
  const [name = ''] = Buffer.from(credentials, 'base64').toString().split(':')
  if (!USER_NAME.test(name)) throw new ServiceError('invalid_request', 'The name of the user is not valid. Use "user" or "root".')
  return USERS.has(name) ? argv : ['sudo', '-u', name, '--', ...argv]
}
