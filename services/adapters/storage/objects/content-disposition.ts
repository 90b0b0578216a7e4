/**
 * `attachment` with a file name. Old clients read the ASCII form, other clients the RFC 5987 form. In neither can a name end its quotes or start a new
 * header.
 */
export function attachment(filename: string): string {
  const name = filename.toWellFormed()
  const ascii = name.replace(/[^\x20-\x7e]|["\\%;]/g, '_')
  const extended = encodeURIComponent(name).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extended}`
}
