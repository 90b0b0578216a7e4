import type { Execution, ExecutionResult } from './execution.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { readJson } from '../responses/response-blobs.ts'

/** The result of an execution, from wherever it lies; null until it has ended. Throws when its object is gone. */
export const loadResult = async (objects: ObjectStore, row: Execution): Promise<ExecutionResult | null> =>
  row.result ?? (row.resultRef === null ? null : ((await readJson(objects, row.resultRef)) as ExecutionResult))
