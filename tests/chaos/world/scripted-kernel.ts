import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { History } from '../history.ts'

/** What a job's code says to do, as JSON: the scripted kernel's whole language. */
export interface Script {
  readonly container: string
  readonly mark: string
  readonly lines: readonly string[]
  /** A path that is written with the container and the mark in it; null for none. */
  readonly file: string | null
  /** Between two lines, milliseconds. */
  readonly pauseMs: number
  /** A picture of so many bytes of base64 that is shown before the first line; 0 for none. */
  readonly pictureBytes: number
}

/** Places in a sandbox's life where a scenario may look on, wait, or do harm. */
export type Stage = 'health' | 'handed' | 'begun' | 'line' | 'finished' | 'get_file' | 'put_file' | 'snapshot' | 'restore'
export type OnStage = (stage: Stage, sandbox: string, execution: string | null) => Promise<void> | void

interface Run {
  readonly events: Record<string, unknown>[]
  readonly grown: EventTarget
  isOver: boolean
  isInterrupted: boolean
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The kernel and disk of one scripted sandbox: an id runs once, its events are numbered and kept, marks stay in memory as variables do. */
export class ScriptedKernel {
  readonly files = new Map<string, Buffer>()
  marks: string[] = []
  wasUsed = false
  readonly #runs = new Map<string, Run>()
  readonly #sandbox: string
  readonly #history: History
  readonly #onStage: OnStage
  isDead = false

  constructor(sandbox: string, history: History, onStage: OnStage) {
    this.#sandbox = sandbox
    this.#history = history
    this.#onStage = onStage
  }

  get isBusy(): boolean {
    return [...this.#runs.values()].some((run) => !run.isOver)
  }

  has(execution: string): boolean {
    return this.#runs.has(execution)
  }

  /** False when another one runs. */
  start(execution: string, code: string): boolean {
    const isFirst = !this.#runs.has(execution)
    if (isFirst && this.isBusy) return false
    this.#history.add({ type: 'handed', sandbox: this.#sandbox, execution, isFirst })
    if (!isFirst) return true
    this.wasUsed = true
    const run: Run = { events: [], grown: new EventTarget(), isOver: false, isInterrupted: false }
    this.#runs.set(execution, run)
    void this.#run(execution, run, code)
    return true
  }

  interrupt(execution: string): void {
    const run = this.#runs.get(execution)
    if (run !== undefined) run.isInterrupted = true
  }

  /** Events after this number, as they come, to the last. */
  async *events(execution: string, after: number): AsyncGenerator<string> {
    const run = this.#runs.get(execution)
    if (run === undefined) return
    for (let next = after + 1; ; next++) {
      while (next >= run.events.length) {
        if (run.isOver || this.isDead) return
        await once(run.grown, 'grown')
      }
      yield `${JSON.stringify(run.events[next])}\n`
    }
  }

  async #run(execution: string, run: Run, code: string): Promise<void> {
    const say = (event: Record<string, unknown>): void => {
      run.events.push({ seq: run.events.length, t: Date.now(), ...event })
      run.grown.dispatchEvent(new Event('grown'))
    }
    const script = JSON.parse(code) as Script
    const facts = { type: 'ran', sandbox: this.#sandbox, execution, mark: script.mark } as const
    say({ type: 'started', kernel_generation: 1 })
    say({ type: 'cell_started', index: 0, execution_count: 1 })
    this.#history.add({ ...facts, phase: 'begin' })
    await this.#onStage('begun', this.#sandbox, execution)
    this.marks.push(script.mark)
    let changed: { path: string; bytes: Buffer } | null = null
    if (script.pictureBytes > 0) {
      const data = { 'image/png': 'A'.repeat(script.pictureBytes) }
      say({ type: 'display', index: 0, output_type: 'display_data', data, metadata: {} })
    }
    for (const line of script.lines) {
      if (run.isInterrupted || this.isDead) break
      say({ type: 'stream', index: 0, name: 'stdout', text: line })
      await this.#onStage('line', this.#sandbox, execution)
      if (script.pauseMs > 0) await delay(script.pauseMs)
    }
    const isCut = run.isInterrupted
    if (!isCut && script.file !== null) {
      changed = { path: script.file, bytes: Buffer.from(`${script.container} ${script.mark}`) }
      this.files.set(changed.path, changed.bytes)
    }
    this.#history.add({ ...facts, phase: 'end' })
    await this.#onStage('finished', this.#sandbox, execution)
    say({ type: 'cell_done', index: 0, status: isCut ? 'error' : 'ok', execution_count: 1 })
    run.isOver = true
    say({ ...DONE, outcome: isCut ? 'cancelled' : 'ok', files: changed === null ? [] : [describe(changed.path, changed.bytes, 'created')] })
  }

  /** Everything that waits wakes up and finds that it is over. */
  die(): void {
    this.isDead = true
    for (const run of this.#runs.values()) run.grown.dispatchEvent(new Event('grown'))
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
