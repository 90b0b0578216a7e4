import type { BlobRef } from '../model/executions/execution.ts'
import { readBytes } from '../model/read-bytes.ts'
import type { ObjectStore } from './object-store.ts'

/** The JSON document that `ref` names. Throws when the object is missing. */
export async function readJson(objects: ObjectStore, ref: BlobRef): Promise<unknown> {
  const found = await objects.get(ref.objectKey)
  if (found === null) throw new Error(`The object ${ref.objectKey} of a row is gone`)
  return JSON.parse((await readBytes(found.body)).toString('utf8'))
}
