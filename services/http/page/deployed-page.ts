import { hkdfSync } from 'node:crypto'
import type { ObjectStore } from '../../ports/object-store.ts'
import { PAGE_PREFIX } from '../origin/config.ts'
import { isPageFile, pageContentType } from './page-content-type.ts'
import type { PagePorts } from '../page-ports.ts'

const SECRET_BYTES = 32

/**
 * The playground of a deployment: its files are in the bucket of the site, and the secret of its sessions is derived from the origin secret.
 * There is no sign-in link: people sign in with an API key. `objectOrigin` is where presigned links lead.
 */
export function deployedPage(options: {
  readonly site: Pick<ObjectStore, 'get'>
  readonly originSecret: () => Promise<string>
  readonly objectOrigin: string
}): PagePorts {
  let secret: Promise<Uint8Array> | null = null
  return {
    async readFile(path) {
      const found = isPageFile(path) ? await options.site.get(`${PAGE_PREFIX}${path}`) : null
      if (found === null) return null
      const chunks: Uint8Array[] = []
      for await (const chunk of found.body) chunks.push(chunk)
      return { bytes: new Uint8Array(Buffer.concat(chunks)), contentType: pageContentType(path) }
    },
    sessionSecret: () => {
      secret ??= options.originSecret().then(
        (key) => new Uint8Array(hkdfSync('sha256', key, '', 'page sessions', SECRET_BYTES)),
        (error: unknown) => {
          secret = null
          throw error
        },
      )
      return secret
    },
    redeemSignIn: () => null,
    objectOrigins: [options.objectOrigin],
  }
}
