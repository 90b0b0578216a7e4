import { join } from 'node:path'
import { contentHash, exists, listFiles } from '../../infra/build/content-hash.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const INPUTS = ['docs', 'site/package-lock.json', 'site/.vitepress/config.mts', 'site/.vitepress/theme/index.ts']

/** The folder of the documentation as a static site, one per content, and whether it has been built. */
export async function findGuide(): Promise<{ readonly folder: string; readonly isBuilt: boolean }> {
  const hash = await contentHash(ROOT, await listFiles(ROOT, INPUTS))
  const folder = join(ROOT, '.cellblock', 'guide', hash.slice(0, 16))
  return { folder, isBuilt: await exists(join(folder, 'index.html')) }
}
