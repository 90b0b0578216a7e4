import type { NetworkAttachment, NetworkRequestReport } from '../../ports/network-gateway.ts'

/** A host with a private address that the operator allows. With `address` it is not resolved. */
export interface PrivateHost {
  readonly address?: string
  readonly port?: number
}

/** What the process of the gateway needs. */
export interface GatewaySettings {
  /** Name of the driver whose sandboxes it serves. */
  readonly driver: string
  /** Holds the certificate authority; it is created when it is missing. */
  readonly authorityFile: string
  /** Certificates, PEM, that the gateway trusts besides those of the system. */
  readonly extraCa: readonly string[]
  readonly privateHosts: Readonly<Record<string, PrivateHost>>
}

export type ToGateway =
  | { readonly type: 'start'; readonly settings: GatewaySettings }
  | { readonly type: 'attach'; readonly number: number; readonly attachment: NetworkAttachment }
  | { readonly type: 'detach'; readonly number: number; readonly containerId: string }
  | { readonly type: 'settle'; readonly number: number }

export type FromGateway =
  | { readonly type: 'started'; readonly certificate: string }
  | { readonly type: 'done'; readonly number: number }
  | { readonly type: 'report'; readonly report: NetworkRequestReport }
  | { readonly type: 'gone'; readonly containerId: string }
