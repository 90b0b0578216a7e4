import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './bundle-function.ts'

/** What the tasks run, by its folder in the image. */
const ENTRIES = { '.': 'services/entries/aws/api/upload-server.ts', gateway: 'services/entries/aws/gateway/main.ts' } as const
const DOCKERFILE = join(PROJECT, 'infra', 'upload-image', 'Dockerfile')
const CACHE = join(PROJECT, '.cellblock')

/**
 * The build context of the image of the tasks: the Dockerfile and, if `isBundled`, upload service and network gateway with all their packages. Docker only copies
 * files, so an arm64 image builds on every machine.
 */
export function uploadImageContext({ isBundled }: { readonly isBundled: boolean }): { readonly folder: string; remove(): void } {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'upload-image-'))
  cpSync(DOCKERFILE, join(folder, 'Dockerfile'))
  for (const [part, entry] of isBundled ? Object.entries(ENTRIES) : [])
    execFileSync(process.execPath, [join(import.meta.dirname, 'main.ts'), entry, join(folder, part)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
