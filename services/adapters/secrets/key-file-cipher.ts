import { randomBytes } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import type { SecretCipher } from '../../ports/secret-cipher.ts'
import { KEY_BYTES, openBox, sealBox } from './aes-gcm.ts'

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
    seal: async (value, context) => `${VERSION}.${sealBox(await read(true), value, context).toString('base64url')}`,
    async open(sealed, context) {
      const [version, text = ''] = sealed.split('.')
      if (version !== VERSION) throw new Error('A stored secret has an unknown form')
      return openBox(await read(false), Buffer.from(text, 'base64url'), context)
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
