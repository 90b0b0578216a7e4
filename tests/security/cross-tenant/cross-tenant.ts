import { randomBytes } from 'node:crypto'
import { createTenant } from '../../support/create-tenant.ts'
import type { LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient } from '../../support/native-client.ts'
import { attack, MARKER, plantMarker } from './probes.ts'

export interface CrossTenantResult {
  readonly attempts: number
  /** The number of bytes of the other tenant's marker that were read. */
  readonly foreignBytes: number
  /** Failures: a foreign marker was read, a closed channel was open, or a channel did not even find the tenant's own marker. */
  readonly failures: readonly string[]
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
/** After this many rounds a tenant moves to another sandbox of the pool and searches it before it plants its marker. */
const ROUNDS_PER_MOVE = 3

/** Two new tenants with one live sandbox each attack each other for `seconds`. */
export async function runCrossTenantAttacks(server: LocalServerProcess, seconds: number): Promise<CrossTenantResult> {
  const failures: string[] = []
  let attempts = 0
  let foreignBytes = 0

  const move = async (tenant: Tenant): Promise<void> => {
    if (tenant.container !== '') await tenant.client.call('DELETE', `/v1/containers/${tenant.container}`)
    tenant.container = await tenant.client.createContainer()
    await search(tenant, 0, false)
    const planted = await tenant.client.run(tenant.container, plantMarker(tenant.marker))
    if (planted.stdout !== 'planted\n') failures.push(`${tenant.name} failed to plant its marker: ${JSON.stringify(planted.error)}`)
  }
  const search = async (tenant: Tenant, forSeconds: number, hasPlanted: boolean): Promise<void> => {
    const { stdout, error } = await tenant.client.run(tenant.container, { code: attack(forSeconds), timeout_seconds: 120 })
    if (error !== null) return void failures.push(`${tenant.name}'s attack failed: ${error.name}: ${error.value}`)
    const findings = JSON.parse(stdout) as Findings
    attempts += findings.attempts
    for (const [way, markers] of Object.entries(findings.found)) {
      const foreign = markers.filter((marker) => marker !== tenant.marker)
      foreignBytes += foreign.join('').length
      if (foreign.length > 0) failures.push(`${tenant.name} read ${foreign.join(', ')} by ${way}`)
      if (hasPlanted && !markers.includes(tenant.marker)) failures.push(`${tenant.name} did not find its own marker by ${way}`)
    }
    failures.push(...Object.entries(findings.open).map(([way, seen]) => `${tenant.name} reached ${way}: ${seen}`))
    if (findings.held !== hasPlanted)
      failures.push(`${tenant.name} ${findings.held ? 'sees the lock of the other sandbox' : 'does not see its own lock'}`)
  }

  const tenants: Tenant[] = []
  for (const name of ['north', 'south']) {
    const marker = `NEIGHBOUR-${randomBytes(12).toString('hex')}`
    if (!MARKER.test(marker)) throw new Error('The marker does not match its pattern.')
    tenants.push({ name, client: server.as(await createTenant(server, name)), marker, container: '' })
  }
  await Promise.all(tenants.map(move))
  const deadline = Date.now() + seconds * 1_000
  for (let round = 1; round === 1 || Date.now() < deadline; round++) {
    const left = Math.max(1, Math.min(ROUND_SECONDS, Math.ceil((deadline - Date.now()) / 1_000)))
    await Promise.all(tenants.map((tenant) => search(tenant, left, true)))
    const mover = tenants[round % tenants.length]
    if (round % ROUNDS_PER_MOVE === 0 && mover !== undefined) await move(mover)
  }
  return { attempts, foreignBytes, failures }
}
