import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext, Io } from '../io.ts'
import { examples, printJson, type JsonOption } from '../json-output.ts'

const DEFAULT_SIZE = { cols: 80, rows: 24 } as const
/** A broken stream is resumed after the last received event, this many times in a row. */
const MAX_RESUMES = 5

interface ShellOptions extends JsonOption {
  readonly container?: string
  readonly command?: string
}

export function addShell(program: Command, { io, exit }: CommandContext): void {
  program
    .command('shell')
    .summary('open a shell in a container')
    .description(
      'Starts bash in a container and connects it to this terminal. Its output is not filtered: programs in the container may send any escape sequence. The exit code is that of the shell.',
    )
    .option('--container <id>', 'an existing container; a new one, deleted at the end, unless given')
    .option('-c, --command <line>', 'run one command line instead of an interactive shell')
    .option('--json', 'with -c: print the command with its output as JSON')
    .addHelpText('after', examples('cellblock shell --container cntr_…', 'cellblock shell -c "ls -l /mnt/data"'))
    .action(async (options: ShellOptions) => {
      if (options.json && options.command === undefined)
        throw new CliError('An interactive shell has no JSON output: give a command line with -c.', { exitCode: EXIT.usage })
      const api = await io.api()
      const container = options.container ?? String((await api.call('POST', '/v1/containers', { name: 'shell' }))['id'])
      try {
        exit(await new Shell(api, io, options.json === true).run(container, options.command ?? null))
      } finally {
        if (options.container === undefined) await api.call('DELETE', `/v1/containers/${container}`)
      }
    })
}

/** One shell, connected to the streams of this program. */
class Shell {
  readonly #api: ApiClient
  readonly #io: Io
  readonly #isJson: boolean
  #id = ''
  #typed = ''
  #sending: Promise<void> = Promise.resolve()

  constructor(api: ApiClient, io: Io, isJson: boolean) {
    this.#api = api
    this.#io = io
    this.#isJson = isJson
  }

  /** Answers with the exit code of the shell. Throws CliError if the server refuses it or the stream keeps breaking. */
  async run(container: string, line: string | null): Promise<number> {
    const { stdin } = this.#io
    const argv = line === null ? ['/bin/bash', '-l'] : ['/bin/bash', '-lc', line]
    // One command line from a script has separate output streams; a person gets a terminal.
    const form = line !== null && (this.#isJson || !stdin.isTTY) ? {} : { pty: sizeOf(process.stdout), env: { TERM: 'xterm-256color' } }
    const command = await this.#api.call('POST', `/v1/containers/${container}/commands?wait=0`, {
      argv,
      timeout_seconds: await this.#longest(),
      ...form,
    })
    this.#id = String(command['id'])
    const isInteractive = 'pty' in form
    if (isInteractive) this.#connect()
    try {
      await this.#follow()
    } finally {
      if (isInteractive) this.#disconnect()
    }
    const ended = await this.#api.call('GET', `/v1/commands/${this.#id}`)
    if (this.#isJson) printJson(this.#io, ended)
    if (typeof ended['exit_code'] === 'number') return ended['exit_code']
    this.#io.note(`The shell ended without an exit code (${String(ended['status'])}).\n`)
    return EXIT.codeFailed
  }

  async #longest(): Promise<number> {
    const { limits } = (await this.#api.call('GET', '/v1/limits')) as unknown as {
      readonly limits: Readonly<Record<string, { readonly value: number }>>
    }
    return limits['max_timeout_seconds']?.value ?? 120
  }

  #connect(): void {
    const { stdin } = this.#io
    if (stdin.isTTY) stdin.setRawMode(true)
    stdin.setEncoding('utf8')
    stdin.on('data', this.#onData).on('end', this.#onEnd).resume()
    process.stdout.on('resize', this.#onResize)
  }

  #disconnect(): void {
    const { stdin } = this.#io
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.off('data', this.#onData).off('end', this.#onEnd).pause()
    process.stdout.off('resize', this.#onResize)
  }

  readonly #onData = (text: string): void => {
    this.#typed += text
    this.#sending = this.#sending.then(() => this.#flush()).catch(() => undefined)
  }

  /** In a terminal, the end of the input is a character. */
  readonly #onEnd = (): void => this.#onData('\u0004')

  readonly #onResize = (): void =>
    void this.#api.call('POST', `/v1/commands/${this.#id}/resize`, sizeOf(process.stdout)).catch(() => undefined)

  /** Input that is typed during a call is sent with the next one. */
  async #flush(): Promise<void> {
    const data = this.#typed
    this.#typed = ''
    if (data !== '') await this.#api.call('POST', `/v1/commands/${this.#id}/stdin`, { data })
  }

  async #follow(): Promise<void> {
    let after = -1
    for (let resumes = 0; resumes < MAX_RESUMES; resumes++) {
      try {
        for await (const { id: seq, event, data } of this.#api.events(`/v1/commands/${this.#id}/events?after=${after}`)) {
          after = seq
          resumes = 0
          if (this.#isJson && event !== 'done') continue
          if (event === 'stdout') this.#io.out(String(data['text']))
          else if (event === 'stderr') this.#io.note(String(data['text']))
          if (event === 'done') return
        }
      } catch (error) {
        if (error instanceof CliError) throw error
      }
    }
    throw new CliError(`The event stream of ${this.#id} broke ${MAX_RESUMES} times. Read its result with GET /v1/commands/${this.#id}.`)
  }
}

const sizeOf = ({ columns, rows }: Pick<NodeJS.WriteStream, 'columns' | 'rows'>): { readonly cols: number; readonly rows: number } => ({
  // A stream that is not a terminal has neither.
  cols: columns ?? DEFAULT_SIZE.cols,
  rows: rows ?? DEFAULT_SIZE.rows,
})
