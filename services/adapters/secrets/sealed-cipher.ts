import { constants, generateKeyPair, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { SecretCipher } from '../../ports/secret-cipher.ts'
import { KEY_BYTES, openBox, sealBox } from './aes-gcm.ts'

const VERSION = 'v2'
const MODULUS_BITS = 3_072
const WRAPPED_BYTES = MODULUS_BITS / 8
const OAEP = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' } as const

/** PEM. */
export interface SealingKeys {
  readonly publicKey: string
  readonly privateKey: string
}

export const createSealingKeys = (): Promise<SealingKeys> =>
  promisify(generateKeyPair)('rsa', {
    modulusLength: MODULUS_BITS,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

/** Seals each value with a separate key, which only the owner of the private key can unwrap: a process that seals cannot open. */
export const createSealingCipher = (publicKey: () => Promise<string>): Pick<SecretCipher, 'seal'> => ({
  async seal(value, context) {
    const key = randomBytes(KEY_BYTES)
    const wrapped = publicEncrypt({ ...OAEP, key: await publicKey() }, key)
    return `${VERSION}.${Buffer.concat([wrapped, sealBox(key, value, context)]).toString('base64url')}`
  },
})

export const createOpeningCipher = (privateKey: string): Pick<SecretCipher, 'open'> => ({
  async open(sealed, context) {
    const [version, text = ''] = sealed.split('.')
    if (version !== VERSION) throw new Error('A stored secret has an unknown form')
    const bytes = Buffer.from(text, 'base64url')
    const key = privateDecrypt({ ...OAEP, key: privateKey }, bytes.subarray(0, WRAPPED_BYTES))
    return openBox(key, bytes.subarray(WRAPPED_BYTES), context)
  },
})
