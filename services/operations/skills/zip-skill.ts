import { readBytes } from '../../model/read-bytes.ts'
import { readBundle, type BundleFile } from '../../model/skills/bundle.ts'
import type { SkillVersion } from '../../model/skills/skill.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { ResultBudget } from '../executions/result-budget.ts'

/** The files of a stored version; null when its bytes were deleted. */
export async function readSkillFiles(
  { objects }: { readonly objects: ObjectStore },
  { objectKey }: Pick<SkillVersion, 'objectKey'>,
): Promise<readonly BundleFile[] | null> {
  const object = await objects.get(objectKey)
  return object === null ? null : readBundle(await readBytes(object.body))
}

/** A version as a zip archive with one folder. Null when its bytes were deleted. */
export async function zipSkill(
  deps: { readonly objects: ObjectStore; readonly results: ResultBudget },
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
