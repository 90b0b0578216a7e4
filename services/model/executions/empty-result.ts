import type { Execution, ExecutionResult, ExecutionUsage, Lost } from './execution.ts'

const NO_USAGE: ExecutionUsage = {
  queueMs: 0,
  startMs: 0,
  runMs: 0,
  cpuMs: 0,
  peakMemoryBytes: 0,
  outputBytes: 0,
  sandboxSeconds: 0,
  costUsd: 0,
}

/** The result of an execution that did not run, or whose outcome is unknown. `now`: its end, epoch ms. */
export const emptyResult = (row: Execution, now: number, lost: readonly Lost[] = []): ExecutionResult => ({
  cells: [],
  stdout: '',
  stderr: '',
  error: null,
  files: [],
  lost: [...row.lostBefore, ...lost],
  usage: { ...NO_USAGE, queueMs: now - row.createdAt },
})
