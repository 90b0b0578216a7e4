import type { Io } from './io.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Shows the events of one turn: the answer on standard output; code and what it prints, while it runs, on standard error. Each of them begins on a new
 * line of its stream, and in a terminal, which shows both streams, also of the screen.
 */
export class ChatView {
  readonly #io: Pick<Io, 'out' | 'note' | 'isTerminal'>
  /** The last character on each stream, and on a terminal. */
  readonly #last = { out: '\n', note: '\n', screen: '\n' }
  #hasAnswer = false
  /** The part that was printed last: an answer, code or output. */
  #part = ''
  /** What a call printed while it ran. */
  readonly #live = new Map<unknown, string>()

  constructor(io: Pick<Io, 'out' | 'note' | 'isTerminal'>) {
    this.#io = io
  }

  show(event: Fields): void {
    switch (event['type']) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#answer(event['item_id'], String(event['delta']))
      case 'response.code_interpreter_call_code.delta':
        return this.#code(event['item_id'], String(event['delta']))
      case 'keepalive':
        return this.#printed((event['x_cellblock'] ?? {}) as Fields)
      case 'response.output_item.done':
        return this.#ended(event['item'] as Fields)
    }
  }

  /** Ends the last line of the turn. */
  end(): void {
    this.#newLine('out')
    this.#newLine('note')
  }

  #answer(item: unknown, text: string): void {
    if (this.#begins(`answer ${String(item)}`)) {
      this.#newLine('out')
      // A blank line separates what the model says before and after code, also in a file.
      if (this.#hasAnswer) this.#write('out', '\n')
      this.#hasAnswer = true
    }
    this.#write('out', text)
  }

  #code(item: unknown, text: string): void {
    const isNew = this.#begins(`code ${String(item)}`)
    if (isNew) this.#newLine('note')
    this.#write('note', `${isNew ? '│ ' : ''}${text.replaceAll('\n', '\n│ ')}`)
  }

  #printed(extension: Fields): void {
    if (extension['type'] !== 'code_interpreter_call_output') return
    const item = extension['item_id']
    const text = String(extension['text'])
    this.#live.set(item, (this.#live.get(item) ?? '') + text)
    this.#output(item, text)
  }

  /** The logs of a call also have its results and its error, which do not arrive while it runs. */
  #ended(item: Fields): void {
    const live = this.#live.get(item['id']) ?? ''
    for (const output of (item['outputs'] ?? []) as readonly Fields[]) {
      if (output['type'] === 'image') this.#output(item['id'], '[image]\n')
      else this.#output(item['id'], restOf(String(output['logs']), live))
    }
  }

  #output(item: unknown, text: string): void {
    if (this.#begins(`output ${String(item)}`)) this.#newLine('note')
    this.#write('note', text)
  }

  /** Whether another part begins. */
  #begins(part: string): boolean {
    if (this.#part === part) return false
    this.#part = part
    return true
  }

  #newLine(stream: 'out' | 'note'): void {
    if (this.#last[this.#io.isTerminal ? 'screen' : stream] !== '\n') this.#write(stream, '\n')
  }

  #write(stream: 'out' | 'note', text: string): void {
    if (text === '') return
    this.#io[stream](text)
    this.#last[stream] = this.#last.screen = text.slice(-1)
  }
}

/** Longer logs have only their head and tail, so lines cannot be compared. */
const MAX_COMPARED = 30_000

/** The lines of the logs that were not shown while the code ran: results and the error. */
function restOf(logs: string, shown: string): string {
  if (shown !== '' && logs.length > MAX_COMPARED) return ''
  const counts = new Map<string, number>()
  for (const line of linesOf(shown)) counts.set(line, (counts.get(line) ?? 0) + 1)
  const rest = linesOf(logs).filter((line) => {
    const count = counts.get(line) ?? 0
    counts.set(line, count - 1)
    return count <= 0
  })
  return rest.map((line) => `${line}\n`).join('')
}

/** A progress bar writes a line several times; its last state counts. */
const linesOf = (text: string): readonly string[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => line.replace(/^.*\r(?=.)/, ''))
