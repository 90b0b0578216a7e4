import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiClient } from './api-client.ts'
import { CliError } from './errors.ts'
import type { Io } from './io.ts'
import { plainText } from './plain-text.ts'
import { progressLine } from './progress-bar.ts'

const DATA = '/mnt/data/'

/**
 * Copies a local file into a container, under its own name in /mnt/data unless `target` names another path, and shows progress in a terminal.
 * Answers with the path in the container.
 */
export async function uploadFile(
  api: ApiClient,
  {
    container,
    file,
    io,
    target = basename(file),
  }: { readonly container: string; readonly file: string; readonly io: Io; readonly target?: string },
): Promise<string> {
  const path = resolve(io.folder, file)
  const found = await stat(path).catch((cause: unknown) => {
    throw new CliError(`${file} cannot be read. Check its name.`, { cause })
  })
  if (!found.isFile()) throw new CliError(`${file} is not a regular file. Name a file; put a folder into an archive first.`)
  const files = `/v1/containers/${encodeURIComponent(container)}/files`
  const upload = (await api.call('POST', `${files}/upload_url`, { path: target, bytes: found.size })) as {
    readonly id: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
  }
  await putFile(upload.url, {
    headers: upload.headers,
    path,
    bytes: found.size,
    progress: progressOf(io, `upload ${plainText(target)}`, found.size),
  })
  await api.call('POST', `${files}/${upload.id}/complete`, {})
  return `${DATA}${target.replace(/^\/mnt\/data\//, '')}`
}

/** `fetch` sends streams in chunks without a length, and signed URLs need one. */
async function putFile(
  url: string,
  {
    headers,
    path,
    bytes,
    progress,
  }: { readonly headers: Readonly<Record<string, string>>; readonly path: string; readonly bytes: number; readonly progress: Transform },
): Promise<void> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  const request = send(url, { method: 'PUT', headers: { ...headers, 'content-length': String(bytes) } })
  const answered = new Promise<number>((onAnswer, onError) => {
    request.once('response', (response) => {
      response.resume()
      response.once('end', () => onAnswer(response.statusCode ?? 0))
      response.once('error', onError)
    })
    request.once('error', onError)
  })
  await pipeline(createReadStream(path), progress, request).catch(() => undefined)
  const status = await answered.catch((cause: unknown) => {
    throw new CliError('The connection was lost during the upload. Try again.', { cause })
  })
  if (status >= 300) throw new CliError(`The object store refused the upload with HTTP ${status}. Try again.`)
}

/** Writes a file of a container below `folder`, with the folders of its path, and answers with the local path. */
export async function downloadFile(
  api: ApiClient,
  {
    container,
    file,
    folder,
  }: { readonly container: string; readonly file: { readonly id: string; readonly path: string }; readonly folder: string },
): Promise<string> {
  const target = localPath(folder, file.path)
  await mkdir(dirname(target), { recursive: true })
  const content = await api.bytes(`/v1/containers/${encodeURIComponent(container)}/files/${file.id}/content`)
  await pipeline(content, createWriteStream(target))
  return target
}

/** A path of the sandbox is untrusted and must stay below the folder. */
function localPath(folder: string, path: string): string {
  const relative = path.startsWith(DATA) ? path.slice(DATA.length) : path
  const target = resolve(join(folder, relative))
  if (!target.startsWith(resolve(folder) + sep))
    throw new CliError(
      `The file name ${JSON.stringify(path)} leads out of the output folder, so it was not written. Rename the file in the container and download it again.`,
    )
  return target
}

const REDRAW_MS = 100

/** Counts bytes and, in a terminal, draws how much has passed and the time left. */
function progressOf(io: Io, label: string, total: number): Transform {
  const startedAt = performance.now()
  let done = 0
  let drawnAt = Number.NEGATIVE_INFINITY
  let width = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      done += chunk.length
      const now = performance.now()
      if (io.isTerminal && (done >= total || now - drawnAt >= REDRAW_MS)) {
        drawnAt = now
        const line = progressLine(label, { done, total, elapsedSeconds: (now - startedAt) / 1000 })
        // Spaces replace the rest of a longer line: the output filter removes sequences that clear it.
        width = Math.max(width, line.length)
        io.note(`\r${line.padEnd(width)}${done >= total ? '\n' : ''}`)
      }
      next(null, chunk)
    },
  })
}
