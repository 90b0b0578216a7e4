import { Readable } from 'node:stream'
import type { ObjectStore } from '../ports/object-store.ts'
import type { ResultBudget } from '../operations/executions/result-budget.ts'

/**
 * What an answer that streams an object counts for at most, bytes: more than was read ahead of the client, because it also holds a connection of the store.
 * Without other answers a tenant has 32 of them, and all tenants together 128.
 */
const STREAM_BYTES = 2 * 1024 ** 2

interface StoredObject {
  readonly objectKey: string
  readonly bytes: number
}

/**
 * The bytes of an object, at the pace of the client. Null when the object was deleted. Throws ServiceError `too_many_results` when answers of the tenant that
 * were not read take its share.
 */
export function objectAnswer(
  { objects, results }: { readonly objects: Pick<ObjectStore, 'get'>; readonly results: ResultBudget },
  { objectKey, bytes }: StoredObject,
  headers: Readonly<Record<string, string>>,
): Promise<Response | null> {
  return results.hold(Math.min(bytes, STREAM_BYTES), async () => {
    const object = await objects.get(objectKey)
    if (object === null) return null
    const body = Readable.toWeb(Readable.from(object.body)) as ReadableStream
    return new Response(body, { headers: { ...headers, 'content-length': String(object.bytes) } })
  })
}
