import type { Config } from './config.ts'
import type { FunctionId } from './function-name.ts'

/** Concurrent runs of the reconciler: its schedule, and events of a wave of tasks. */
const RECONCILER = 20

/** The concurrency that the functions besides the API use: that of their queues. */
export const workerFunctions = ({ chat, run, place }: Config['concurrency']): Readonly<Record<Exclude<FunctionId, 'api'>, number>> => ({
  chat,
  run,
  place,
  reconciler: RECONCILER,
})
