import { createRemoteEnforcer, readSealingKey } from '../../adapters/gateway/remote-gateway.ts'
import { createSealingCipher } from '../../adapters/secrets/sealed-cipher.ts'
import type { Clock } from '../../ports/clock.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { Table } from '../../ports/table.ts'

/** What a function with networks has: it can request and seal, and open no secret. Without a gateway it has nothing. */
export const networkPorts = (
  { NETWORK_GATEWAY }: { readonly NETWORK_GATEWAY: 'on' | 'off' },
  { table: { attachments }, clock }: { readonly table: Pick<Table, 'attachments'>; readonly clock: Clock },
): { readonly network?: NetworkPorts } =>
  NETWORK_GATEWAY === 'off'
    ? {}
    : {
        network: {
          enforcer: createRemoteEnforcer(attachments, clock),
          cipher: createSealingCipher(() => readSealingKey(attachments)),
          indexes: {},
        },
      }
