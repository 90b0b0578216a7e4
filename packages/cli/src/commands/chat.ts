import { createInterface } from 'node:readline/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext, Io } from '../io.ts'
import { examples, printJson, type JsonOption } from '../json-output.ts'
import { ChatView } from '../chat-view.ts'
import { withPlainOutput } from '../plain-io.ts'
import { downloadFile, uploadFile } from '../transfer.ts'
import { collect } from './run.ts'

interface ChatOptions extends JsonOption {
  readonly model?: string
  readonly file?: readonly string[]
  readonly out?: string
}

export function addChat(program: Command, { io: terminal, exit }: CommandContext): void {
  const io = withPlainOutput(terminal)
  program
    .command('chat')
    .summary('talk to a model that runs code')
    .description(
      'Sends one message, or starts a conversation if no message is given. The answer streams; code and what it prints, while it runs, go to standard error. Ctrl-C cancels the turn.',
    )
    .argument('[message]')
    .option('--model <id>', 'one of the models of the server; its first one unless given')
    .option('--file <path>', 'copy a local file to /mnt/data first (repeatable)', collect)
    .option('--out <folder>', 'download the files that answers name')
    .option('--json', 'print each response as one line of JSON instead of its text')
    .addHelpText('after', examples('cellblock chat "Plot revenue per month." --file sales.csv --out plots', 'cellblock chat --model demo'))
    .action(async (message: string | undefined, options: ChatOptions) => {
      const api = await io.api()
      const model = options.model ?? String((await api.list('/v1/models'))[0]?.['id'])
      const container = String((await api.call('POST', '/v1/containers', { name: 'chat' }))['id'])
      try {
        for (const path of options.file ?? []) await uploadFile(api, { container, file: path, io })
        const chat = new Chat(api, io, {
          model,
          container,
          folder: options.out === undefined ? null : resolve(io.folder, options.out),
          isJson: options.json === true,
        })
        exit(message === undefined ? await converse(chat, io) : await chat.send(message, io.signal))
      } finally {
        await api.call('DELETE', `/v1/containers/${container}`)
      }
    })
}

/**
 * Reads messages until the input ends, or until Ctrl-C while no turn runs. A failed turn is reported, and the conversation continues. Answers with the
 * exit code.
 */
async function converse(chat: Chat, io: Io): Promise<number> {
  const lines = createInterface({ input: io.stdin, output: process.stderr, prompt: '> ', terminal: io.stdin.isTTY && io.isTerminal })
  // The input may end while a turn runs, and a closed interface has no prompt.
  let isOpen = true
  lines.once('close', () => (isOpen = false))
  let turn: AbortController | null = null
  let isInterrupted = false
  const interrupt = (): void => {
    if (turn !== null) return turn.abort()
    isInterrupted = true
    lines.close()
  }
  // The terminal gives Ctrl-C to the reader of lines; without a terminal it is a signal.
  lines.on('SIGINT', interrupt)
  io.signal.addEventListener('abort', interrupt, { once: true })
  const prompt = (): void => void (isOpen && lines.prompt())
  prompt()
  for await (const line of lines) {
    if (line.trim() !== '' && !isInterrupted) {
      turn = new AbortController()
      await chat.send(line, turn.signal).catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error
        io.note(`${error.message}\n`)
      })
      turn = null
      if (io.signal.aborted) break
    }
    prompt()
  }
  io.note('\n')
  return isInterrupted || io.signal.aborted ? EXIT.cancelled : EXIT.ok
}

type Fields = Readonly<Record<string, unknown>>

interface ChatSettings {
  readonly model: string
  readonly container: string
  /** Where files that answers name are saved; null: nowhere. */
  readonly folder: string | null
  readonly isJson: boolean
}

/** A conversation with one model over one container. */
class Chat {
  #previous: string | null = null
  readonly #api: ApiClient
  readonly #io: Io
  readonly #settings: ChatSettings

  constructor(api: ApiClient, io: Io, settings: ChatSettings) {
    this.#api = api
    this.#io = io
    this.#settings = settings
  }

  /**
   * Streams one turn; answers with the exit code of its end. `signal` cancels the turn on the server. Throws CliError when the server refuses the turn.
   */
  async send(input: string, signal: AbortSignal): Promise<number> {
    const { folder, isJson } = this.#settings
    const view = new ChatView(this.#io)
    let response: Fields = {}
    const cancel = (): void => void this.#cancel(response)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      for await (const { data } of this.#api.events('/v1/responses', this.#request(input))) {
        if (data['type'] === 'error')
          throw new CliError(`The answer ended with an error: ${String(data['message'])} Send the message again.`)
        if (!isJson) view.show(data)
        if (typeof data['response'] !== 'object') continue
        const isNew = response['id'] === undefined
        response = data['response'] as Fields
        // Ctrl-C came before the turn had an id.
        if (isNew && signal.aborted) cancel()
      }
    } finally {
      signal.removeEventListener('abort', cancel)
      if (!isJson) view.end()
    }
    if (isJson) printJson(this.#io, response)
    if (response['status'] === 'cancelled') {
      this.#io.note('The turn was cancelled.\n')
      return EXIT.cancelled
    }
    this.#previous = String(response['id'])
    if (folder !== null) await this.#download(response, folder)
    if (response['status'] === 'completed') return EXIT.ok
    const error = response['error'] as { readonly message?: string } | null | undefined
    this.#io.note(`The response ended ${String(response['status'])}. ${error?.message ?? ''}\n`)
    return EXIT.codeFailed
  }

  #request(input: string): Fields {
    const { model, container } = this.#settings
    return {
      model,
      input,
      stream: true,
      // Only such a turn can be cancelled and keep what it has written.
      background: true,
      tools: [{ type: 'code_interpreter', container }],
      include: ['code_interpreter_call.outputs', 'x_cellblock.events'],
      ...(this.#previous === null ? {} : { previous_response_id: this.#previous }),
    }
  }

  async #cancel(response: Fields): Promise<void> {
    const id = response['id']
    if (typeof id !== 'string') return
    await this.#api.call('POST', `/v1/responses/${id}/cancel`).catch((error: unknown) => this.#io.note(`${String(error)}\n`))
  }

  async #download(response: Fields, folder: string): Promise<void> {
    const contents = ((response['output'] ?? []) as readonly Fields[]).flatMap((item) => (item['content'] ?? []) as readonly Fields[])
    const cited = contents.flatMap((content) => (content['annotations'] ?? []) as readonly Fields[])
    const files = new Map(
      cited.filter(({ type }) => type === 'container_file_citation').map((citation) => [String(citation['file_id']), citation]),
    )
    for (const [id, citation] of files)
      this.#io.note(
        `saved ${await downloadFile(this.#api, { container: String(citation['container_id']), file: { id, path: String(citation['filename']) }, folder })}\n`,
      )
  }
}
