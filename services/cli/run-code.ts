import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { readArguments } from './arguments.ts'
import { CommandError, UsageError, type ApiClient, type CliDeps, type Command } from './command.ts'
import { PlainTextStream } from './plain-text.ts'
import { showEvent } from './show-event.ts'

/** As the shell has it: 124 for too late, 130 for interrupted. */
const EXIT_CODES: Readonly<Record<string, number>> = { succeeded: 0, failed: 1, timed_out: 124, cancelled: 130 }

/** A stream that broke is taken up again after the last event that came, this many times in a row. */
const MAX_RESUMES = 5

export const runCode: Command = {
  usage: 'run FILE.py|- [--container ID] [--timeout SECONDS] [--keep] [--raw]',
  summary: 'run a file, or standard input, in a sandbox and print its output as it comes; --raw keeps terminal control sequences in it',
  async run(args, deps) {
    const { values, positionals } = readArguments(args, ['FILE.py'], {
      container: { type: 'string' },
      timeout: { type: 'string' },
      keep: { type: 'boolean' },
      raw: { type: 'boolean' },
    })
    const code = await readCode(positionals[0] ?? '', deps.folder)
    const timeout = values.timeout === undefined ? {} : { timeout_seconds: readSeconds(values.timeout) }
    const api = await deps.api()
    const container = values.container ?? String((await api.call('POST', '/v1/containers', { name: 'cli' }))['id'])
    try {
      const execution = await api.call('POST', `/v1/containers/${encodeURIComponent(container)}/executions?wait=0`, { code, ...timeout })
      return await follow(api, String(execution['id']), values.raw ? deps : withPlainOutput(deps))
    } finally {
      if (values.keep) deps.note(`container ${container}\n`)
      else if (values.container === undefined) await api.call('DELETE', `/v1/containers/${container}`)
    }
  },
}

/** What user code prints could otherwise set the title of the terminal, write its clipboard or make it answer. */
function withPlainOutput(deps: CliDeps): CliDeps {
  const [out, note] = [new PlainTextStream(), new PlainTextStream()]
  return { ...deps, out: (text) => deps.out(out.push(text)), note: (text) => deps.note(note.push(text)) }
}

async function readCode(file: string, folder: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return await readFile(resolve(folder, file), 'utf8')
  } catch (cause) {
    throw new CommandError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

function readSeconds(value: string): number {
  if (!/^\d+$/.test(value)) throw new UsageError('--timeout takes whole seconds.')
  return Number(value)
}

/** Prints until the execution ends. Ctrl-C cancels the execution and waits for its end. */
async function follow(api: ApiClient, id: string, deps: CliDeps): Promise<number> {
  const cancel = (): void => void api.call('POST', `/v1/executions/${id}/cancel`).catch((error: unknown) => deps.note(`${String(error)}\n`))
  deps.signal.addEventListener('abort', cancel, { once: true })
  let after = -1
  for (let resumes = 0; resumes < MAX_RESUMES; resumes++) {
    try {
      for await (const { id: seq, event, data } of api.events(`/v1/executions/${id}/events?after=${after}`)) {
        after = seq
        resumes = 0
        showEvent(event, data, deps)
        if (event === 'done') return EXIT_CODES[String(data['status'])] ?? 1
      }
    } catch (error) {
      if (error instanceof CommandError) throw error
    }
  }
  throw new CommandError(`The event stream of ${id} broke ${MAX_RESUMES} times. Read its result with GET /v1/executions/${id}.`)
}
