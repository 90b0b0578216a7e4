import { isUtf8 } from 'node:buffer'
import { ServiceError } from '../../model/errors.ts'
import { currentFiles } from '../../operations/files/find-by-path.ts'
import { statPath } from '../../operations/files/sandbox-files.ts'
import type { SandboxPath } from '../../operations/files/sandbox-path.ts'
import { sandboxFileResponse } from '../../http/sandbox-file.ts'
import type { Call } from '../../http/route.ts'
import type { Terminal } from './terminal.ts'

/** The bytes of a text that is read whole. */
const MAX_TEXT_BYTES = 4 * 1024 ** 2

const missing = (path: SandboxPath): ServiceError => new ServiceError('file_not_found', `There is no file ${path.shown}.`)

/**
 * Whether the store alone says that there is no such file. Open WebUI looks for some files in every turn, which must start no sandbox: without one, the store
 * has all files of the home folder.
 */
async function isAbsent({ deps }: Call, { container }: Terminal, { stored }: SandboxPath): Promise<boolean> {
  if (container.sandboxId !== null || stored === null) return false
  return !(await currentFiles(deps, container)).some(({ path }) => path === stored)
}

/** The bytes of a file. Throws ServiceError `file_not_found`. */
export async function openFile(call: Call, terminal: Terminal, path: SandboxPath): Promise<Response> {
  if (await isAbsent(call, terminal, path)) throw missing(path)
  return sandboxFileResponse(call, terminal.container, path)
}

export async function isFile(call: Call, terminal: Terminal, path: SandboxPath): Promise<boolean> {
  if (await isAbsent(call, terminal, path)) return false
  try {
    const { type, resolved } = await statPath(terminal.context, terminal.container.id, { path: path.real })
    return (type === 'link' ? resolved?.type : type) === 'file'
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'file_not_found') return false
    throw error
  }
}

/** What is made of the text of a file, or with `binary` of bytes that are no text. Throws ServiceError `request_too_large`. */
export async function withText<T>(
  call: Call,
  opened: Response,
  { text, binary }: { readonly text: (text: string) => T; readonly binary: (bytes: Uint8Array) => T },
): Promise<T> {
  const bytes = Number(opened.headers.get('content-length') ?? 0)
  if (bytes > MAX_TEXT_BYTES) {
    await opened.body?.cancel()
    throw new ServiceError(
      'request_too_large',
      `The file has ${bytes} bytes, and ${MAX_TEXT_BYTES} are read at once. Read a part of it with a command such as sed -n 1,100p.`,
    )
  }
  return call.deps.results.hold(bytes, async () => {
    const read = new Uint8Array(await opened.arrayBuffer())
    return isUtf8(read) ? text(Buffer.from(read).toString('utf8')) : binary(read)
  })
}
