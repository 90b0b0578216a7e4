import { posix } from 'node:path'
import { Readable } from 'node:stream'
import type { Container } from '../model/containers/container.ts'
import { ServiceError } from '../model/errors.ts'
import type { ContainerFile } from '../model/files/file.ts'
import type { RunContext } from '../operations/executions/run-code.ts'
import { currentFiles } from '../operations/files/find-by-path.ts'
import { readRange } from '../operations/files/sandbox-files.ts'
import { syncSandbox } from '../operations/files/sandbox-input.ts'
import type { SandboxPath } from '../operations/files/sandbox-path.ts'
import { objectAnswer } from './object-answer.ts'
import { runContext, type Call } from './route.ts'

/** Maximum size of a file outside `/mnt/data` that is read: it is transferred through the output of commands, bytes. */
const MAX_SANDBOX_BYTES = 16 * 1024 ** 2

/** Programs run in the sandbox, so stored files may be older or newer than the ones there. */
export const isActive = ({ queue, commands = [], backgroundCommands = [] }: Container): boolean =>
  queue.length > 0 || commands.length > 0 || backgroundCommands.length > 0

/** The bytes of a file of the sandbox: from the store, else from the sandbox. Throws ServiceError. */
export async function sandboxFileResponse(call: Call, container: Container, path: SandboxPath): Promise<Response> {
  const context = runContext(call)
  if (isActive(container)) await syncSandbox(context, container.id)
  const file = await storedFile(call, container, path)
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(posix.basename(path.real))}`,
  }
  const { maxBytes = Number.POSITIVE_INFINITY } = call.deps.config.answerBytes ?? {}
  if (file !== undefined && file.bytes > maxBytes)
    throw new ServiceError(
      'request_too_large',
      `This file has ${file.bytes} bytes, and this deployment streams at most ${maxBytes} in an answer. Download it with GET /v1/containers/${container.id}/files/${file.id}/content, which answers with a link.`,
    )
  const stored = file === undefined ? null : await objectAnswer(call.deps, file, headers)
  if (stored !== null) return stored
  return readInSandbox(context, container.id, { path: path.real, headers })
}

/** A file that is not stored, such as one outside `/mnt/data`. */
async function readInSandbox(
  context: RunContext,
  containerId: string,
  { path, headers }: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
): Promise<Response> {
  const { results } = context.deps
  const first = await readRange(context, containerId, { path })
  if (first.bytes > MAX_SANDBOX_BYTES)
    throw new ServiceError(
      'request_too_large',
      `Files outside /mnt/data are read up to ${MAX_SANDBOX_BYTES} bytes. Copy it to /mnt/data first.`,
    )
  return results.hold(first.bytes, async () => {
    const pieces = [Buffer.from(first.data, 'base64')]
    let at = pieces[0]?.byteLength ?? 0
    while (at < first.bytes) {
      const { data } = await readRange(context, containerId, { path, offset: at })
      const piece = Buffer.from(data, 'base64')
      // The file has become shorter meanwhile.
      if (piece.byteLength === 0) break
      pieces.push(piece)
      at += piece.byteLength
    }
    const body = Readable.toWeb(Readable.from(pieces, { objectMode: false })) as ReadableStream
    return new Response(body, { headers: { ...headers, 'content-length': String(at) } })
  })
}

async function storedFile({ deps }: Call, container: Container, { stored }: SandboxPath): Promise<ContainerFile | undefined> {
  return stored === null ? undefined : (await currentFiles(deps, container)).find((file) => file.path === stored)
}
