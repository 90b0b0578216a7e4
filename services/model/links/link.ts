/** A long-lived, revocable link to one file version: `/d/{token}`. Only the SHA-256 (hex) of the token is stored. */
export interface Link {
  readonly v: 1
  readonly id: string
  readonly tenant: string
  readonly tokenHash: string
  readonly containerId: string
  /** The file version that it shows; null for an output that is not a file. */
  readonly fileId: string | null
  readonly target: LinkTarget
  readonly createdAt: number
  readonly expiresAt: number
  readonly revokedAt: number | null
}
export interface LinkTarget {
  readonly objectKey: string
  readonly filename: string
  readonly mime: string
  readonly bytes: number
}
