import { LIMITS } from '../../../model/limits.ts'
import { createLink, linkDaysOf } from '../../../operations/links/create-link.ts'
import { newObjectKey } from '../../../model/object-keys.ts'
import { REF_MIME, refsOf, type MimeBundle, type Output } from '../../../model/executions/outputs.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { Table } from '../../../ports/table.ts'
import type { ImageOwner, LinkedImage } from './images.ts'

/** Parts of MIME bundles inside the item, characters in all. */
const MAX_OUTPUTS = 24 * 1024
/** Parts beyond this many are in the execution's own outputs only. */
const MAX_LINKS = 20
const BINARY = /^(image\/(?!svg\+xml)|audio\/|video\/|application\/(pdf|octet-stream|zip))/

interface PartLink {
  /** Null: it is in the outputs of the execution only. */
  readonly url: string | null
  readonly bytes: number
  readonly mime: string
  /** For `DELETE /v1/links/{id}`. */
  readonly link_id?: string
}

/** The displayed bundles: small parts unchanged, images and large parts as links under `cellblock/ref`, one or a list. */
export async function linkBundles(
  ports: { readonly table: Pick<Table, 'tenants' | 'links'>; readonly objects: ObjectStore; readonly clock: Clock },
  owner: ImageOwner,
  { outputs, images }: { readonly outputs: readonly Output[]; readonly images: readonly LinkedImage[] },
): Promise<readonly MimeBundle[]> {
  const now = ports.clock.now()
  let remaining = MAX_OUTPUTS
  let links = 0
  let days: number | null = null
  const link = async (mime: string, bytes: number, objectKey: () => string | Promise<string>): Promise<PartLink> => {
    if (links >= MAX_LINKS) return { url: null, bytes, mime }
    links += 1
    days ??= await linkDaysOf(ports.table.tenants, owner.tenant)
    const target = { objectKey: await objectKey(), filename: `output-${links}.${endingOf(mime)}`, mime, bytes }
    const made = await createLink(ports.table.links, { ...owner, fileId: null, target, days }, now)
    return { url: made.url, bytes, mime, link_id: made.id }
  }
  const store = async (mime: string, body: Buffer): Promise<string> => {
    const objectKey = newObjectKey(owner.tenant, 'outputs', owner.containerId)
    await ports.objects.put(objectKey, body, { contentType: mime })
    return objectKey
  }

  const bundles: MimeBundle[] = []
  for (const output of outputs) {
    if (!('data' in output)) continue
    const image = images.find((one) => one.output === output)
    const kept: Record<string, unknown> = {}
    const elsewhere: PartLink[] =
      image === undefined ? [] : [{ url: image.url, bytes: image.bytes, mime: image.mime, link_id: image.linkId }]
    for (const ref of refsOf(output.data))
      if (ref.mime !== image?.mime) elsewhere.push(await link(ref.mime, ref.bytes, () => ref.objectKey))
    for (const [mime, value] of Object.entries(output.data)) {
      if (mime === REF_MIME || mime === image?.mime) continue
      const size = JSON.stringify(value)?.length ?? 0
      if (!BINARY.test(mime) && size <= Math.min(remaining, LIMITS.maxInlineTextBytes)) {
        kept[mime] = value
        remaining -= size
        continue
      }
      const body = bodyOf(mime, value)
      elsewhere.push(await link(mime, body.length, () => store(mime, body)))
    }
    if (elsewhere.length > 0) kept[REF_MIME] = elsewhere.length === 1 ? elsewhere[0] : elsewhere
    if (Object.keys(kept).length > 0) bundles.push(kept)
  }
  return bundles
}

function bodyOf(mime: string, value: unknown): Buffer {
  const isText = typeof value === 'string' || (Array.isArray(value) && value.every((line) => typeof line === 'string'))
  const text = !isText ? JSON.stringify(value) : typeof value === 'string' ? value : value.join('')
  return Buffer.from(text, BINARY.test(mime) ? 'base64' : 'utf8')
}

/** File extension of a download: `png` for `image/png`, `json` for all JSON types. */
const endingOf = (mime: string): string =>
  mime.endsWith('json') ? 'json' : (/^[a-z]+\/([a-z0-9]{2,5})(?:\+xml)?$/.exec(mime)?.[1]?.replace('plain', 'txt') ?? 'bin')
