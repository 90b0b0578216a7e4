import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newSandboxKeyPair } from '../../../services/orchestrator/supervisor-client/key-pair.ts'
import { createSigner, parsePrivateKey, stringToSign } from '../../../services/orchestrator/supervisor-client/signature.ts'

const keys = newSandboxKeyPair()
const session = { sandboxId: 'sbx_a', address: { kind: 'unix', socketPath: '/x' }, privateKey: keys.privateKey } as const

describe('the signature of a request', () => {
  it('verifies with the public half that the sandbox was given', () => {
    const header = createSigner({ now: () => 1_700_000_000_000 })(session, 'PUT', '/executions/exec_1?after=-1')
    const [version, timestamp, nonce, signature] = header.split(' ')
    expect([version, timestamp]).toEqual(['v1', '1700000000000'])
    expect(nonce).toMatch(/^[A-Za-z0-9_-]{16,}$/)
    const signed = stringToSign({ sandboxId: 'sbx_a', method: 'PUT', target: '/executions/exec_1?after=-1', timestamp: 1_700_000_000_000, nonce: nonce ?? '' })
    expect(signed).toBe(`cellblock-v1\nsbx_a\nPUT\n/executions/exec_1?after=-1\n1700000000000\n${nonce}`)
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: keys.publicKey }, format: 'jwk' })
    expect(verify(null, Buffer.from(signed), publicKey, Buffer.from(signature ?? '', 'base64url'))).toBe(true)
  })

  it('never uses a nonce twice', () => {
    const sign = createSigner({ now: () => 1 })
    expect(new Set(Array.from({ length: 500 }, () => sign(session, 'GET', '/files').split(' ')[2])).size).toBe(500)
  })

  it('takes Ed25519 keys only', () => {
    expect(Buffer.from(keys.publicKey, 'base64url')).toHaveLength(32)
    expect(() => parsePrivateKey('bm90IGEga2V5')).toThrow()
  })
})
