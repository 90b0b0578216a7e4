import { readBytes } from '../../core/read-bytes.ts'
import { readBundle, type BundleFile } from '../../core/skills/bundle.ts'
import type { SkillVersion } from '../../core/skills/skill.ts'
import type { ApiDeps } from '../deps.ts'

/** The files of a stored version; null when its bytes were deleted. */
export async function readSkillFiles(
  { objects }: Pick<ApiDeps, 'objects'>,
  { objectKey }: Pick<SkillVersion, 'objectKey'>,
): Promise<readonly BundleFile[] | null> {
  const object = await objects.get(objectKey)
  return object === null ? null : readBundle(await readBytes(object.body))
}

/** A version as a zip archive with one folder. Null when its bytes were deleted. */
export async function zipSkill(
  deps: Pick<ApiDeps, 'objects' | 'results'>,
  version: Pick<SkillVersion, 'objectKey' | 'bytes' | 'name'>,
): Promise<Uint8Array<ArrayBuffer> | null> {
  // The files and the archive are in memory together.
  return deps.results.hold(2 * version.bytes, async () => {
    const files = await readSkillFiles(deps, version)
    if (files === null) return null
    // Few calls download a skill, so the writer of zip archives is loaded with the first one.
    const { writeArchive } = await import('./write-archive.ts')
    return writeArchive(version.name, files)
  })
}
