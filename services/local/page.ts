import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { PageFile, PagePorts } from '../api/page/ports.ts'

const SECRET_FILE = 'session-secret'
const SECRET_BYTES = 32
/** The sign-in link works once, and for this long after the start, milliseconds. */
const LINK_MS = 60 * 60 * 1000

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.csv': 'text/csv; charset=utf-8',
}

export interface LocalPage {
  readonly ports: PagePorts
  /** Opens the page signed in, once. The token is in the fragment, which browsers do not send. Null: this server has no page. */
  readonly signInUrl: (serverUrl: string) => string | null
}

/** The playground of a local server: its built files, its session secret and its sign-in link. `folder` is null when the page was not built. */
export async function openLocalPage(options: {
  readonly folder: string | null
  readonly dataDir: string | null
  readonly apiKey: string
  readonly now?: () => number
}): Promise<LocalPage> {
  const { folder, dataDir, apiKey, now = Date.now } = options
  const secret = dataDir === null ? randomBytes(SECRET_BYTES) : await keptSecret(join(dataDir, SECRET_FILE))
  const expiresAt = now() + LINK_MS
  let token: string | null = randomBytes(32).toString('base64url')
  const firstToken = token
  return {
    ports: {
      readFile: folder === null ? null : (path) => readPageFile(folder, path),
      sessionSecret: async () => secret,
      redeemSignIn: (given) => {
        if (token === null || now() > expiresAt || !isEqual(given, token)) return null
        token = null
        return apiKey
      },
      objectOrigins: [],
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

/** Only names of one segment, and `assets/` before one: nothing outside the folder. */
async function readPageFile(folder: string, path: string): Promise<PageFile | null> {
  if (!/^(?:assets\/)?[\w-]+(?:\.[\w-]+)+$/.test(path)) return null
  const bytes = await readFile(join(folder, path)).catch(() => null)
  return bytes === null ? null : { bytes: new Uint8Array(bytes), contentType: CONTENT_TYPES[extname(path)] ?? 'application/octet-stream' }
}

function isEqual(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}
