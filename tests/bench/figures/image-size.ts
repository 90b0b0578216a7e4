import { createZstdCompress } from 'node:zlib'
import { docker } from '../sides/docker.ts'
import type { Bench } from '../bench.ts'
import { round, summarize } from '../statistics.ts'

/** What a fresh machine pulls: the image's layers, compressed with zstd at its default level. */
export const imageSize: Bench = {
  name: 'image',
  title: 'size of the sandbox image, zstd-compressed',
  async run({ image }) {
    const saved = await docker.getImage(image).get()
    let bytes = 0
    for await (const chunk of saved.pipe(createZstdCompress())) bytes += (chunk as Uint8Array).byteLength
    const figure = summarize('MB', [bytes / 1e6])
    return { figures: { image: figure }, ratios: { image_mb: round(figure.median) } }
  },
}
