import * as z from 'zod'
import { countSchema } from '../event-schema.ts'
import type { CellOutputs } from './cell-outputs.ts'

/** Every event has its number and the sandbox's clock, epoch ms. */
export const numbered = { seq: countSchema, t: z.number().nonnegative() }
/** `index`: position of the cell among those that were sent. */
export const ofCell = { ...numbered, index: countSchema }

/** An event of the log with these fields, without number and time. */
export type Logged<Type extends string, Fields extends z.ZodRawShape> = Readonly<{ type: Type } & z.infer<z.ZodObject<Fields>>>

/** What an event counts as, for the bounds of an execution's output. */
export type OutputKind = 'display' | 'error' | 'stdout' | 'stderr'

/** One type of events that a sandbox sends before `done`. `event-types.ts` lists all; other modules call them without naming one. */
export interface SandboxEventType<Event, Payload = never> {
  readonly type: string
  /** Checks an event of PROTOCOL.md, gives it the names of the port and drops other fields. */
  readonly schema: z.ZodType<Event>
  /** Absent: the event has no output. */
  kind?(event: Event): OutputKind
  /** Adds the event to the result. */
  assemble?(event: Event, outputs: CellOutputs): void
  /** The event as the log has it. `cell`: position of its cell in the notebook. Absent: the log does not have it. */
  logged?(event: Event, cell: number): Payload
}
