import { judge } from './judge.ts'
import type { Program } from './parse-programs.ts'
import type { LocalServerProcess } from '../support/local-server.ts'

export interface ProgramResult {
  readonly program: Program
  /** What was missing; empty for a pass. */
  readonly wrong: readonly string[]
  readonly runMs: number
}

/** Runs each program in a new container, `width` at a time, in the order given. */
export async function runPrograms(
  { native }: Pick<LocalServerProcess, 'native'>,
  programs: readonly Program[],
  { width, onResult }: { readonly width: number; readonly onResult?: (result: ProgramResult) => void },
): Promise<readonly ProgramResult[]> {
  const results: ProgramResult[] = []
  const waiting = [...programs]
  const work = async (): Promise<void> => {
    for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
      const container = await native.createContainer('program')
      const execution = await native.run(container, { code: program.code, timeout_seconds: 180 })
      await native.json('DELETE', `/v1/containers/${container}`)
      const result = { program, wrong: judge(program, execution), runMs: execution.usage['run_ms'] ?? 0 }
      results.push(result)
      onResult?.(result)
    }
  }
  await Promise.all(Array.from({ length: width }, work))
  return results
}
