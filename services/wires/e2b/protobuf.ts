import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'

/**
 * The part of the Protocol Buffers encoding that E2B's messages need, between bytes and the JSON form of the same messages: bytes are base64 text,
 * 64-bit numbers are decimal text, enums are names, times are ISO 8601.
 * Source: https://protobuf.dev/programming-guides/encoding/ and https://protobuf.dev/programming-guides/json/
 */
type Scalar = 'string' | 'bytes' | 'bool' | 'uint32' | 'sint32' | 'int64' | 'timestamp' | 'stringMap'
export interface Field {
  readonly number: number
  readonly type: Scalar | EnumType | MessageType
  readonly isRepeated?: boolean
}
/** Names by number. */
export interface EnumType {
  readonly values: Readonly<Record<number, string>>
}
/** Fields by their JSON names. */
export interface MessageType {
  readonly fields: Readonly<Record<string, Field>>
}

const VARINT = 0
const FIXED64 = 1
const LENGTH_DELIMITED = 2
const FIXED32 = 5
const MAX_VARINT_BYTES = 10
const MAX_SMALL_BYTES = 5

const malformed = (): ServiceError =>
  new ServiceError(
    'invalid_request',
    'The message is not valid in the Protocol Buffers encoding. Encode it by the schema of this call, or send JSON.',
  )

const ENTRY: MessageType = { fields: { key: { number: 1, type: 'string' }, value: { number: 2, type: 'string' } } }
const TIMESTAMP: MessageType = { fields: { seconds: { number: 1, type: 'int64' }, nanos: { number: 2, type: 'uint32' } } }
const MS_PER_SECOND = 1000
const NS_PER_MS = 1_000_000

const tooManyFields = (): ServiceError =>
  new ServiceError(
    'invalid_request',
    `The message has more than ${LIMITS.maxMessageValues} fields and entries. Send fewer, or upload the data as a file.`,
  )

/** Fields that may still come, of a message together with the messages in it. */
interface FieldBudget {
  left: number
}

/** Reads within the bytes of one message. */
class Reader {
  readonly #bytes: Buffer
  readonly #fields: FieldBudget
  #at = 0
  constructor(bytes: Uint8Array, fields: FieldBudget) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#fields = fields
  }
  tag(): number {
    if (--this.#fields.left < 0) throw tooManyFields()
    return this.small()
  }
  message(type: MessageType): Record<string, unknown> {
    return decodeFields(type, new Reader(this.delimited(), this.#fields))
  }
  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }
  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw malformed()
    return byte
  }
  varint(): bigint {
    let value = 0n
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << BigInt(7 * index)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw malformed()
  }
  /** A tag or a length: 32 bits, without an allocation for each. */
  small(): number {
    let value = 0
    for (let index = 0; index < MAX_SMALL_BYTES; index++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** (7 * index)
      if (byte < 0x80) return value
    }
    throw malformed()
  }
  take(count: number): Buffer {
    const end = this.#at + count
    if (end > this.#bytes.length) throw malformed()
    const part = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return part
  }
  delimited(): Buffer {
    return this.take(this.small())
  }
  skip(wireType: number): void {
    if (wireType === VARINT) this.varint()
    else if (wireType === FIXED64) this.take(8)
    else if (wireType === LENGTH_DELIMITED) this.delimited()
    else if (wireType === FIXED32) this.take(4)
    else throw malformed()
  }
}

const isVarint = ({ type }: Field): boolean =>
  type === 'bool' || type === 'uint32' || type === 'sint32' || type === 'int64' || (typeof type === 'object' && 'values' in type)

/** The JSON form of a message. Unknown fields are ignored. Throws ServiceError `invalid_request` for malformed bytes and for more than LIMITS.maxMessageValues fields. */
export const decodeMessage = (type: MessageType, bytes: Uint8Array): Record<string, unknown> =>
  decodeFields(type, new Reader(bytes, { left: LIMITS.maxMessageValues }))

function decodeFields(type: MessageType, reader: Reader): Record<string, unknown> {
  const byNumber = new Map(Object.entries(type.fields).map(([name, field]) => [field.number, { name, field }]))
  const message: Record<string, unknown> = {}
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    const [number, wireType] = [Math.floor(tag / 8), tag % 8]
    const known = byNumber.get(number)
    if (known === undefined || wireType !== (isVarint(known.field) ? VARINT : LENGTH_DELIMITED)) {
      reader.skip(wireType)
      continue
    }
    const { name, field } = known
    const value = decodeValue(field, reader)
    // Lists grow in place: a copy for each entry would take quadratic time.
    if (field.isRepeated === true || field.type === 'stringMap') ((message[name] ??= []) as unknown[]).push(value)
    else message[name] = value
  }
  for (const [name, { type: fieldType }] of Object.entries(type.fields))
    if (fieldType === 'stringMap' && message[name] !== undefined) message[name] = Object.fromEntries(message[name] as [string, string][])
  return message
}

