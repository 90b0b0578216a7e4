import { zipSync } from 'fflate'
import type { BundleFile } from '../../model/skills/bundle.ts'

const UNIX = 3
/** The archive does not depend on the time of the call. 1980 is the first year that zip knows. */
const MADE_AT = new Date(1980, 0, 1)

/** The files as a zip archive with one folder, without compression, because that would block other requests. */
export function writeArchive(folder: string, files: readonly BundleFile[]): Uint8Array<ArrayBuffer> {
  const entries = files.map(({ path, content, isExecutable }) => {
    const attrs = (isExecutable ? 0o100755 : 0o100644) << 16
    return [`${folder}/${path}`, [content, { level: 0, mtime: MADE_AT, os: UNIX, attrs }]] as const
  })
  return zipSync(Object.fromEntries(entries) as Parameters<typeof zipSync>[0])
}
