import type { ObjectStore } from '../../../../services/ports/object-store.ts'
import type { Queue } from '../../../../services/ports/queue.ts'
import type { Items } from '../../../../services/adapters/storage/rows/items.ts'
import { drawFault, type Faults } from '../faults.ts'

/** A caller sees a fault only after this many attempts; the SDK hides faults of the AWS services in the same way. */
const ATTEMPTS = 4

type Service = 'table' | 'objects' | 'queue'

/** Fails before the call, or after it with the reply lost. */
async function withFaults<Result>(faults: Faults, service: Service, attempts: number, call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const kind = drawFault(faults)
    if (kind === null) return call()
    faults.history.add({ type: 'fault', service, kind })
    if (kind === 'reply_lost') await call()
    if (attempt >= attempts) throw new Error(`The ${service} failed: ${kind}.`)
  }
}

export function faultyItems(items: Items, faults: Faults): Items {
  const around = <Result>(call: () => Promise<Result>): Promise<Result> => withFaults(faults, 'table', ATTEMPTS, call)
  return {
    get: (...request) => around(() => items.get(...request)),
    put: (item, condition, options) => around(() => items.put(item, condition, options)),
    update: (key, actions, options) => around(() => items.update(key, actions, options)),
    delete: (key) => around(() => items.delete(key)),
    query: (request) => around(() => items.query(request)),
    getMany: (keys) => around(() => items.getMany(keys)),
    writeMany: (changes) => around(() => items.writeMany(changes)),
    ofTenant: (tenant, cursor) => around(() => items.ofTenant(tenant, cursor)),
    flush: () => around(() => items.flush()),
  }
}

export function faultyObjects(objects: ObjectStore, faults: Faults): ObjectStore {
  const around = <Result>(call: () => Promise<Result>): Promise<Result> => withFaults(faults, 'objects', ATTEMPTS, call)
  return {
    // A stream is read once, so its write is not repeated.
    put: (key, body, options) =>
      withFaults(faults, 'objects', body instanceof Uint8Array ? ATTEMPTS : 1, () => objects.put(key, body, options)),
    get: (key) => around(() => objects.get(key)),
    head: (key) => around(() => objects.head(key)),
    delete: (key) => around(() => objects.delete(key)),
    deletePrefix: (prefix) => around(() => objects.deletePrefix(prefix)),
    sizeOf: (prefix) => around(() => objects.sizeOf(prefix)),
    presignGet: (key, options) => objects.presignGet(key, options),
    presignPut: (key, options) => objects.presignPut(key, options),
    check: () => objects.check(),
  }
}

export const faultyQueue = (queue: Queue, faults: Faults): Queue => ({
  send: (name, message, options) => withFaults(faults, 'queue', ATTEMPTS, () => queue.send(name, message, options)),
  check: () => queue.check(),
})
