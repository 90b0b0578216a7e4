export interface ByteRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/** The bytes that a `Range` header requests; null for all bytes, also for several ranges. */
export function parseRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null {
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (parts === null) return null
  const [, from = '', to = ''] = parts
  if (from === '' && to === '') return null
  if (from !== '' && to !== '' && Number(from) > Number(to)) return null
  const range =
    from === ''
      ? { start: Math.max(0, bytes - Number(to)), end: bytes - 1 }
      : { start: Number(from), end: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) }
  return range.start > range.end ? 'unsatisfiable' : range
}
