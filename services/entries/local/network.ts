import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildGateway } from '../../adapters/gateway/child-gateway.ts'
import { createKeyFileCipher } from '../../adapters/secrets/key-file-cipher.ts'
import { AuditLog } from '../../operations/audit/audit-log.ts'
import { applyNetwork, createEnforcer } from '../../operations/network/attachment.ts'
import { NetworkRecorder } from '../../operations/network/network-recorder.ts'
import { createLimitReader } from '../../operations/tenancy/limit-reader.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Supervisor } from '../../ports/supervisor.ts'
import type { Table } from '../../ports/table.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { LocalConfig } from './config.ts'

const PROCESS = join(import.meta.dirname, 'network-gateway-process.ts')
/** Requests are in the log within this time, milliseconds. */
const FLUSH_MS = 1_000

interface Parts {
  readonly table: Table
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly supervisor: Supervisor
}

/** What containers with a network need, with the gateway as a child process; undefined when the operator has not switched it on. */
export async function startGateway(
  config: LocalConfig,
  { table, clock, telemetry, supervisor }: Parts,
  cleanups: (() => Promise<unknown> | void)[],
): Promise<NetworkPorts | undefined> {
  const { isOn, gatewayEnv, caFile, privateHosts, indexes } = config.network
  if (!isOn) return undefined
  const folder = config.dataDir ?? (await mkdtemp(join(tmpdir(), 'cellblock-network-')))
  if (config.dataDir === null) cleanups.push(() => rm(folder, { recursive: true, force: true }))
  const limits = createLimitReader(table.tenants, clock)
  const recorder = new NetworkRecorder(
    { table, clock, telemetry, audit: new AuditLog({ table, clock, telemetry }, FLUSH_MS), limits },
    {
      flushMs: FLUSH_MS,
      onExhausted: async (tenant, containerId) => {
        const container = await table.containers.get(tenant, containerId)
        if (container !== null) await applyNetwork({ table, network }, container)
      },
    },
  )
  const gateway = new ChildGateway({
    module: PROCESS,
    env: gatewayEnv,
    settings: {
      driver: config.driver,
      authorityFile: join(folder, 'network-authority.json'),
      extraCa: caFile === null ? [] : [await readFile(caFile, 'utf8')],
      privateHosts,
    },
    supervisor,
    onReport: (report) => recorder.record(report),
    onExit: (code) => telemetry.emit({ event: 'network_gateway', outcome: 'ended', code }),
  })
  const cipher = createKeyFileCipher(join(folder, 'secrets.key'))
  const settle = () => gateway.settle().then(() => recorder.flush())
  const network: NetworkPorts = { enforcer: createEnforcer({ table, limits, cipher, use: recorder, gateway }), cipher, indexes, settle }
  cleanups.push(() => recorder.flush())
  cleanups.push(() => gateway.close())
  return network
}
