import type { ObjectStore } from '../core/ports/object-store.ts'
import type { Queue } from '../core/ports/queue.ts'
import { CommandError } from './command.ts'

/** The command line reaches rows only; whatever asks for an object ends with a sentence. */
export const NO_OBJECTS = new Proxy({} as ObjectStore, {
  get: () => () => Promise.reject(new CommandError('This command reaches the table only, and what it needs lies in an object.')),
})

/** A nudge that is not sent is made good by the reconciler within seconds. */
export const NO_QUEUE: Queue = { send: async () => undefined, check: async () => undefined }
