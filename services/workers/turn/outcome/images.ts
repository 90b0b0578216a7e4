import { createLink, linkDaysOf } from '../../../operations/links/create-link.ts'
import { newObjectKey } from '../../../model/object-keys.ts'
import { refsOf, type MimeBundle, type Output } from '../../../model/executions/outputs.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { Table } from '../../../ports/table.ts'

/** Maximum number of images of one call; further ones are in the execution's outputs only. */
const MAX_IMAGES = 20
const ENDINGS = { 'image/png': 'png', 'image/jpeg': 'jpg' } as const
type ImageMime = keyof typeof ENDINGS

export interface ImageOwner {
  readonly tenant: string
  readonly containerId: string
  readonly publicUrl: string
}

/** An image of one output, with its link. */
export interface LinkedImage {
  readonly output: Output
  readonly linkId: string
  readonly url: string
  readonly mime: string
  readonly objectKey: string
  readonly bytes: number
}

/** Creates a link for every displayed PNG and JPEG; inline ones are stored as objects first. */
export async function linkImages(
  ports: { readonly table: Pick<Table, 'tenants' | 'links'>; readonly objects: ObjectStore; readonly clock: Clock },
  owner: ImageOwner,
  outputs: readonly Output[],
): Promise<readonly LinkedImage[]> {
  const found = outputs
    .flatMap((output) => ('data' in output ? imagesIn(output.data).map((image) => ({ output, image })) : []))
    .slice(0, MAX_IMAGES)
  if (found.length === 0) return []
  const now = ports.clock.now()
  const days = await linkDaysOf(ports.table.tenants, owner.tenant)
  return Promise.all(
    found.map(async ({ output, image }, i) => {
      const objectKey = 'objectKey' in image ? image.objectKey : newObjectKey(owner.tenant, 'outputs', owner.containerId)
      if ('body' in image) await ports.objects.put(objectKey, image.body, { contentType: image.mime })
      const bytes = 'body' in image ? image.body.length : image.bytes
      const target = { objectKey, filename: `image-${i + 1}.${ENDINGS[image.mime]}`, mime: image.mime, bytes }
      const { id, url } = await createLink(ports.table.links, { ...owner, fileId: null, target, days }, now)
      return { output, linkId: id, url, mime: image.mime, objectKey, bytes }
    }),
  )
}

type Found = { readonly mime: ImageMime } & ({ readonly body: Uint8Array } | { readonly objectKey: string; readonly bytes: number })

/** One image per bundle: a bundle contains the same content in several formats. */
function imagesIn(bundle: MimeBundle): Found[] {
  for (const mime of Object.keys(ENDINGS) as ImageMime[]) {
    const inline = bundle[mime]
    if (typeof inline === 'string' || Array.isArray(inline))
      return [{ mime, body: Buffer.from(Array.isArray(inline) ? inline.join('') : inline, 'base64') }]
    const ref = refsOf(bundle).find((one) => one.mime === mime)
    if (ref !== undefined) return [{ mime, objectKey: ref.objectKey, bytes: ref.bytes }]
  }
  return []
}
