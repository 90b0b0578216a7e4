import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import type { ApiClient, ExecutionAnswer } from '../sides/api-client.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const BYTES = 100 * 1024 * 1024

interface Upload {
  readonly id: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * 100 MB from the object store to /mnt/data and back: an execution that renames the uploaded file.
 * Compared with `cp` of such a file twice, and one PUT and one GET at the same object store.
 */
export const fileCopy: Bench = {
  name: 'file',
  title: 'a 100 MB file into and out of /mnt/data, beside cp twice + PUT + GET',
  async run({ isQuick, server }) {
    const bytes = randomBytes(BYTES)
    const folder = await mkdtemp(join(tmpdir(), 'cellblock-bench-file-'))
    const through: number[] = []
    const copies: number[] = []
    try {
      await writeFile(join(folder, 'source.bin'), bytes)
      for (let run = isQuick ? 0 : -1; run < (isQuick ? 2 : 8); run++) {
        const container = await server.api.createContainer()
        await server.api.run(container, PRINT)
        let fileId = ''
        const putMs = await timed(async () => (fileId = await upload(server.api, container, bytes)))
        const copyMs = await timed(() => copyTwice(folder))
        const throughMs = await timed(async () => checkFile(await server.api.run(container, "import os; os.rename('in.bin', 'out.bin')")))
        const getMs = await timed(() => server.api.download(`/v1/containers/${container}/files/${fileId}/content`))
        await server.api.deleteContainer(container)
        if (run < 0) continue
        through.push(throughMs)
        copies.push(copyMs + putMs + getMs)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    const figures = { file_ms: summarize('ms', through), copy_ms: summarize('ms', copies) }
    return { figures, ratios: { file_vs_copy: round(figures.file_ms.median / figures.copy_ms.median) } }
  },
}

async function upload(api: ApiClient, container: string, bytes: Uint8Array): Promise<string> {
  const target = await api.json<Upload>('POST', `/v1/containers/${container}/files/upload_url`, { path: 'in.bin', bytes: bytes.byteLength })
  await api.put(target.url, target.headers, bytes)
  await api.json('POST', `/v1/containers/${container}/files/${target.id}/complete`)
  return target.id
}

async function copyTwice(folder: string): Promise<void> {
  await cp(join(folder, 'source.bin'), join(folder, 'in.bin'))
  await cp(join(folder, 'in.bin'), join(folder, 'out.bin'))
}

function checkFile(answer: ExecutionAnswer): void {
  if (answer.files[0]?.bytes !== BYTES) throw new Error(`The file came back incomplete: ${JSON.stringify(answer.files)}`)
}
