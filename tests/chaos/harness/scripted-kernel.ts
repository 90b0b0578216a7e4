import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { History } from '../history.ts'

/** The code of a job, as JSON: the only language of the scripted kernel. */
export interface Script {
  readonly container: string
  readonly marker: string
  readonly lines: readonly string[]
  /** The path of a file that holds the container id and the marker; null for no file. */
  readonly file: string | null
  /** The pause between two lines, milliseconds. */
  readonly pauseMs: number
  /** The size of an image displayed before the first line, in base64 bytes; 0 for no image. */
  readonly imageBytes: number
}

/** Points in a sandbox's life at which a scenario can wait or inject a failure. */
export type Stage = 'health' | 'submitted' | 'started' | 'line' | 'finished' | 'get_file' | 'put_file' | 'snapshot' | 'restore'
export type OnStage = (stage: Stage, sandbox: string, execution: string | null) => Promise<void> | void

interface Run {
  readonly events: Record<string, unknown>[]
  readonly appended: EventTarget
  hasEnded: boolean
  isInterrupted: boolean
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The kernel and disk of one scripted sandbox. It runs an id once, numbers and keeps its events, and keeps markers in memory as a kernel keeps variables. */
export class ScriptedKernel {
  readonly files = new Map<string, Buffer>()
  markers: string[] = []
  wasUsed = false
  readonly #runs = new Map<string, Run>()
  readonly #sandbox: string
  readonly #history: History
  readonly #onStage: OnStage
  isKilled = false

  constructor(sandbox: string, history: History, onStage: OnStage) {
    this.#sandbox = sandbox
    this.#history = history
    this.#onStage = onStage
  }

  get isBusy(): boolean {
    return [...this.#runs.values()].some((run) => !run.hasEnded)
  }

  has(execution: string): boolean {
    return this.#runs.has(execution)
  }

  /** Returns false while another execution runs. */
  start(execution: string, code: string): boolean {
    const isFirst = !this.#runs.has(execution)
    if (isFirst && this.isBusy) return false
    this.#history.add({ type: 'submitted', sandbox: this.#sandbox, execution, isFirst })
    if (!isFirst) return true
    this.wasUsed = true
    const run: Run = { events: [], appended: new EventTarget(), hasEnded: false, isInterrupted: false }
    this.#runs.set(execution, run)
    void this.#run(execution, run, code)
    return true
  }

  interrupt(execution: string): void {
    const run = this.#runs.get(execution)
    if (run !== undefined) run.isInterrupted = true
  }

  /** Streams the events after this number up to the last. */
  async *events(execution: string, after: number): AsyncGenerator<string> {
    const run = this.#runs.get(execution)
    if (run === undefined) return
    for (let next = after + 1; ; next++) {
      while (next >= run.events.length) {
        if (run.hasEnded || this.isKilled) return
        await once(run.appended, 'appended')
      }
      yield `${JSON.stringify(run.events[next])}\n`
    }
  }

  async #run(execution: string, run: Run, code: string): Promise<void> {
    const emit = (event: Record<string, unknown>): void => {
      run.events.push({ seq: run.events.length, t: Date.now(), ...event })
      run.appended.dispatchEvent(new Event('appended'))
    }
    const script = JSON.parse(code) as Script
    const event = { type: 'ran', sandbox: this.#sandbox, execution, marker: script.marker } as const
    emit({ type: 'started', kernel_generation: 1 })
    emit({ type: 'cell_started', index: 0, execution_count: 1 })
    this.#history.add({ ...event, phase: 'begin' })
    await this.#onStage('started', this.#sandbox, execution)
    this.markers.push(script.marker)
    let changed: { path: string; bytes: Buffer } | null = null
    if (script.imageBytes > 0) {
      const data = { 'image/png': 'A'.repeat(script.imageBytes) }
      emit({ type: 'display', index: 0, output_type: 'display_data', data, metadata: {} })
    }
    for (const line of script.lines) {
      if (run.isInterrupted || this.isKilled) break
      emit({ type: 'stream', index: 0, name: 'stdout', text: line })
      await this.#onStage('line', this.#sandbox, execution)
      if (script.pauseMs > 0) await delay(script.pauseMs)
    }
    const wasInterrupted = run.isInterrupted
    if (!wasInterrupted && script.file !== null) {
      changed = { path: script.file, bytes: Buffer.from(`${script.container} ${script.marker}`) }
      this.files.set(changed.path, changed.bytes)
    }
    this.#history.add({ ...event, phase: 'end' })
    await this.#onStage('finished', this.#sandbox, execution)
    emit({ type: 'cell_done', index: 0, status: wasInterrupted ? 'error' : 'ok', execution_count: 1 })
    run.hasEnded = true
    emit({
      ...DONE,
      outcome: wasInterrupted ? 'cancelled' : 'ok',
      files: changed === null ? [] : [describe(changed.path, changed.bytes, 'created')],
    })
  }

  /** Ends every wait and every stream. */
  kill(): void {
    this.isKilled = true
    for (const run of this.#runs.values()) run.appended.dispatchEvent(new Event('appended'))
  }
}

export const describe = (path: string, bytes: Buffer, change: string) => ({
  path,
  bytes: bytes.length,
  mtime: 1,
  sha256: sha256(bytes),
  change,
})

const DONE = {
  type: 'done',
  run_ms: 1,
  cpu_ms: 1,
  peak_memory_bytes: 1,
  output_bytes: 1,
  truncated: [],
  deleted: [],
  skipped: [],
  state_lost: null,
  kernel_generation: 1,
  exit: null,
}
