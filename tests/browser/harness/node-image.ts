import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'

/** An image of one test run, made of the image `base` and the Node of this machine: the small image has no JavaScript. */
export interface NodeImage {
  readonly reference: string
  remove(): Promise<void>
}

/** Rejects with the engine's output. */
export async function buildNodeImage(base: string): Promise<NodeImage> {
  const reference = `cellblock-browser-node:${process.pid}`
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-node-image-'))
  try {
    await copyFile(process.execPath, join(folder, 'node'))
    await writeFile(join(folder, 'Dockerfile'), `FROM ${base}\nUSER root\nCOPY node /usr/local/bin/node\n`)
    const built = await runCommand('docker', ['build', '--quiet', '--force-rm', '--tag', reference, folder])
    if (built.code !== 0) throw explainFailure('The image with Node.js could not be built.', built)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return { reference, remove: async () => void (await runCommand('docker', ['image', 'rm', reference])) }
}
