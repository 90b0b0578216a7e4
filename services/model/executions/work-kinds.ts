import { isId } from '../ids.ts'
import type { CommandSource, Execution, ExecutionSource } from './execution.ts'

export type WorkKindName = 'execution' | 'command'

/**
 * One kind of work that a sandbox does. Other modules ask for the kind of a row and call it without naming one. What needs a port is in two tables by the
 * same names: `services/operations/executions/work-places.ts` and `services/workers/run/stream/sandbox-work.ts`.
 */
export interface WorkKind {
  /** The kind of its ids, and the name of its objects on the wires. */
  readonly name: WorkKindName
  /** `queue`: only the first of the container's queue runs. `beside`: it runs with others, and waits in the queue only until a sandbox is prepared. */
  readonly place: 'queue' | 'beside'
  /** Whether it uses the variables: they are restored before it, and it makes their snapshot stale. */
  readonly usesVariables: boolean
  /** The event logs that are removed with its row. */
  readonly logs: readonly ('execution' | 'input')[]
}

export const WORK_KINDS: { readonly [Name in WorkKindName]: WorkKind & { readonly name: Name } } = {
  execution: { name: 'execution', place: 'queue', usesVariables: true, logs: ['execution'] },
  command: { name: 'command', place: 'beside', usesVariables: false, logs: ['input', 'execution'] },
}
export const ALL_WORK_KINDS: readonly WorkKind[] = Object.values(WORK_KINDS)

const OF_SOURCES: Readonly<Record<ExecutionSource['kind'], WorkKindName>> = {
  code: 'execution',
  notebook: 'execution',
  blob: 'execution',
  command: 'command',
}

export const workKindOf = ({ source }: { readonly source: { readonly kind: ExecutionSource['kind'] } }): WorkKind =>
  WORK_KINDS[OF_SOURCES[source.kind]]

/** The kind of work of an id; executions are the kind of an id that has no form of one. */
export const workKindOfId = (id: string): WorkKind => ALL_WORK_KINDS.find(({ name }) => isId(name, id)) ?? WORK_KINDS.execution

/** The source of a command. Throws for a row of another kind. */
export function commandSourceOf({ id, source }: Pick<Execution, 'id' | 'source'>): CommandSource {
  if (source.kind !== 'command') throw new Error(`${id} is not a command`)
  return source
}
