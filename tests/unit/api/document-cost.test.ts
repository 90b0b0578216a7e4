import { getHeapStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { MESSAGE } from '../../../services/model/scan-json.ts'
import { parseJson } from '../../../services/http/parse-json.ts'
import { validate } from '../../../services/http/validate.ts'
import { PROCEDURES } from '../../../services/wires/e2b/messages.ts'
import { decodeMessage, encodeMessage, type Field, type MessageType } from '../../../services/wires/e2b/protobuf.ts'
import { ServiceError } from '../../../services/model/errors.ts'
import { positionsOf, requestBodies, type Position, type RequestBody } from '../../support/request-bodies.ts'

const MB = 1_000_000
const BODY_BYTES = 2 * MB
const MAX_RATIO = 3
/** The processor time of a string of 2 MB counts as at least this, milliseconds: below it, noise decides. */
const FLOOR_MS = 30
const MAX_HEAP_BYTES = 64 * 1024 * 1024

interface Cost {
  readonly ms: number
  readonly heapBytes: number
}

/** Processor time of this thread and growth of the heap. A body may be refused. */
function costOf(work: () => void): Cost {
  const heapBefore = getHeapStatistics().used_heap_size
  const before = process.threadCpuUsage()
  try {
    work()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
  const { user, system } = process.threadCpuUsage(before)
  return { ms: (user + system) / 1_000, heapBytes: getHeapStatistics().used_heap_size - heapBefore }
}

/** The cheapest of up to three runs: the collector may run in one of them. */
function cheapest(work: () => void, maxMs: number): Cost {
  let best = costOf(work)
  for (let run = 1; run < 3 && (best.ms > maxMs || best.heapBytes > MAX_HEAP_BYTES); run++) {
    const { ms, heapBytes } = costOf(work)
    best = { ms: Math.min(best.ms, ms), heapBytes: Math.min(best.heapBytes, heapBytes) }
  }
  return best
}

const HERE = '@here'
/** Small entries, so that their number is the cost; and as many as the bound of values lets through. */
const ENTRIES: Readonly<Record<Position['kind'], readonly ((index: number) => string)[]>> = {
  list: [() => '0', () => '"xxxx"'],
  object: [(index) => `"${index}":0`, (index) => `"${'y'.repeat(200)}${index}":0`],
}
const MARKS = { list: { value: [HERE], text: `"${HERE}"` }, object: { value: { [HERE]: 0 }, text: `"${HERE}":0` } } as const

const joined = new Map<(index: number) => string, string>()
/** Entries of together at most so many bytes. */
function entriesUpTo(bytes: number, entryOf: (index: number) => string): string {
  let all = joined.get(entryOf)
  if (all === undefined) {
    const entries: string[] = []
    for (let at = 0; at < BODY_BYTES; at += (entries.at(-1)?.length ?? 0) + 1) entries.push(entryOf(entries.length))
    joined.set(entryOf, (all = entries.join(',')))
  }
  return bytes >= all.length ? all : all.slice(0, all.lastIndexOf(',', bytes))
}

/** Bodies of 2 MB that have invalid entries at the position: all in one list or object, and shared out among 250 entries of the list around it. */
function* attacks({ kind, path, around }: Position): Generator<Buffer, void, undefined> {
  const { value, text } = MARKS[kind]
  for (const copies of path.includes('[]') ? [1, 250] : [1])
    for (const entryOf of ENTRIES[kind])
      yield Buffer.from(JSON.stringify(around(value, copies)).replaceAll(text, entriesUpTo(BODY_BYTES / copies, entryOf)))
}

const receive = ({ name, schema }: RequestBody, bytes: Buffer): void => {
  const isMessage = name === 'mcp' || name.startsWith('e2b')
  validate(schema, isMessage ? parseJson(bytes, MESSAGE) : parseJson(bytes), 'body')
}

const bodies = requestBodies()
  .map((body) => ({ body, positions: [...positionsOf(body.schema)] }))
  .filter(({ positions }) => positions.length > 0)

it('has a position in every wire', () => {
  expect(bodies.map(({ body }) => body.name)).toEqual(
    expect.arrayContaining([
      'createResponse',
      'createChatCompletion',
      'runCode',
      'mcp',
      'e2b post /process.Process/Start',
      'ClientMessage',
    ]),
  )
  expect(bodies.flatMap(({ positions }) => positions).length).toBeGreaterThan(100)
})

it.each(bodies.map((entry) => [entry.body.name, entry] as const))(
  '2 MB of invalid entries of %s cost at most three times what a string of 2 MB costs',
  (_, { body, positions }) => {
    const text = Buffer.from(JSON.stringify({ model: 'x'.repeat(BODY_BYTES) }))
    const maxMs = MAX_RATIO * Math.max(FLOOR_MS, costOf(() => receive(body, text)).ms)
    const costly = positions.flatMap((position) =>
      [...attacks(position)].flatMap((attack) => {
        const { ms, heapBytes } = cheapest(() => receive(body, attack), maxMs)
        return ms > maxMs || heapBytes > MAX_HEAP_BYTES
          ? [{ path: position.path, starts: attack.toString('latin1', 0, 80), ms, maxMs, heapBytes }]
          : []
      }),
    )
    expect(costly).toEqual([])
  },
)

/** The fields of a message that may occur many times, and those of the messages in it. */
function* repeated(type: MessageType, around: (bytes: Buffer) => Buffer = (bytes) => bytes): Generator<Buffer, void, undefined> {
  yield around(fieldOf({ number: 15, type: 'uint32' }, 0))
  for (const field of Object.values(type.fields)) {
    if (field.type === 'stringMap' || field.isRepeated === true)
      yield around(fieldOf(field, field.type === 'stringMap' ? { a: 'b' } : ['a']))
    if (typeof field.type === 'object' && 'fields' in field.type)
      yield* repeated(field.type, (bytes) => around(Buffer.from(Buffer.concat([tagOf(field), bytes]))))
  }
}
const fieldOf = (field: Field, value: unknown): Buffer => encodeMessage({ fields: { a: field } }, { a: value })
const tagOf = (field: Field): Buffer => fieldOf({ number: field.number, type: { fields: {} } }, {}).subarray(0, 1)

it.each(Object.entries(PROCEDURES))(
  '2 MB of fields in a message of %s cost at most three times what bytes of 2 MB cost',
  (_, { request }) => {
    const one = fieldOf({ number: 14, type: 'bytes' }, Buffer.alloc(BODY_BYTES).toString('base64'))
    const maxMs = MAX_RATIO * Math.max(FLOOR_MS, costOf(() => decodeMessage(request, one)).ms)
    for (const field of repeated(request)) {
      const body = Buffer.alloc(BODY_BYTES, field)
      const { ms, heapBytes } = cheapest(() => decodeMessage(request, body), maxMs)
      expect(ms).toBeLessThan(maxMs)
      expect(heapBytes).toBeLessThan(MAX_HEAP_BYTES)
      expect(() => decodeMessage(request, body)).toThrow(ServiceError)
    }
  },
)

const DOCUMENTS: readonly (readonly [what: string, text: string])[] = [
  ['numbers', `[${'0,'.repeat(5 * MB)}0]`],
  ['objects', `[${'{},'.repeat(3 * MB)}0]`],
  ['keys', `{${Array.from({ length: MB }, (_, index) => `"${index}":0`).join(',')}}`],
  ['keys of many objects', `[${Array.from({ length: MB }, (_, index) => `{"${index}":0}`).join(',')}]`],
  ['brackets', '['.repeat(10 * MB)],
  ['the key __proto__', `{"__proto__":1,"a":"${'x'.repeat(10 * MB)}"}`],
  ['the word __proto__ in text', JSON.stringify({ code: 'a.__proto__ = 1\n'.repeat((10 * MB) / 16) })],
  ['quotes', JSON.stringify('"'.repeat(5 * MB))],
  ['backslashes', JSON.stringify('\\'.repeat(5 * MB))],
  ['a long number', '1'.repeat(10 * MB)],
  ['a long exponent', `1e${'1'.repeat(10 * MB)}`],
  ['spaces', `${' '.repeat(10 * MB)}1`],
]
it.each(DOCUMENTS)('10 MB of %s cost little more than plain text', (_, text) => {
  const bytes = Buffer.from(text)
  const plain = Buffer.from(JSON.stringify('x'.repeat(10 * MB)))
  const maxMs = MAX_RATIO * Math.max(2 * FLOOR_MS, costOf(() => parseJson(plain)).ms)
  expect(cheapest(() => parseJson(bytes), maxMs).ms).toBeLessThan(maxMs)
})
