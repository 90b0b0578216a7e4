import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toEvent } from '../../services/orchestrator/supervisor-client/events.ts'
import { parsePrivateKey, signatureHeader, stringToSign } from '../../services/orchestrator/supervisor-client/signature.ts'

const load = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../runtime-image/vectors/${name}.json`, import.meta.url), 'utf8'))

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
  readonly streams: readonly { readonly name: string; readonly events: readonly { readonly seq: number; readonly type: string }[] }[]
  readonly envelopes: readonly { readonly outcome: string }[]
}

const signatures = load('signatures') as Signatures
const events = load('events') as Events

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

describe('the client understands what the supervisor sends', () => {
  it.each(events.streams)('$name', ({ events: wire }) => {
    expect(wire.map((event) => toEvent(event).type)).toEqual(wire.map((event) => event.type))
  })

  it.each(events.envelopes)('an envelope with outcome $outcome', (envelope) => {
    expect(toEvent(envelope)).toMatchObject({ type: 'done', outcome: envelope.outcome })
  })
})
