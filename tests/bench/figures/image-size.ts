import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { constants, createZstdCompress } from 'node:zlib'
import type { Bench } from '../bench.ts'
import { docker } from '../sides/docker.ts'
import { round, summarize } from '../statistics.ts'

const CACHE = join(import.meta.dirname, '../../../.cellblock/bench')
/** Of zstd. */
const DEFAULT_LEVEL = 3

/** The download size of the image: its layers compressed with zstd at the default level. */
export const imageSize: Bench = {
  name: 'image',
  title: 'size of the sandbox image, zstd-compressed',
  async run({ image }) {
    const figure = summarize('MB', [await zstdMegabytes(image, DEFAULT_LEVEL)])
    return { figures: { image: figure }, ratios: { image_mb: round(figure.median) } }
  },
}

/** Megabytes of the image's layers, compressed with zstd at this level. The result is cached per image and level. */
export async function zstdMegabytes(image: string, level: number): Promise<number> {
  const { Id } = await docker.getImage(image).inspect()
  const path = join(CACHE, `image-bytes-${Id.replace('sha256:', '').slice(0, 12)}-${level}`)
  const known = await readFile(path, 'utf8').catch(() => null)
  if (known !== null) return Number(known) / 1e6
  const bytes = await compressedBytes(image, level)
  await mkdir(CACHE, { recursive: true })
  await writeFile(path, String(bytes))
  return bytes / 1e6
}

async function compressedBytes(image: string, level: number): Promise<number> {
  const params = { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_nbWorkers]: availableParallelism() }
  const saved = await docker.getImage(image).get()
  let bytes = 0
  for await (const chunk of saved.pipe(createZstdCompress({ params }))) bytes += (chunk as Uint8Array).byteLength
  return bytes
}
