import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSameSecret } from '../../model/same-secret.ts'
import { isPageFile, pageContentType } from '../../http/page/page-content-type.ts'
import type { PageFile, PagePorts } from '../../http/page-ports.ts'

const SECRET_FILE = 'session-secret'
const SECRET_BYTES = 32
/** Validity of the sign-in link after the start, milliseconds; it works once. */
const LINK_MS = 60 * 60 * 1000

export interface LocalPage {
  readonly ports: PagePorts
  /** Opens the page signed in, once. The token is in the fragment, which browsers do not send. Null: this server has no page. */
  readonly signInUrl: (serverUrl: string) => string | null
}

/** The playground of a local server: its built files, its session secret and its sign-in link. `folder` is null when the page was not built. */
export async function openLocalPage(options: {
  readonly folder: string | null
  /** Null or absent: the documentation was not built. */
  readonly guideFolder?: string | null
  readonly dataDir: string | null
  readonly apiKey: string
  /** Origins of ports, as a policy has them. */
  readonly frameOrigins?: readonly string[]
  readonly now?: () => number
}): Promise<LocalPage> {
  const { folder, guideFolder = null, dataDir, apiKey, frameOrigins = [], now = Date.now } = options
  const secret = dataDir === null ? randomBytes(SECRET_BYTES) : await keptSecret(join(dataDir, SECRET_FILE))
  const expiresAt = now() + LINK_MS
  let token: string | null = randomBytes(32).toString('base64url')
  const firstToken = token
  return {
    ports: {
      readFile: folder === null ? null : (path) => readPageFile(folder, path),
      readGuide: guideFolder === null ? null : (path) => readGuideFile(guideFolder, path),
      sessionSecret: async () => secret,
      redeemSignIn: (given) => {
        if (token === null || now() > expiresAt || !isSameSecret(given, token)) return null
        token = null
        return apiKey
      },
      objectOrigins: [],
      frameOrigins,
    },
    signInUrl: (serverUrl) => (folder === null ? null : `${serverUrl}/#sign-in=${firstToken}`),
  }
}

/** Sessions outlive a restart of a server with a data folder. */
async function keptSecret(path: string): Promise<Uint8Array> {
  const kept = await readFile(path).catch(() => null)
  if (kept?.length === SECRET_BYTES) return kept
  const secret = randomBytes(SECRET_BYTES)
  await writeFile(path, secret, { mode: 0o600 })
  return secret
}

async function readPageFile(folder: string, path: string): Promise<PageFile | null> {
  if (!isPageFile(path)) return null
  const bytes = await readFile(join(folder, path)).catch(() => null)
  return bytes === null ? null : { bytes: new Uint8Array(bytes), contentType: pageContentType(path) }
}

/** Segments that begin with a letter, a digit, `_` or `@`: nothing outside the folder, and no hidden file. */
async function readGuideFile(folder: string, path: string): Promise<PageFile | null> {
  if (!/^(?:[\w@][\w@.-]*\/)*[\w@][\w@.-]*$/.test(path)) return null
  const bytes = await readFile(join(folder, path)).catch(() => null)
  return bytes === null ? null : { bytes: new Uint8Array(bytes), contentType: pageContentType(path) }
}
