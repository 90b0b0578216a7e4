import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import type { SecretCipher } from '../../ports/secret-cipher.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'v1'

/**
 * AES-256-GCM with a key in a file that only the server's user may read. The file is made when the first secret is sealed; it is not part of a
 * backup of rows, so rows alone disclose nothing.
 */
export function createKeyFileCipher(file: string): SecretCipher {
  let key: Promise<Buffer> | null = null
  const read = (mayCreate: boolean): Promise<Buffer> => {
    key ??= readKey(file, mayCreate).catch((error: unknown) => {
      key = null
      throw error
    })
    return key
  }
  return {
    async seal(value, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', await read(true), nonce).setAAD(Buffer.from(context))
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`
    },
    async open(sealed, context) {
      const [version, text = ''] = sealed.split('.')
      const bytes = Buffer.from(text, 'base64url')
      if (version !== VERSION || bytes.byteLength < NONCE_BYTES + TAG_BYTES) throw new Error('A stored secret has an unknown form')
      const decipher = createDecipheriv('aes-256-gcm', await read(false), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    },
  }
}

async function readKey(file: string, mayCreate: boolean): Promise<Buffer> {
  const known = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (known === null) {
    if (!mayCreate) throw new Error(`The key of the secrets, ${file}, is missing. Restore it from a backup, or store the secrets again.`)
    return createKey(file)
  }
  if (known.byteLength !== KEY_BYTES)
    throw new Error(`The key of the secrets, ${file}, has ${known.byteLength} bytes and not ${KEY_BYTES}.`)
  if (((await stat(file)).mode & 0o077) !== 0)
    throw new Error(`The key of the secrets, ${file}, is accessible to other users. Withdraw their access: chmod 600 ${file}`)
  return known
}

/** Exclusive: a second process reads the first one's key. */
async function createKey(file: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES)
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null
    throw error
  })
  if (handle === null) return readKey(file, false)
  try {
    await handle.writeFile(key)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return key
}
