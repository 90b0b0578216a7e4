import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { createKeyFileCipher } from '../../services/adapters/secrets/key-file-cipher.ts'
import { createEnforcer } from '../../services/operations/network/attachment.ts'
import { createLimitReader } from '../../services/operations/tenancy/limit-reader.ts'
import type { Clock } from '../../services/ports/clock.ts'
import type { NetworkAttachment, NetworkPorts } from '../../services/ports/network-gateway.ts'
import type { SecretCipher } from '../../services/ports/secret-cipher.ts'
import type { Table } from '../../services/ports/table.ts'

/** A gateway that passes nothing on and keeps what it received, for tests of what the service tells it. */
export interface RecordingGateway {
  readonly attached: Map<string, NetworkAttachment>
  readonly cipher: SecretCipher
  bytesToday: number
  portsOf(table: Table, clock: Clock): NetworkPorts
}

export function createRecordingGateway(): RecordingGateway {
  const attached = new Map<string, NetworkAttachment>()
  const cipher = createKeyFileCipher(join(tmpdir(), `cellblock-secrets-${randomBytes(8).toString('hex')}.key`))
  const recording: RecordingGateway = {
    attached,
    cipher,
    bytesToday: 0,
    portsOf: (table, clock) => ({
      cipher,
      indexes: {},
      enforcer: createEnforcer({
        table,
        limits: createLimitReader(table.tenants, clock),
        cipher,
        use: { bytesToday: async () => recording.bytesToday },
        gateway: {
          caCertificate: async () => '-----BEGIN CERTIFICATE-----',
          attach: async (attachment) => void attached.set(attachment.containerId, attachment),
          detach: async (containerId) => void attached.delete(containerId),
        },
      }),
    }),
  }
  return recording
}
