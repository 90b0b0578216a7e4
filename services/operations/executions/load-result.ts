import type { Execution, ExecutionResult } from '../../model/executions/execution.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { readJson } from '../../ports/read-json.ts'

/** The result of an execution, from its row or its object; null until it has ended. Throws when the object is missing. */
export const loadResult = async (objects: ObjectStore, row: Execution): Promise<ExecutionResult | null> =>
  row.result ?? (row.resultRef === null ? null : ((await readJson(objects, row.resultRef)) as ExecutionResult))
