import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { contentHash, exists, listFiles } from './content-hash.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const INPUTS = ['packages/playground', 'infra/build/build-playground.ts', 'examples/quickstart/sales.csv', 'package-lock.json']

/** The folder of the web page for the present sources. Builds it when they changed: about a second. */
export async function ensurePlayground(progress: (line: string) => void): Promise<string> {
  const parent = join(ROOT, '.cellblock', 'playground')
  const hash = await contentHash(ROOT, await listFiles(ROOT, INPUTS))
  const folder = join(parent, hash.slice(0, 16))
  if (await exists(join(folder, 'manifest.json'))) return folder
  progress('building')
  const { buildPlayground } = await import('./build-playground.ts')
  await mkdir(parent, { recursive: true })
  const temporary = await mkdtemp(join(parent, 'build-'))
  try {
    await buildPlayground(temporary)
    await rename(temporary, folder)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    // Another process has built the same content.
    if (!(await exists(join(folder, 'manifest.json')))) throw error
  }
  return folder
}
