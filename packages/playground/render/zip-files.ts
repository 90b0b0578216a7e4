import { Zip, ZipPassThrough } from 'fflate'

/** Packs files, one after another, and saves the archive. Nothing is compressed: most data files are already. */
export async function zipFiles(files: readonly { readonly name: string; readonly url: string }[], archive: string): Promise<void> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error
    chunks.push(new Uint8Array(chunk))
  })
  for (const { name, url } of files) {
    const entry = new ZipPassThrough(safeName(name))
    zip.add(entry)
    const response = await fetch(url)
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`)
    const reader = response.body.getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) entry.push(next.value)
    entry.push(new Uint8Array(), true)
  }
  zip.end()
  const url = URL.createObjectURL(new Blob(chunks, { type: 'application/zip' }))
  const link = document.createElement('a')
  link.href = url
  link.download = archive
  link.click()
  URL.revokeObjectURL(url)
}

/** No entry leaves the folder into which a person unpacks the archive. */
const safeName = (name: string): string =>
  name
    .replaceAll('\\', '_')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    .join('/')
