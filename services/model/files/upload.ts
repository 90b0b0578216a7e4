import type { FilePurpose } from './user-file.ts'

/** A file that is uploaded in parts. The parts are kept until the upload is completed, cancelled or expired. Times are epoch ms. */
export interface Upload {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly filename: string
  /** Announced size; the parts together must have exactly this many bytes. */
  readonly bytes: number
  readonly mime: string
  readonly purpose: FilePurpose
  readonly status: 'pending' | 'completed' | 'cancelled'
  readonly createdAt: number
  /** From this time on no part is accepted, and the parts are removed. */
  readonly expiresAt: number
  /** Lifetime of the resulting file from its completion; null for no expiry. */
  readonly fileSeconds: number | null
}

/** A part of an upload; the request that completes the upload defines the order of the parts. */
export interface UploadPart {
  readonly v: 1
  readonly tenant: string
  readonly uploadId: string
  readonly id: string
  readonly bytes: number
  readonly createdAt: number
  readonly objectKey: string
}
