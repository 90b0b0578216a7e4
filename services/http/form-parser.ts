import type { BusboyConfig, BusboyInstance } from '@fastify/busboy'

/**
 * Makes the parser of a form. A part `namelessFile` is a file without a file name too. Throws what the parser throws for a media type that names no
 * boundary.
 */
type FormParser = (
  request: Request,
  options: {
    readonly limits: Pick<NonNullable<BusboyConfig['limits']>, 'files' | 'fileSize' | 'fieldSize' | 'parts'>
    readonly namelessFile?: string | null
  },
) => BusboyInstance

/** Loaded with the first form, because few calls send one. */
export async function loadFormParser(): Promise<FormParser> {
  // CommonJS: in the bundle of a function its only export is the default.
  const { default: busboy } = await import('@fastify/busboy')
  return (request, { limits, namelessFile = null }) =>
    new busboy.Busboy({
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      // Rules for paths decide about the folders in a name; none is removed silently.
      preservePath: true,
      isPartAFile: (name, contentType, fileName) =>
        fileName !== undefined || contentType === 'application/octet-stream' || (namelessFile !== null && name === namelessFile),
      limits: { ...limits, fields: 8, fieldNameSize: 100, headerPairs: 20, headerSize: 16 * 1024 },
    })
}
