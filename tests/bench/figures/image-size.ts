import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createZstdCompress } from 'node:zlib'
import type { Bench } from '../bench.ts'
import { docker } from '../sides/docker.ts'
import { round, summarize } from '../statistics.ts'

const CACHE = join(import.meta.dirname, '../../../.cellblock/bench')

/** The download size of the image: its layers compressed with zstd at the default level. The result is cached per image. */
export const imageSize: Bench = {
  name: 'image',
  title: 'size of the sandbox image, zstd-compressed',
  async run({ image }) {
    const { Id } = await docker.getImage(image).inspect()
    const path = join(CACHE, `image-bytes-${Id.replace('sha256:', '').slice(0, 12)}`)
    const known = await readFile(path, 'utf8').catch(() => null)
    const bytes = known === null ? await compressedBytes(image) : Number(known)
    if (known === null) {
      await mkdir(CACHE, { recursive: true })
      await writeFile(path, String(bytes))
    }
    const figure = summarize('MB', [bytes / 1e6])
    return { figures: { image: figure }, ratios: { image_mb: round(figure.median) } }
  },
}

async function compressedBytes(image: string): Promise<number> {
  const saved = await docker.getImage(image).get()
  let bytes = 0
  for await (const chunk of saved.pipe(createZstdCompress())) bytes += (chunk as Uint8Array).byteLength
  return bytes
}
