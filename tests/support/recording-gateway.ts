import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { createKeyFileCipher } from '../../services/adapters/secrets/key-file-cipher.ts'
import type { NetworkAttachment, NetworkPorts } from '../../services/ports/network-gateway.ts'

/** A gateway that passes nothing on and keeps what it received, for tests of what the service tells it. */
export interface RecordingGateway extends NetworkPorts {
  readonly attached: Map<string, NetworkAttachment>
  bytesToday: number
}

export function createRecordingGateway(): RecordingGateway {
  const attached = new Map<string, NetworkAttachment>()
  const file = join(tmpdir(), `cellblock-secrets-${randomBytes(8).toString('hex')}.key`)
  const network: RecordingGateway = {
    attached,
    bytesToday: 0,
    cipher: createKeyFileCipher(file),
    use: { bytesToday: async () => network.bytesToday },
    indexes: {},
    gateway: {
      caCertificate: async () => '-----BEGIN CERTIFICATE-----',
      attach: async (attachment) => void attached.set(attachment.containerId, attachment),
      detach: async (containerId) => void attached.delete(containerId),
    },
  }
  return network
}
