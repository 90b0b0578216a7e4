import { cpus } from 'node:os'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { claimedByTenant } from '../../operations/sandboxes/claimed-by-tenant.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { Table } from '../../ports/table.ts'
import { ProcessorCredits } from './processor-credits.ts'

interface SharePorts {
  readonly table: { readonly sandboxes: Pick<Table['sandboxes'], 'all'> }
  readonly driver: Pick<SandboxDriver, 'weigh' | 'processorMs'>
  readonly clock: Clock
  /** How much the processors of the machine have computed and could have computed since it started, in any unit. */
  readonly machine?: () => MachineTime
}

export interface MachineTime {
  readonly used: number
  readonly total: number
}

/** The rows of all sandboxes are read this often, milliseconds. */
const CLAIMS_EVERY_MS = 1_000
/** Of a sandbox without credits, relative to one with them. */
const WEIGHT_WITHOUT_CREDITS = 1 / 64
/** A weight has no effect while processors are idle, and setting it costs 20 ms of one. */
const FULL_SHARE = 0.75

/** `start` names a sandbox and its resumption: each begins with the weight 1. */
interface Weighed {
  readonly id: string
  readonly start: string
  readonly tenant: string
  readonly weight: number
}

/**
 * Shares the processors of one machine between tenants instead of between sandboxes: the more sandboxes a tenant has, the less each of them weighs. Code that
 * computes for long weighs less than code that answers: before 6.18.45 Linux lets groups wait for seconds beside one with many threads (docs/adr/0090-processor-credits.md).
 * A warm sandbox belongs to no tenant when it starts, so its group on the host cannot be that of a tenant, and the weights follow the claims.
 */
export class ProcessorShares {
  readonly #ports: SharePorts
  readonly #credits = new ProcessorCredits()
  #claims: { readonly readAtMs: number; readonly weighed: readonly Weighed[] } = { readAtMs: -Infinity, weighed: [] }
  /** What this process has set, by start. */
  #weights = new Map<string, number>()
  #machine: MachineTime

  constructor(ports: SharePorts) {
    this.#ports = ports
    this.#machine = (ports.machine ?? readMachine)()
  }

  /** Sets the weights that have changed since the last call, one after the other. Throws the first DriverError after the last; the next call tries again. */
  async balance(): Promise<void> {
    const { driver, clock } = this.#ports
    if (driver.weigh === undefined) return
    if (clock.now() - this.#claims.readAtMs >= CLAIMS_EVERY_MS) await this.#readClaims()
    const { weighed } = this.#claims
    await Promise.all(
      weighed.map(async ({ id, start }) => this.#credits.count(start, (await driver.processorMs?.(id)) ?? null, clock.now())),
    )
    const isFull = this.#isMachineFull()
    const raised = new Set<string>()
    const failures: unknown[] = []
    for (const { id, start, tenant, weight } of weighed) {
      const before = this.#weights.get(start)
      const low = weight * WEIGHT_WITHOUT_CREDITS
      const wanted = this.#credits.isSpent(start) && (isFull || before === low) ? low : weight
      if (before === wanted) continue
      if (before === low) {
        // One of a tenant at a time, which bounds how often they are lowered as well: code that computes now and then could occupy the engine.
        if (raised.has(tenant)) continue
        raised.add(tenant)
      }
      await driver.weigh(id, wanted).then(
        () => this.#weights.set(start, wanted),
        (cause: unknown) => failures.push(cause),
      )
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Since the last call. */
  #isMachineFull(): boolean {
    const last = this.#machine
    this.#machine = (this.#ports.machine ?? readMachine)()
    return this.#machine.used - last.used >= FULL_SHARE * (this.#machine.total - last.total)
  }

  async #readClaims(): Promise<void> {
    const { table, clock } = this.#ports
    const weighed = weightsOf(await table.sandboxes.all())
    this.#claims = { readAtMs: clock.now(), weighed }
    this.#weights = new Map(weighed.map(({ start }) => [start, this.#weights.get(start) ?? 1]))
    this.#credits.keep(new Set(weighed.map(({ start }) => start)))
  }
}

/**
 * The weight of each claimed sandbox that has credits. Of a tenant with several, each has the half, a quarter, an eighth and so on, the largest of these with
 * which all of them weigh at most 1: so another sandbox changes the others only at each power of two.
 */
export function weightsOf(sandboxes: readonly Pick<Sandbox, 'id' | 'state' | 'claimedBy' | 'resumedAt'>[]): readonly Weighed[] {
  return [...claimedByTenant(sandboxes).values()].flatMap((held) => {
    const weight = 1 / 2 ** Math.ceil(Math.log2(held.length))
    return held.map(({ id, resumedAt = 0, claimedBy: { tenant } }) => ({ id, start: `${id} ${resumedAt}`, tenant, weight }))
  })
}

function readMachine(): MachineTime {
  const times = cpus().map((cpu) => cpu.times)
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { used: total - times.reduce((sum, { idle }) => sum + idle, 0), total }
}
