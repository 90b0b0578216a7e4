import { Zip, ZipPassThrough } from 'fflate'
import type { BundleFile } from '../../model/skills/bundle.ts'

const UNIX = 3
/** The archive does not depend on the time of the call. 1980 is the first year that zip knows. */
const MADE_AT = new Date(1980, 0, 1)

/** The files as a zip archive with one folder, without compression, because that would block other requests. */
export function writeArchive(folder: string, files: readonly BundleFile[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = []
  const archive = new Zip((error, part) => {
    if (error !== null) throw error
    parts.push(part)
  })
  for (const { path, content, isExecutable } of files) {
    const attrs = (isExecutable ? 0o100755 : 0o100644) << 16
    const entry = Object.assign(new ZipPassThrough(`${folder}/${path}`), { mtime: MADE_AT, os: UNIX, attrs })
    archive.add(entry)
    entry.push(content, true)
  }
  archive.end()
  return new Uint8Array(Buffer.concat(parts))
}
