import { expect, it } from 'vitest'
import { createOpeningCipher, createSealingCipher, createSealingKeys } from '../../../services/adapters/secrets/sealed-cipher.ts'

const VALUE = 'sk-test-0123456789'

it('a value that was sealed with the public key can be opened by the private key only, for its context, unchanged', async () => {
  const [keys, others] = await Promise.all([createSealingKeys(), createSealingKeys()])
  const { seal } = createSealingCipher(async () => keys.publicKey)
  const sealed = await seal(VALUE, 'tnt_a/KEY')
  const { open } = createOpeningCipher(keys.privateKey)
  expect(await open(sealed, 'tnt_a/KEY')).toBe(VALUE)
  expect(sealed).not.toContain(Buffer.from(VALUE).toString('base64url').slice(0, 10))
  expect(await seal(VALUE, 'tnt_a/KEY')).not.toBe(sealed)
  await expect(open(sealed, 'tnt_b/KEY')).rejects.toThrow()
  await expect(createOpeningCipher(others.privateKey).open(sealed, 'tnt_a/KEY')).rejects.toThrow()
  expect(() => createOpeningCipher(keys.publicKey)).not.toThrow()
  await expect(createOpeningCipher(keys.publicKey).open(sealed, 'tnt_a/KEY')).rejects.toThrow()
  const at = sealed.length - 2
  await expect(open(sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1), 'tnt_a/KEY')).rejects.toThrow()
  await expect(open(`v1.${sealed.slice(3)}`, 'tnt_a/KEY')).rejects.toThrow('unknown form')
  await expect(open('v2.AAAA', 'tnt_a/KEY')).rejects.toThrow()
})
