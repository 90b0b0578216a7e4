/** A file outside containers, stored by `/v1/files` until it expires or is deleted. Times are epoch ms. */
export interface UserFile {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  /** One segment, checked as a file name. */
  readonly filename: string
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
  readonly mime: string
  readonly purpose: FilePurpose
  readonly createdAt: number
  /** From this time on the file answers 404, even before its bytes are removed. Null: it is kept until it is deleted. */
  readonly expiresAt: number | null
  /** Object key of the bytes, below the prefix of this file's id. */
  readonly objectKey: string
}

export const FILE_PURPOSES = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'] as const
export type FilePurpose = (typeof FILE_PURPOSES)[number]

export const hasExpired = (file: Pick<UserFile, 'expiresAt'>, now: number): boolean => file.expiresAt !== null && file.expiresAt <= now
