import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './bundle-function.ts'

const ENTRY = 'services/entries/aws/api/upload-server.ts'
const DOCKERFILE = join(PROJECT, 'infra', 'upload-image', 'Dockerfile')
const CACHE = join(PROJECT, '.cellblock')

/**
 * The build context of the upload service's image: the Dockerfile and, if `isBundled`, the server with all its packages. Docker only copies
 * files, so an arm64 image builds on every machine.
 */
export function uploadImageContext({ isBundled }: { readonly isBundled: boolean }): { readonly folder: string; remove(): void } {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'upload-image-'))
  cpSync(DOCKERFILE, join(folder, 'Dockerfile'))
  if (isBundled)
    execFileSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ENTRY, folder], { stdio: ['ignore', 'ignore', 'inherit'] })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
