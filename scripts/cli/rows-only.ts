import { ServiceError } from '../../services/model/errors.ts'
import type { ObjectStore } from '../../services/ports/object-store.ts'
import type { Queue } from '../../services/ports/queue.ts'

const refuse = (): Promise<never> =>
  Promise.reject(
    new ServiceError(
      'not_ready',
      'This command can read the table only, and the data that it needs is in the object store. Send the request again through the API.',
    ),
  )

/** Commands on a table in AWS can access rows only; every method throws ServiceError. */
export const NO_OBJECTS: ObjectStore = {
  put: refuse,
  get: refuse,
  head: refuse,
  delete: refuse,
  deletePrefix: refuse,
  sizeOf: refuse,
  presignGet: refuse,
  presignPut: refuse,
  check: refuse,
}

/** Sends nothing: the reconciler finds the rows within seconds. */
export const NO_QUEUE: Queue = { send: async () => undefined, check: async () => undefined }
