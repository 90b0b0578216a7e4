import type * as z from 'zod'
import type { executionEventSchema } from './events/event-types.ts'

/** An immutable, numbered event of an execution. Numbers are consecutive from 0; `done` is the last. */
export type ExecutionEvent = z.infer<typeof executionEventSchema>
