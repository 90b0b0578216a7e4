import { notifyExecution } from '../../../operations/notify/notify-execution.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import type { Patch } from '../../../ports/leased-store.ts'
import { acquireLease, commitLease, releaseLease } from '../../../jobs/lease.ts'
import { recover, type Recovery } from '../../../jobs/recover.ts'
import type { EndDeps } from '../../../operations/executions/end-execution.ts'
import { executionJob } from '../../../operations/executions/execution-job.ts'
import type { ExecutionView } from './next-action.ts'

const MAX_SANDBOXES_PER_STEP = 3

export type LeaseDeps = EndDeps & { readonly workerId: string }

/** The lease of one step: acquired with the step's first write, for a row that is still as the step read it. */
export class ExecutionLease {
  readonly #deps: LeaseDeps
  readonly #read: ExecutionView
  #row: Execution | null = null
  #hasMoved = false
  #sandboxesTried = 1

  constructor(deps: LeaseDeps, read: ExecutionView) {
    this.#deps = deps
    this.#read = read
  }

  get #ports() {
    return { rows: this.#deps.table.executions, clock: this.#deps.clock }
  }

  /** The row as it was read, or as it is under the lease. */
  get view(): ExecutionView {
    return this.#row ?? this.#read
  }

  /** The row under the lease; null before the lease was acquired. */
  get row(): Execution | null {
    return this.#row
  }

  /** Another worker had the row since this step read it, so the step has to read it again. */
  get hasMoved(): boolean {
    return this.#hasMoved
  }

  /** Acquires the lease, or applies the patch to a row whose lease this step holds. Null when the lease is not available. */
  async acquire(patch: Patch<Execution> = {}): Promise<Execution | null> {
    if (this.#row !== null) return Object.keys(patch).length === 0 ? this.#row : this.commit(patch)
    const { tenant, id, fence, sandboxId } = this.#read
    const result = await acquireLease(this.#deps, this.#deps.table.executions, { tenant, id, patch, seen: { fence, sandboxId } })
    this.#hasMoved = result.kind === 'moved'
    if (result.kind === 'acquired') this.#row = result.row
    return this.#row
  }

  /** Writes under the fencing token. Throws LeaseLostError. */
  async commit(patch: Patch<Execution>): Promise<Execution> {
    this.#row = await commitLease(this.#deps.table.executions, this.view, { patch })
    return this.#row
  }

  /** Counts the sandboxes of this step that could not be reached. */
  canTryAnotherSandbox(): boolean {
    this.#sandboxesTried += 1
    return this.#sandboxesTried <= MAX_SANDBOXES_PER_STEP
  }

  /** Releases the lease at the end of a step that did not fail. */
  async release(patch: Patch<Execution> = {}): Promise<void> {
    if (this.#row !== null) await releaseLease(this.#ports, this.#row, { patch: { ...patch, stepsFailSince: null } })
  }

  /** For a step that stops while it holds the row: another step may start at once. */
  async releaseAndEnqueue(): Promise<void> {
    if (this.#row === null) return
    const released = await releaseLease(this.#ports, this.#row)
    if (released !== null) await notifyExecution(this.#deps.queue, released)
  }

  /** After this step failed with `cause`. `held` also when this step holds no lease. */
  async recover(cause: unknown): Promise<Recovery> {
    if (this.#row === null) return { kind: 'held' }
    return recover(this.#deps, executionJob(this.#deps), { row: this.#row, cause })
  }
}
