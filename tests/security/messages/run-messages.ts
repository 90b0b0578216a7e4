import { readFile } from 'node:fs/promises'
import type { LocalServerProcess } from '../../support/local-server.ts'
import { generatedMessages } from './generated-messages.ts'
import { WIRES } from './wires.ts'

/** A server that reads this many messages may have held no more memory at any time, bytes. */
export const MAX_SERVER_BYTES = 1024 * 1024 * 1024
const LANES = 2

export interface MessagesResult {
  readonly messages: number
  readonly executions: number
  /** Calls that ended without a typed outcome or with a server error. */
  readonly untyped: number
  /** The most memory that the server held, bytes. */
  readonly peakBytes: number
  readonly failures: readonly string[]
}

/**
 * Sends at least `total` generated messages of hostile kernels through the supervisor and the orchestrator, `perExecution` in each execution, and
 * reads the results over every wire in turn. Each message is generated from `seed`, so a failure can be repeated.
 */
export async function runMessages(
  server: LocalServerProcess,
  { total, perExecution, seed }: { readonly total: number; readonly perExecution: number; readonly seed: number },
  onProgress: (messages: number) => void = () => undefined,
): Promise<MessagesResult> {
  const failures: string[] = []
  let messages = 0
  let executions = 0
  const lane = async (): Promise<void> => {
    while (messages < total) {
      const number = executions++
      const wire = WIRES[number % WIRES.length]
      if (wire === undefined) return
      messages += perExecution
      const where = `${wire.name}, seed ${seed + number}`
      try {
        const { problem } = await wire.run(server, generatedMessages(seed + number, perExecution))
        if (problem !== null) failures.push(`${where}: ${problem}`)
      } catch (error) {
        failures.push(`${where}: ${error instanceof Error ? error.message : String(error)}`)
      }
      onProgress(messages)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const untyped = failures.length
  for (const wire of WIRES) {
    const { problem, text } = await wire.run(server, 'print("after", 6 * 7)')
    if (problem !== null || !text.includes('after 42'))
      failures.push(`${wire.name}: the next call failed: ${problem ?? text.slice(0, 300)}`)
  }
  const peakBytes = await peakMemory(server.pid)
  if (peakBytes > MAX_SERVER_BYTES) failures.push(`the server held ${Math.round(peakBytes / 2 ** 20)} MiB`)
  return { messages, executions, untyped, peakBytes, failures }
}

/** The largest resident set of a process so far (`VmHWM` in proc_pid_status(5)), bytes. */
async function peakMemory(pid: number): Promise<number> {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes ?? 0) * 1024
}
