import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isSpokenProtocol, SUPERVISOR_PROTOCOL } from '../../services/model/sandboxes/sandbox.ts'
import { toEvent } from '../../services/adapters/supervisor-client/events.ts'
import { parsePrivateKey, signatureHeader, stringToSign } from '../../services/adapters/supervisor-client/signature.ts'

const FOLDER = new URL('../../runtime-image/vectors/', import.meta.url)
const load = (name: string): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))

interface Signatures {
  readonly sandbox_id: string
  readonly private_key_pkcs8: string
  readonly accepted: readonly {
    readonly name: string
    readonly method: string
    readonly target: string
    readonly timestamp: number
    readonly nonce: string
    readonly string_to_sign: string
    readonly header: string
  }[]
}
interface Events {
  /** The major version of the protocol. */
  readonly v: number
  readonly streams: readonly { readonly name: string; readonly events: readonly { readonly seq: number; readonly type: string }[] }[]
  readonly envelopes: readonly { readonly outcome: string }[]
}

const signatures = load('signatures.json') as Signatures
/** One file per major version, kept as long as the client supports that version. */
const recorded = readdirSync(FOLDER)
  .filter((name) => /^events.*\.json$/.test(name))
  .map((name) => load(name) as Events)

describe('the client signs as the supervisor expects', () => {
  it.each(signatures.accepted)('$name', (vector) => {
    const request = {
      sandboxId: signatures.sandbox_id,
      method: vector.method,
      target: vector.target,
      timestamp: vector.timestamp,
      nonce: vector.nonce,
    }
    expect(stringToSign(request)).toBe(vector.string_to_sign)
    expect(signatureHeader(parsePrivateKey(signatures.private_key_pkcs8), request)).toBe(vector.header)
  })
})

it('recordings exist for every major version that the client supports', () => {
  const majors = Array.from({ length: SUPERVISOR_PROTOCOL + 1 }, (_, index) => index + 1)
  expect(recorded.map(({ v }) => v).toSorted()).toEqual(majors.filter(isSpokenProtocol))
})

describe.each(recorded)('the client parses messages of a supervisor with major version $v', ({ streams, envelopes }) => {
  it.each(streams)('$name', ({ events: wire }) => {
    expect(wire.map((event) => toEvent(event).type)).toEqual(wire.map((event) => event.type))
  })

  it.each(envelopes)('an envelope with outcome $outcome', (envelope) => {
    expect(toEvent(envelope)).toMatchObject({ type: 'done', outcome: envelope.outcome })
  })
})
