import { randomBytes } from 'node:crypto'
import { createTenant } from '../../support/create-tenant.ts'
import type { LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient } from '../../support/native-client.ts'
import { attack, MARKER, settle } from './probes.ts'

export interface NeighboursResult {
  readonly attempts: number
  /** Of the other tenant's markers, over all ways and rounds. */
  readonly foreignBytes: number
  /** What went wrong, in words: a foreign marker, a way that was open, a way that did not even lead to one's own. */
  readonly faults: readonly string[]
}

interface Findings {
  readonly attempts: number
  readonly found: Readonly<Record<string, readonly string[]>>
  readonly open: Readonly<Record<string, string>>
  readonly held: boolean
}

interface Tenant {
  readonly name: string
  readonly client: NativeClient
  readonly marker: string
  container: string
}

const ROUND_SECONDS = 5
/** Every so many rounds a tenant moves into another sandbox of the pool, and looks around before it settles. */
const ROUNDS_PER_MOVE = 3

/** Two new tenants of the server, with a live sandbox each, attack one another for that long. */
export async function runNeighbours(server: LocalServerProcess, seconds: number): Promise<NeighboursResult> {
  const faults: string[] = []
  let attempts = 0
  let foreignBytes = 0

  const move = async (tenant: Tenant): Promise<void> => {
    if (tenant.container !== '') await tenant.client.call('DELETE', `/v1/containers/${tenant.container}`)
    tenant.container = await tenant.client.createContainer()
    await look(tenant, 0, false)
    const settled = await tenant.client.run(tenant.container, settle(tenant.marker))
    if (settled.stdout !== 'settled\n') faults.push(`${tenant.name} did not settle: ${JSON.stringify(settled.error)}`)
  }
  const look = async (tenant: Tenant, forSeconds: number, hasSettled: boolean): Promise<void> => {
    const { stdout, error } = await tenant.client.run(tenant.container, { code: attack(forSeconds), timeout_seconds: 120 })
    if (error !== null) return void faults.push(`${tenant.name}'s attack failed: ${error.name}: ${error.value}`)
    const findings = JSON.parse(stdout) as Findings
    attempts += findings.attempts
    for (const [way, markers] of Object.entries(findings.found)) {
      const foreign = markers.filter((marker) => marker !== tenant.marker)
      foreignBytes += foreign.join('').length
      if (foreign.length > 0) faults.push(`${tenant.name} read ${foreign.join(', ')} by ${way}`)
      if (hasSettled && !markers.includes(tenant.marker)) faults.push(`${tenant.name} finds nothing at all by ${way}`)
    }
    faults.push(...Object.entries(findings.open).map(([way, seen]) => `${tenant.name} gets to ${way}: ${seen}`))
    if (findings.held !== hasSettled) faults.push(`${tenant.name} ${findings.held ? "feels another one's" : 'does not feel its own'} lock`)
  }

  const tenants: Tenant[] = []
  for (const name of ['north', 'south']) {
    const marker = `NEIGHBOUR-${randomBytes(12).toString('hex')}`
    if (!MARKER.test(marker)) throw new Error('The pattern of markers does not fit them.')
    tenants.push({ name, client: server.as(await createTenant(server, name)), marker, container: '' })
  }
  await Promise.all(tenants.map(move))
  const deadline = Date.now() + seconds * 1_000
  for (let round = 1; round === 1 || Date.now() < deadline; round++) {
    const left = Math.max(1, Math.min(ROUND_SECONDS, Math.ceil((deadline - Date.now()) / 1_000)))
    await Promise.all(tenants.map((tenant) => look(tenant, left, true)))
    const mover = tenants[round % tenants.length]
    if (round % ROUNDS_PER_MOVE === 0 && mover !== undefined) await move(mover)
  }
  return { attempts, foreignBytes, faults }
}
