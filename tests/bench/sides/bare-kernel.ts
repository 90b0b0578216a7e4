import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { BENCH_LABEL } from './docker.ts'

export const BARE_KERNEL_SCRIPT = await readFile(join(import.meta.dirname, 'bare_kernel.py'), 'utf8')

/** Standard ipykernels in a plain container of the sandbox image: the reference of every figure. */
export interface BareKernels {
  /** Milliseconds of one round trip on the first kernel, measured inside its container. */
  run(code: string): Promise<number>
  /** Executions a second with every kernel busy. */
  load(code: string, seconds: number): Promise<number>
  stop(): Promise<void>
}

export async function startBareKernels(image: string, count: number): Promise<BareKernels> {
  const docker = ['run', '--interactive', '--rm', '--network', 'none', '--label', BENCH_LABEL, '--entrypoint', 'python3', image]
  const child = spawn('docker', [...docker, '-c', BARE_KERNEL_SCRIPT, String(count)])
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ask = conversationWith(child)
  await ask(null)
  return {
    run: async (code) => (await ask({ op: 'run', code })).ms ?? Number.NaN,
    load: async (code, seconds) => {
      const answer = await ask({ op: 'load', code, seconds })
      return (answer.count ?? Number.NaN) / (answer.seconds ?? Number.NaN)
    },
    stop: async () => {
      child.stdin.end()
      await ended
    },
  }
}

interface Answer {
  readonly ms?: number
  readonly count?: number
  readonly seconds?: number
}

/** Sends one line and returns one line; null only waits for a line. Rejects with the container's output if it ends. */
function conversationWith(child: ChildProcessWithoutNullStreams): (request: unknown) => Promise<Answer> {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint = `${complaint}${chunk.toString()}`.slice(-2_000)))
  return async (request) => {
    if (request !== null) child.stdin.write(`${JSON.stringify(request)}\n`)
    const line = await lines.next()
    if (line.done === true) throw new Error(`The bare kernel ended: ${complaint}`)
    return JSON.parse(line.value) as Answer
  }
}
