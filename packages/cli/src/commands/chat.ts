import { createInterface } from 'node:readline/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext, Io } from '../io.ts'
import { examples, printJson, type JsonOption } from '../json-output.ts'
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
      'Sends one message, or starts a conversation if no message is given. The answer streams; code and its output go to standard error.',
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
        if (message === undefined) await converse(chat, io)
        else exit(await chat.send(message))
      } finally {
        await api.call('DELETE', `/v1/containers/${container}`)
      }
    })
}

/** Reads messages until the input ends. A failed turn is reported, and the conversation continues. */
async function converse(chat: Chat, io: Io): Promise<void> {
  const lines = createInterface({ input: io.stdin, output: process.stderr, prompt: '> ', terminal: io.stdin.isTTY && io.isTerminal })
  // The input may end while a turn runs, and a closed interface has no prompt.
  let isOpen = true
  lines.once('close', () => (isOpen = false))
  const prompt = (): void => void (isOpen && lines.prompt())
  prompt()
  for await (const line of lines) {
    if (line.trim() !== '')
      await chat.send(line).catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error
        io.note(`${error.message}\n`)
      })
    prompt()
  }
  io.note('\n')
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

  /** Streams one turn; answers with the exit code of its end. Throws CliError when the server refuses the turn. */
  async send(input: string): Promise<number> {
    const { model, container, folder, isJson } = this.#settings
    const body = {
      model,
      input,
      stream: true,
      tools: [{ type: 'code_interpreter', container }],
      include: ['code_interpreter_call.outputs'],
      ...(this.#previous === null ? {} : { previous_response_id: this.#previous }),
    }
    let response: Fields = {}
    for await (const { data } of this.#api.events('/v1/responses', body, this.#io.signal)) {
      if (data['type'] === 'error') throw new CliError(`The answer ended with an error: ${String(data['message'])} Send the message again.`)
      if (!isJson) this.#show(data)
      if (typeof data['response'] === 'object') response = data['response'] as Fields
    }
    if (isJson) printJson(this.#io, response)
    else this.#io.out('\n')
    this.#previous = String(response['id'])
    if (folder !== null) await this.#download(response, folder)
    if (response['status'] === 'completed') return EXIT.ok
    const error = response['error'] as { readonly message?: string } | null | undefined
    this.#io.note(`The response ended ${String(response['status'])}. ${error?.message ?? ''}\n`)
    return EXIT.codeFailed
  }

  #show(event: Fields): void {
    if (event['type'] === 'response.output_text.delta') this.#io.out(String(event['delta']))
    else if (event['type'] === 'response.code_interpreter_call_code.delta') this.#io.note(String(event['delta']))
    else if (event['type'] === 'response.code_interpreter_call_code.done') this.#io.note('\n')
    else if (event['type'] === 'response.output_item.done') this.#showOutputs(event['item'] as Fields)
  }

  #showOutputs(item: Fields): void {
    for (const output of (item['outputs'] as readonly Fields[] | null | undefined) ?? [])
      this.#io.note(output['type'] === 'logs' ? `${String(output['logs'])}\n` : '[image]\n')
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
