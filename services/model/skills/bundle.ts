import * as z from 'zod'
import { LIMITS } from '../limits.ts'

export interface BundleFile {
  /** Relative to the skill's folder, normalized. */
  readonly path: string
  readonly isExecutable: boolean
  readonly content: Uint8Array
}

const indexSchema = z.object({
  v: z.literal(1),
  files: z.array(z.object({ path: z.string(), bytes: z.int().nonnegative(), executable: z.boolean() })).max(LIMITS.maxSkillFiles),
})

/**
 * The stored form of a skill: one line of JSON that lists the files, then their bytes in that order, uncompressed. A user's archive is read once, when it
 * arrives; workers and sandboxes read this form only, which has no links, no compression and no names that were not checked.
 */
export function writeBundle(files: readonly BundleFile[]): Uint8Array {
  const index = {
    v: 1,
    files: files.map(({ path, isExecutable, content }) => ({ path, bytes: content.byteLength, executable: isExecutable })),
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...files.map(({ content }) => content)])
}

/** Throws for bytes that `writeBundle` did not write. */
export function readBundle(bundle: Buffer): BundleFile[] {
  const end = bundle.indexOf('\n')
  const { files } = indexSchema.parse(JSON.parse(bundle.toString('utf8', 0, end)))
  let at = end + 1
  return files.map(({ path, bytes, executable }) => {
    const content = bundle.subarray(at, (at += bytes))
    if (content.byteLength !== bytes) throw new Error('The bundle of a skill is shorter than its index says')
    return { path, isExecutable: executable, content }
  })
}
