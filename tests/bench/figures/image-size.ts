import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import type { Bench } from '../bench.ts'
import { docker } from '../sides/docker.ts'
import { round, summarize } from '../statistics.ts'

const CACHE = join(import.meta.dirname, '../../../.cellblock/bench')
/** Of zstd. */
const DEFAULT_LEVEL = 3
/** Far above the window of any level, so that blocks cost hardly any size. */
const BLOCK_BYTES = 64 * 1024 * 1024

const compress = promisify(zstdCompress)

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

/**
 * Compresses blocks side by side, each as a separate frame; zstd allows several frames in a file. The workers of zstd itself end with an error in
 * Node (nodejs/node#59899).
 */
async function compressedBytes(image: string, level: number): Promise<number> {
  const params = { [constants.ZSTD_c_compressionLevel]: level }
  const running = new Set<Promise<void>>()
  let bytes = 0
  for await (const block of blocksOf(await docker.getImage(image).get())) {
    if (running.size >= availableParallelism()) await Promise.race(running)
    const task: Promise<void> = compress(block, { params })
      .then(({ byteLength }) => void (bytes += byteLength))
      .finally(() => running.delete(task))
    running.add(task)
  }
  await Promise.all(running)
  return bytes
}

async function* blocksOf(stream: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  let [parts, size]: [Buffer[], number] = [[], 0]
  for await (const chunk of stream) {
    const part = Buffer.from(chunk)
    parts.push(part)
    size += part.byteLength
    if (size < BLOCK_BYTES) continue
    yield Buffer.concat(parts)
    ;[parts, size] = [[], 0]
  }
  if (size > 0) yield Buffer.concat(parts)
}
