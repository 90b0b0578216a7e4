import type { ObjectStore } from '../../services/ports/object-store.ts'
import type { Queue } from '../../services/ports/queue.ts'
import { CommandError } from './command.ts'

/** Commands can access rows only; reading an object throws CommandError. */
export const NO_OBJECTS = new Proxy({} as ObjectStore, {
  get: () => () =>
    Promise.reject(
      new CommandError(
        'This command can read the table only, and the data that it needs is in the object store. Send the request again through the API.',
      ),
    ),
})

/** Sends nothing: the reconciler finds the rows within seconds. */
export const NO_QUEUE: Queue = { send: async () => undefined, check: async () => undefined }
