import { zipSync } from 'fflate'
import { readBytes } from '../../core/read-bytes.ts'
import { readBundle, type BundleFile } from '../../core/skills/bundle.ts'
import type { SkillVersion } from '../../core/skills/skill.ts'
import type { ApiDeps } from '../deps.ts'

const UNIX = 3
/** The archive does not depend on the time of the call. 1980 is the first year that zip knows. */
const MADE_AT = new Date(1980, 0, 1)

/** The files of a stored version; null when its bytes were deleted. */
export async function readSkillFiles(
  { objects }: Pick<ApiDeps, 'objects'>,
  { objectKey }: Pick<SkillVersion, 'objectKey'>,
): Promise<readonly BundleFile[] | null> {
  const object = await objects.get(objectKey)
  return object === null ? null : readBundle(await readBytes(object.body))
}

/** A version as a zip archive with one folder, without compression, because that would block other requests. Null when its bytes were deleted. */
export async function zipSkill(
  deps: Pick<ApiDeps, 'objects' | 'results'>,
  version: Pick<SkillVersion, 'objectKey' | 'bytes' | 'name'>,
): Promise<Uint8Array<ArrayBuffer> | null> {
  // The files and the archive are in memory together.
  return deps.results.hold(2 * version.bytes, async () => {
    const files = await readSkillFiles(deps, version)
    if (files === null) return null
    const entries = files.map(({ path, content, isExecutable }) => {
      const attrs = (isExecutable ? 0o100755 : 0o100644) << 16
      return [`${version.name}/${path}`, [content, { level: 0, mtime: MADE_AT, os: UNIX, attrs }]] as const
    })
    return zipSync(Object.fromEntries(entries) as Parameters<typeof zipSync>[0])
  })
}
