import type { Clock } from '../core/ports/clock.ts'
import type { Queue } from '../core/ports/queue.ts'
import type { Table } from '../core/ports/table.ts'
import type { TenantStore } from '../core/ports/tenant-store.ts'

/** What the commands work with; `main.ts` decides where it comes from. Nothing is opened before a command uses it. */
export interface CliDeps {
  tenants(): Promise<TenantStore>
  /** Rows only: commands cannot read objects. */
  table(): Promise<Table>
  /** Copies rows and objects into a new folder. */
  backUp(folder: string): Promise<void>
  /** Sends hints; the reconciler replaces lost ones. */
  readonly queue: Queue
  readonly clock: Clock
  /** A relative file name is looked up here: the folder in which the user typed the command. */
  readonly folder: string
  /** The commands of the `cellblock` program, for the usage text. */
  readonly programCommands: readonly { readonly name: string; readonly summary: string }[]
  /** Standard output: what the user asked for. */
  readonly out: (text: string) => void
  /** Standard error: what the user should know besides. */
  readonly note: (text: string) => void
}

export interface Command {
  /** Words and arguments, as in the usage text. */
  readonly usage: string
  readonly summary: string
  /** Answers with the exit code. Throws UsageError, CommandError. */
  run(args: readonly string[], deps: CliDeps): Promise<number>
}

/** The words cannot be understood: exit code 2, with the command's usage. */
export class UsageError extends Error {}

/** The command was understood and cannot be done; the message says why and what to do. Exit code 1. */
export class CommandError extends Error {}
