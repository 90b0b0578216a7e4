// The network gateway of a deployment: a task that connects to sandboxes and to the internet, and accepts no connection.
import { setTimeout as delay } from 'node:timers/promises'
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { DRIVERS } from '../../../adapters/drivers/registry.ts'
import { createRemoteEnforcer } from '../../../adapters/gateway/remote-gateway.ts'
import { createSandboxLink } from '../../../adapters/link/create-sandbox-link.ts'
import { createOpeningCipher, createSealingKeys } from '../../../adapters/secrets/sealed-cipher.ts'
import { createFunctionPorts } from '../../../adapters/storage/function-ports.ts'
import { createSupervisorClient } from '../../../adapters/supervisor-client/supervisor-client.ts'
import { describeCause } from '../../../model/describe-cause.ts'
import { newId } from '../../../model/ids.ts'
import { AuditLog } from '../../../operations/audit/audit-log.ts'
import { applyNetwork, networkAttachment } from '../../../operations/network/attachment.ts'
import { NetworkRecorder } from '../../../operations/network/network-recorder.ts'
import { createLimitReader } from '../../../operations/tenancy/limit-reader.ts'
import { AttachmentWatch } from '../../../workers/gateway/attachment-watch.ts'
import { CertificateIssuer, createAuthority } from '../../../workers/gateway/certificates.ts'
import { Gateway } from '../../../workers/gateway/gateway.ts'
import { GatewayLease } from '../../../workers/gateway/gateway-lease.ts'
import { gatewayConfigFromEnv } from './config.ts'

/** How often the requests are read, milliseconds: an execution with a policy waits for half of it. */
const PASS_MS = 250
const WATCHDOG_MS = 500
/** Requests of code are in the log within this time, milliseconds. */
const FLUSH_MS = 1_000

const pair = z.object({ certificate: z.string(), privateKey: z.string() })

/** PEM. `authority` signs the certificates that sandboxes trust; `sealing` opens the secrets of tenants. */
const NetworkKeys = z.object({ authority: pair, sealing: z.object({ publicKey: z.string(), privateKey: z.string() }) })
type NetworkKeys = z.infer<typeof NetworkKeys>

const env = gatewayConfigFromEnv()
const { table, clock, telemetry } = createFunctionPorts(env)
const lease = new GatewayLease({ attachments: table.attachments, clock, holder: newId('worker') })
const supervisor = createSupervisorClient({
  link: createSandboxLink({ kinds: DRIVERS[env.SANDBOX_DRIVER].capabilities.addressKinds }),
})
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())

/** ECS starts another task. Everything that was open ends with this process. */
function fail(error: unknown): never {
  telemetry.emit({ event: 'network_gateway', outcome: 'error', detail: describeCause(error) })
  process.exit(1)
}

/** Reads the keys of this deployment; makes them if the secret has none. Only the process with the lease calls it. */
async function readKeys(): Promise<NetworkKeys> {
  const client = new SecretsManagerClient({ region: env.AWS_REGION })
  const arn = env.NETWORK_KEYS_ARN
  const { SecretString = '{}' } = await client.send(new GetSecretValueCommand({ SecretId: arn }))
  const found: unknown = JSON.parse(SecretString)
  if (typeof found === 'object' && found !== null && 'authority' in found) return NetworkKeys.parse(found)
  const keys: NetworkKeys = { authority: await createAuthority(Date.now()), sealing: await createSealingKeys() }
  await client.send(new PutSecretValueCommand({ SecretId: arn, SecretString: JSON.stringify(keys) }))
  return keys
}

function openGateway({ authority, sealing }: NetworkKeys) {
  const limits = createLimitReader(table.tenants, clock)
  const recorder: NetworkRecorder = new NetworkRecorder(
    // A batch is one entry, which is stored at once: a task that ends loses none.
    { table, clock, telemetry, audit: new AuditLog({ table, clock, telemetry }, 0), limits },
    {
      flushMs: FLUSH_MS,
      onExhausted: async (tenant, containerId) => {
        const container = await table.containers.get(tenant, containerId)
        if (container !== null)
          await applyNetwork({ table, network: { enforcer: createRemoteEnforcer(table.attachments, clock) } }, container)
      },
    },
  )
  const gateway = new Gateway({
    supervisor,
    issuer: new CertificateIssuer(authority),
    upstream: { extraCa: [], privateHosts: env.PRIVATE_HOSTS },
    report: (report) => recorder.record(report),
    onGone: (containerId) => void watch.onGone(containerId).catch(() => undefined),
    now: Date.now,
  })
  const attachments = { table, limits, cipher: createOpeningCipher(sealing.privateKey), use: recorder }
  const watch: AttachmentWatch = new AttachmentWatch({
    ...{ table, supervisor, gateway, certificate: authority.certificate },
    attachmentOf: (container, session) => networkAttachment(attachments, container, session),
  })
  return { gateway, recorder, watch }
}

/** The lease is renewed only by a process that knows the latest requests. */
async function compare(watch: AttachmentWatch): Promise<void> {
  await watch.pass()
  await lease.renew()
}

async function serve(): Promise<void> {
  while (!(await lease.acquire())) await delay(1_000, undefined, { signal: stopping.signal })
  setInterval(() => {
    if (lease.isOver) fail(new Error('The lease could not be renewed: the table does not answer, or another process has it.'))
  }, WATCHDOG_MS).unref()
  const keys = await readKeys()
  await lease.publish(keys.sealing.publicKey)
  const { gateway, recorder, watch } = openGateway(keys)
  telemetry.emit({ event: 'network_gateway', outcome: 'started' })
  while (!stopping.signal.aborted) {
    // A table that does not answer for longer than the lease ends this process.
    await compare(watch).catch((error: unknown) =>
      telemetry.emit({ event: 'network_gateway', outcome: 'error', detail: describeCause(error) }),
    )
    await delay(PASS_MS)
  }
  gateway.close()
  await recorder.flush()
  await lease.release()
}

await serve().catch((error: unknown) => {
  if (!stopping.signal.aborted) fail(error)
})
process.exit(0)
