import { S3Error } from './s3-error.ts'

export interface ByteRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/** The bytes that a `Range` header asks for; null for all of them. Several ranges at once count as all, as on S3. */
export function parseRange(header: string | undefined, bytes: number): ByteRange | null {
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (parts === null) return null
  const [, from = '', to = ''] = parts
  if (from === '' && to === '') return null
  const range =
    from === ''
      ? { start: Math.max(0, bytes - Number(to)), end: bytes - 1 }
      : { start: Number(from), end: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) }
  if (range.start > range.end) {
    if (from !== '' && to !== '' && Number(from) > Number(to)) return null
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable')
  }
  return range
}
