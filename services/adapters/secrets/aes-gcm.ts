import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM: nonce, tag and text. The context is authenticated and not stored. */
export function sealBox(key: Buffer, value: string, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

/** Throws when the key or the context is another one, or the bytes were changed. */
export function openBox(key: Buffer, box: Buffer, context: string): string {
  if (box.byteLength < NONCE_BYTES + TAG_BYTES) throw new Error('A stored secret has an unknown form')
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context)).setAuthTag(box.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
}
