import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { aboutText, durationText, leftText } from './time-left.ts'

/** What earlier runs on this machine took. */
export const DURATIONS_FILE = join(import.meta.dirname, '../../.cellblock/durations.json')
const HEARTBEAT_MS = 15_000

export interface RunProgressOptions {
  /** Distinguishes durations of the same part in different forms, such as `chaos 0.1`. */
  readonly kind: string
  /** The parts in the order in which they run. */
  readonly parts: readonly string[]
  readonly say: (line: string) => void
  readonly file?: string
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
}

/**
 * Says which part of a long run is at work, and how long the rest will take. The expectation is what each part took at its last run on this
 * machine; parts without one count as the average of those that have it.
 */
export class RunProgress {
  readonly #options: Required<RunProgressOptions>
  readonly #known: Record<string, number>
  #at = -1
  #share = 0
  #startedAt = 0
  #heartbeat: NodeJS.Timeout | null = null

  constructor(options: RunProgressOptions) {
    this.#options = { file: DURATIONS_FILE, now: () => performance.now(), ...options }
    this.#known = readDurations(this.#options.file)
  }

  /**
   * Runs the next part with a line before it, a line every 15 s, and its duration remembered if it succeeds. A part that knows how far it is passes
   * the share, from 0 to 1.
   */
  async run<T>(work: (setShare: (share: number) => void) => Promise<T>): Promise<T> {
    const { parts, say, now } = this.#options
    this.#at += 1
    this.#share = 0
    this.#startedAt = now()
    const part = parts[this.#at] ?? ''
    say(`▸ ${this.#at + 1}/${parts.length} ${part}${this.#expectation()}`)
    this.#heartbeat = setInterval(() => say(`  ${this.status()}`), HEARTBEAT_MS)
    try {
      const result = await work((share) => (this.#share = share))
      this.#remember(part, (now() - this.#startedAt) / 1000)
      return result
    } finally {
      clearInterval(this.#heartbeat)
    }
  }

  /** The part that runs, how long it has run, and the time left of the whole run. */
  status(): string {
    const { parts, now } = this.#options
    const elapsed = (now() - this.#startedAt) / 1000
    const part = parts[this.#at] ?? ''
    const expected = this.#share > 0 ? elapsed / this.#share : this.#seconds(part)
    const rest = this.#rest(this.#at + 1)
    const percent = this.#share > 0 ? `, ${Math.floor(this.#share * 100)} %` : ''
    const left =
      expected === null ? '' : `; ${leftText(Math.max(expected, elapsed) + (rest ?? 0), elapsed)}${rest === null ? ' of this part' : ''}`
    return `… ${part} for ${durationText(elapsed)}${percent}${left}`
  }

  #expectation(): string {
    const expected = this.#seconds(this.#options.parts[this.#at] ?? '')
    const rest = this.#rest(this.#at)
    if (expected === null || rest === null) return ''
    return `: ${aboutText(expected)}${rest > expected ? `; ${aboutText(rest)} to the end` : ''}`
  }

  /** Expected seconds of the parts from this one on; null without any figure. */
  #rest(from: number): number | null {
    const all = this.#options.parts.slice(from).map((part) => this.#seconds(part))
    return all.includes(null) ? null : all.reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0)
  }

  #seconds(part: string): number | null {
    const { kind, parts } = this.#options
    const known = this.#known[`${kind}: ${part}`]
    if (known !== undefined) return known
    const others = parts.flatMap((name) => this.#known[`${kind}: ${name}`] ?? [])
    return others.length === 0 ? null : others.reduce((sum, seconds) => sum + seconds, 0) / others.length
  }

  #remember(part: string, seconds: number): void {
    const { kind, file } = this.#options
    this.#known[`${kind}: ${part}`] = Math.round(seconds * 10) / 10
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(this.#known, null, 1)}\n`)
  }
}

function readDurations(file: string): Record<string, number> {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>
    return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
  } catch {
    // The first run, or a file that another process was writing: it has no expectation.
    return {}
  }
}
