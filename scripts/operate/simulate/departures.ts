import { newId } from '../../../services/model/ids.ts'
import { defaultsFor, limitsOf } from '../../../services/model/tenants/tenant-limits.ts'
import { openCell, type Cell } from './cell.ts'
import { admitted, callUntilEnded, isRefusal, openContainer, watchLoad, type Load } from './client-load.ts'
import { percentiles, type Percentiles } from './statistics.ts'

export interface DeparturesReport {
  readonly clients: number
  /** Of the API, in an account with Lambda's default of 1,000. */
  readonly functions: number
  /** What the other tenants' calls took, without and beside the tenant whose clients depart. */
  readonly alone_ms: Percentiles
  readonly beside_ms: Percentiles
  /** Functions of the API that its streams held at most. */
  readonly held_max: number
  readonly refused: number
  readonly throttled_functions: number
}

interface Options {
  readonly seconds: number
  /** Other tenants. */
  readonly clients?: number
  readonly seed: number
}

/** `npm run deploy` reserves so many for the API of an account with 1,000. */
const FUNCTIONS = { lambdaConcurrency: 1_000, apiConcurrency: 698 }
/** Requests of the tenant per second: the limit of a tenant without a setting. */
const REQUESTS_PER_SECOND = limitsOf(defaultsFor(FUNCTIONS.apiConcurrency)).requestsPerSecond
const BETWEEN_CALLS_MS = 2_000
const CLIENTS = 40
/** The API's maximum time of a call. */
const MAX_HOLD_MS = 840_000

interface Departed {
  refused: number
  held: number
  heldMax: number
}

/** One tenant opens streams at its allowed rate and disconnects at once, which Lambda does not report; others run code. */
export async function simulateDepartures(options: Options): Promise<DeparturesReport> {
  const alone = await measure(options, null)
  const departed: Departed = { refused: 0, held: 0, heldMax: 0 }
  const beside = await measure(options, departed)
  return {
    clients: options.clients ?? CLIENTS,
    functions: FUNCTIONS.apiConcurrency,
    alone_ms: percentiles(alone.tookMs),
    beside_ms: percentiles(beside.tookMs),
    held_max: departed.heldMax,
    refused: departed.refused,
    throttled_functions: beside.throttled,
  }
}

async function measure(
  { clients = CLIENTS, seconds, seed }: Options,
  departed: Departed | null,
): Promise<{ readonly tookMs: readonly number[]; readonly throttled: number }> {
  const cell = await openCell({ ...FUNCTIONS, seed, runSeconds: 1, poolSize: clients })
  try {
    const { time, lambda, random } = cell
    // Until the pool is full.
    await time.runUntil(time.now() + 180_000)
    const load = watchLoad(cell, time.now())
    const tookMs: number[] = []
    const endsAt = time.now() + (seconds + 60) * 1000
    for (let count = 0; count < clients; count++)
      time.after(random() * BETWEEN_CALLS_MS, () => void runOften(cell, load, { endsAt, tookMs }))
    await time.runUntil(time.now() + 60_000)
    tookMs.length = 0
    const before = lambda.counts.throttled
    if (departed !== null) openAndDepart(cell, departed, endsAt)
    await time.runUntil(endsAt)
    return { tookMs, throttled: lambda.counts.throttled - before }
  } finally {
    await cell.close()
  }
}

async function runOften(cell: Cell, load: Load, { endsAt, tookMs }: { readonly endsAt: number; readonly tookMs: number[] }): Promise<void> {
  const { time } = cell
  const container = await openContainer(cell, endsAt)
  while (container !== null && time.now() < endsAt) {
    const began = time.now()
    const id = newId('execution')
    await callUntilEnded(cell, container, { id, endsAt, ended: load.ended(id) })
    tookMs.push(time.now() - began)
    await time.sleep(BETWEEN_CALLS_MS)
  }
}

function openAndDepart(cell: Cell, departed: Departed, endsAt: number): void {
  const { time, callApi } = cell
  const tenant = newId('tenant')
  const open = async (): Promise<void> =>
    callApi(async ({ holds, requests }) => {
      const hold = (await requests.take(tenant)) === null ? await admitted(holds.take(tenant, 'stream')) : null
      if (hold === null) return void (departed.refused += 1)
      departed.heldMax = Math.max(departed.heldMax, ++departed.held)
      await new Promise<void>((resolve) => {
        hold.signal?.addEventListener('abort', () => resolve())
        time.after(MAX_HOLD_MS, resolve)
      })
      departed.held -= 1
      await hold.release()
    }).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
    })
  const next = (): void => {
    void open()
    if (time.now() < endsAt) time.after(1000 / REQUESTS_PER_SECOND, next)
  }
  next()
}