function decodeValue({ type }: Field, reader: Reader): unknown {
  if (typeof type === 'object') {
    if ('fields' in type) return reader.message(type)
    const number = Number(reader.varint())
    return type.values[number] ?? String(number)
  }
  switch (type) {
    case 'string':
      return reader.delimited().toString()
    case 'bytes':
      return reader.delimited().toString('base64')
    case 'bool':
      return reader.varint() !== 0n
    case 'uint32':
      return Number(BigInt.asUintN(32, reader.varint()))
    case 'sint32': {
      const value = Number(BigInt.asUintN(32, reader.varint()))
      return (value >>> 1) ^ -(value & 1)
    }
    case 'int64':
      return String(BigInt.asIntN(64, reader.varint()))
    case 'timestamp': {
      const { seconds = '0', nanos = 0 } = reader.message(TIMESTAMP) as { seconds?: string; nanos?: number }
      return new Date(Number(seconds) * MS_PER_SECOND + nanos / NS_PER_MS).toISOString()
    }
    case 'stringMap': {
      const { key = '', value = '' } = reader.message(ENTRY)
      return [key, value]
    }
  }
}

/** The bytes of a message in JSON form. Fields that the type does not have, and absent ones, are left out. */
export function encodeMessage(type: MessageType, message: Readonly<Record<string, unknown>>): Buffer {
  const parts: Buffer[] = []
  for (const [name, field] of Object.entries(type.fields)) {
    const value = message[name]
    if (value === undefined || value === null) continue
    const values = field.isRepeated === true ? (value as readonly unknown[]) : field.type === 'stringMap' ? Object.entries(value) : [value]
    const tag = varint(BigInt(field.number * 8 + (isVarint(field) ? VARINT : LENGTH_DELIMITED)))
    for (const one of values) parts.push(tag, encodeValue(field, one))
  }
  return Buffer.concat(parts)
}

function encodeValue({ type }: Field, value: unknown): Buffer {
  if (typeof type === 'object') {
    if ('fields' in type) return delimited(encodeMessage(type, value as Readonly<Record<string, unknown>>))
    return varint(BigInt(Object.entries(type.values).find(([, name]) => name === value)?.[0] ?? 0))
  }
  switch (type) {
    case 'string':
      return delimited(Buffer.from(value as string))
    case 'bytes':
      return delimited(Buffer.from(value as string, 'base64'))
    case 'bool':
      return varint(value === true ? 1n : 0n)
    case 'sint32':
      return varint(BigInt((((value as number) << 1) ^ ((value as number) >> 31)) >>> 0))
    case 'uint32':
    case 'int64':
      return varint(BigInt.asUintN(64, BigInt(value as number | string)))
    case 'timestamp': {
      const ms = Date.parse(value as string)
      const seconds = Math.floor(ms / MS_PER_SECOND)
      return delimited(encodeMessage(TIMESTAMP, { seconds, nanos: (ms - seconds * MS_PER_SECOND) * NS_PER_MS }))
    }
    case 'stringMap': {
      const [key, text] = value as readonly [string, string]
      return delimited(encodeMessage(ENTRY, { key, value: text }))
    }
  }
}

const delimited = (bytes: Buffer): Buffer => Buffer.concat([varint(BigInt(bytes.length)), bytes])

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}
