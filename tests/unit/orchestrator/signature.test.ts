import { readFileSync } from 'node:fs'
import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { createSigner, parsePrivateKey, signatureHeader, stringToSign } from '../../../services/adapters/supervisor-client/signature.ts'

const vectors = z
  .object({
    sandbox_id: z.string(),
    private_key_pkcs8: z.string(),
    accepted: z
      .array(
        z.object({
          name: z.string(),
          method: z.string(),
          target: z.string(),
          timestamp: z.number(),
          nonce: z.string(),
          string_to_sign: z.string(),
          header: z.string(),
        }),
      )
      .min(5),
  })
  .parse(JSON.parse(readFileSync(new URL('../../../runtime-image/vectors/signatures.json', import.meta.url), 'utf8')))

const keys = newSandbox({ memoryTier: '1g', image: 'any', claimedBy: null }, 0)
const session = { sandboxId: 'sbx_a', address: { kind: 'unix', socketPath: '/x' }, privateKey: keys.privateKey } as const

describe('the signature of a request', () => {
  it.each(vectors.accepted)(
    'is the one that the supervisor accepts: $name',
    ({ method, target, timestamp, nonce, string_to_sign: expected, header }) => {
      const request = { sandboxId: vectors.sandbox_id, method, target, timestamp, nonce }
      expect(stringToSign(request)).toBe(expected)
      expect(signatureHeader(parsePrivateKey(vectors.private_key_pkcs8), request)).toBe(header)
    },
  )

  it('verifies with the public key of the sandbox', () => {
    const header = createSigner({ now: () => 1_700_000_000_000 })(session, 'PUT', '/executions/exec_1?after=-1')
    const [version, timestamp, nonce = '', signature = ''] = header.split(' ')
    expect([version, timestamp]).toEqual(['v1', '1700000000000'])
    expect(nonce).toMatch(/^[A-Za-z0-9_-]{16,}$/)
    const signed = stringToSign({
      sandboxId: 'sbx_a',
      method: 'PUT',
      target: '/executions/exec_1?after=-1',
      timestamp: 1_700_000_000_000,
      nonce,
    })
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: keys.publicKey }, format: 'jwk' })
    expect(verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  it('never uses a nonce twice', () => {
    const sign = createSigner({ now: () => 1 })
    expect(new Set(Array.from({ length: 500 }, () => sign(session, 'GET', '/files').split(' ')[2])).size).toBe(500)
  })

  it('accepts only Ed25519 keys', () => {
    expect(() => parsePrivateKey('bm90IGEga2V5')).toThrow()
  })
})
