import { singleImage, type ImageCatalogue } from '../../../model/containers/images.ts'
import type { SandboxDriver, SandboxRef, SandboxSpec, SandboxStatus } from '../../../ports/sandbox-driver.ts'
import type { SandboxAddress } from '../../../model/sandboxes/sandbox.ts'
import { MEMORY_PROFILE } from './profile.ts'

/** A sandbox of this process: an object with a supervisor that answers at an address. */
export interface MemorySandbox {
  readonly address: SandboxAddress
  stop(): Promise<void>
}

interface Entry {
  status: SandboxStatus
  sandbox: MemorySandbox | null
  /** Resolves when the sandbox is ready or gone. */
  readonly settled: PromiseWithResolvers<void>
}

const GONE: SandboxStatus = { phase: 'gone', reason: 'stopped', exitCode: null }
const UNKNOWN: SandboxStatus = { phase: 'gone', reason: 'lost', exitCode: null, detail: 'This process has no sandbox of this id.' }

/** Sandboxes in this process, for tests: no platform starts anything. */
export class MemoryDriver implements SandboxDriver {
  readonly name = MEMORY_PROFILE.name
  readonly capabilities = MEMORY_PROFILE.capabilities
  readonly images: ImageCatalogue
  readonly #launch: (spec: SandboxSpec) => Promise<MemorySandbox>
  readonly #entries = new Map<string, Entry>()

  constructor({ image, launch }: { readonly image: string; readonly launch: (spec: SandboxSpec) => Promise<MemorySandbox> }) {
    this.images = singleImage(image)
    this.#launch = launch
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<undefined> {
    signal.throwIfAborted()
    if (this.#entries.has(spec.sandboxId)) return
    const entry: Entry = { status: { phase: 'starting' }, sandbox: null, settled: Promise.withResolvers() }
    this.#entries.set(spec.sandboxId, entry)
    void this.#bringUp(spec, entry)
  }

  async inspect(sandboxId: string): Promise<SandboxStatus> {
    return this.#entries.get(sandboxId)?.status ?? UNKNOWN
  }

  inspectAll(sandboxes: readonly SandboxRef[]): Promise<SandboxStatus[]> {
    return Promise.all(sandboxes.map(({ id }) => this.inspect(id)))
  }

  async waitReady(sandboxId: string, signal: AbortSignal): Promise<SandboxStatus> {
    const entry = this.#entries.get(sandboxId)
    if (entry === undefined) return UNKNOWN
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    if (!signal.aborted) await Promise.race([entry.settled.promise, aborted])
    return entry.status
  }

  async stop(sandboxId: string): Promise<void> {
    const entry = this.#entries.get(sandboxId)
    if (entry === undefined) return
    const { sandbox } = entry
    entry.status = GONE
    entry.sandbox = null
    entry.settled.resolve()
    await sandbox?.stop()
  }

  async *list(): AsyncGenerator<string> {
    for (const [id, { status }] of this.#entries) if (status.phase !== 'gone') yield id
  }

  async check(): Promise<void> {}

  async #bringUp(spec: SandboxSpec, entry: Entry): Promise<void> {
    try {
      const sandbox = await this.#launch(spec)
      // It was stopped while it started.
      if (entry.status.phase === 'gone') return await sandbox.stop()
      entry.sandbox = sandbox
      entry.status = { phase: 'ready', address: sandbox.address }
    } catch (cause) {
      entry.status = { phase: 'gone', reason: 'lost', exitCode: null, detail: cause instanceof Error ? cause.message : String(cause) }
    }
    entry.settled.resolve()
  }
}
