/** Ranges of IPv4 that no public server has: private, local, shared, documentation, multicast and reserved ones (IANA special-purpose registry). */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
const BITS = 32
const BYTE = 256
const ADDRESS = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const RANGE = /^([\d.]+)(?:\/(\d{1,2}))?$/

/** An address of IPv4 as a number; null for every other form than four decimal numbers (`0x7f.1`, leading zeros). */
const numberOf = (address: string): number | null =>
  ADDRESS.test(address) ? address.split('.').reduce((sum, byte) => sum * BYTE + Number(byte), 0) : null

/** An address of IPv4, or a range of them such as `8.8.0.0/16`, in one form; null for anything else. */
export function normalizeRange(range: string): string | null {
  const [, address = '', digits = String(BITS)] = RANGE.exec(range) ?? []
  const prefix = Number(digits)
  if (numberOf(address) === null || prefix > BITS) return null
  return prefix === BITS ? address : `${address}/${prefix}`
}

/** Whether one of the ranges, in their normal form, has the address. False for what is no address of IPv4. */
export function isInRange(ranges: readonly string[], address: string): boolean {
  const number = numberOf(address)
  if (number === null) return false
  return ranges.some((range) => {
    const [start = '', prefix = BITS] = range.split('/')
    const size = 2 ** (BITS - Number(prefix))
    return Math.floor((numberOf(start) ?? Number.NaN) / size) === Math.floor(number / size)
  })
}

/** Whether an address of IPv4 belongs to the public internet; false for every other text. A rule may name it. */
export const isPublicIPv4 = (address: string): boolean => numberOf(address) !== null && !isInRange(NOT_PUBLIC, address)
