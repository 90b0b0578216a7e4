import type { Clock } from '../../services/ports/clock.ts'
import type { Queue } from '../../services/ports/queue.ts'
import type { Table } from '../../services/ports/table.ts'
import type { TenantStore } from '../../services/ports/tenant-store.ts'

/** The dependencies of commands, which `main.ts` provides. Each is opened at its first use. */
export interface CliDeps {
  tenants(): Promise<TenantStore>
  /** Rows only: commands cannot read objects. */
  table(): Promise<Table>
  /** Copies rows and objects into a new folder. */
  backUp(folder: string): Promise<void>
  /** Sends messages; the reconciler replaces lost ones. */
  readonly queue: Queue
  readonly clock: Clock
  /** Base folder of relative file names: the user's working directory. */
  readonly folder: string
  /** The commands of the `cellblock` program, for the usage text. */
  readonly programCommands: readonly { readonly name: string; readonly summary: string }[]
  /** Standard output: the result of the command. */
  readonly out: (text: string) => void
  /** Standard error: further information for the user. */
  readonly note: (text: string) => void
}

export interface Command {
  /** Words and arguments, as in the usage text. */
  readonly usage: string
  readonly summary: string
  /** Answers with the exit code. Throws UsageError, CommandError. */
  run(args: readonly string[], deps: CliDeps): Promise<number>
}

/** Wrong usage: exit code 2, with the command's usage. */
export class UsageError extends Error {}

/** A valid command that failed; the message says why and what to do. Exit code 1. */
export class CommandError extends Error {}
