import type { FilePurpose } from './user-file.ts'

/** A file that comes in parts. Its parts are kept until it is completed, cancelled or too old. Times are epoch ms. */
export interface Upload {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly filename: string
  /** What the caller announced; the parts together have to have exactly as many. */
  readonly bytes: number
  readonly mime: string
  readonly purpose: FilePurpose
  readonly status: 'pending' | 'completed' | 'cancelled'
  readonly createdAt: number
  /** No part is taken from this moment on, and the rest is swept away. */
  readonly expiresAt: number
  /** Life of the file that it becomes, from its completion; null: it stays. */
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
