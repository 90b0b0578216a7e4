import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { BENCH_LABEL } from './docker.ts'

/** A Python program in a plain container. It measures once per line of its input and answers with a line. */
export interface PlainProgram extends AsyncDisposable {
  measure(): Promise<string>
}

/** Runs the program until it is disposed of, so that both sides of a comparison can be measured in turns. `options` are those of `docker run`. */
export function startPlainProgram(
  image: string,
  program: string,
  { options = [], args = [] }: { readonly options?: readonly string[]; readonly args?: readonly string[] } = {},
): PlainProgram {
  const docker = ['run', '--rm', '-i', '--network', 'none', '--label', BENCH_LABEL, ...options, '--entrypoint', 'python3', image]
  const container = spawn('docker', [...docker, '-c', program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(container, 'exit')
  const lines = createInterface({ input: container.stdout })[Symbol.asyncIterator]()
  return {
    async measure() {
      container.stdin.write('\n')
      const { value } = (await lines.next()) as IteratorResult<string>
      if (value === undefined) throw new Error('The plain container could not run the program: the reason is above.')
      return value
    },
    async [Symbol.asyncDispose]() {
      container.stdin.end()
      await exited
    },
  }
}
