import { ResourceNotFoundError, ResourceTemplate, type McpServer } from '@modelcontextprotocol/server'
import { ServiceError } from '../../model/errors.ts'
import { buildNotebook } from '../../model/executions/notebook.ts'
import { containerOf, executionOf } from '../../operations/access.ts'
import { notebookPart } from '../../operations/executions/notebook-parts.ts'
import { storedBytes } from '../../operations/executions/stored-bytes.ts'
import { fileByPath } from '../../operations/files/find-by-path.ts'
import { presigner } from '../../operations/files/presign.ts'
import { fileName } from '../../model/files/file-path.ts'
import type { Call } from '../../http/route.ts'
import { guardedMethod, isScopeError } from './answers.ts'
import { bytesOf, MAX_READ_BYTES, textIn } from './file-tools.ts'

const NOTEBOOK_MIME = 'application/x-ipynb+json'
const single = (value: string | readonly string[] | undefined): string => (typeof value === 'string' ? value : (value?.[0] ?? ''))

/** Files of containers, and executed notebooks. */
export function registerResources(server: McpServer, call: Call): void {
  server.registerResource(
    'container-file',
    new ResourceTemplate('cellblock://containers/{container_id}/files/{+path}', { list: undefined }),
    { title: 'File of a container', description: 'The current version of a file in /mnt/data.' },
    (uri, variables) =>
      found(uri, async () => {
        const container = await containerOf(call, single(variables['container_id']), 'files')
        const file = await fileByPath(call.deps, container, decodeURIComponent(single(variables['path'])))
        if (file.bytes > MAX_READ_BYTES) {
          const url = await presigner(call.deps.objects, call.publicUrl)(file.objectKey, fileName(file.path), file.mime)
          return [{ uri: uri.href, mimeType: 'text/uri-list', text: url }]
        }
        const bytes = await bytesOf(call, file)
        const decoded = textIn(bytes)
        const content = decoded === null ? { blob: bytes.toString('base64') } : { text: decoded }
        return [{ uri: uri.href, mimeType: file.mime, ...content }]
      }),
  )
  server.registerResource(
    'execution-notebook',
    new ResourceTemplate('cellblock://executions/{execution_id}/notebook.ipynb', { list: undefined }),
    { title: 'Executed notebook', description: 'The code and the outputs of one execution, nbformat 4.5.', mimeType: NOTEBOOK_MIME },
    (uri, variables) =>
      found(uri, async () => {
        const row = await executionOf(call, single(variables['execution_id']), 'read')
        const notebook = await call.deps.results.hold(storedBytes(row) + MAX_READ_BYTES, async () =>
          buildNotebook([await notebookPart(call.deps.objects, row, { bytes: MAX_READ_BYTES })]),
        )
        return [{ uri: uri.href, mimeType: NOTEBOOK_MIME, text: JSON.stringify(notebook) }]
      }),
  )
}

type Contents = { uri: string; mimeType: string; text: string } | { uri: string; mimeType: string; blob: string }

/** Answers a resource of another caller like one that does not exist. */
const found = (uri: URL, read: () => Promise<unknown[]>): Promise<{ contents: Contents[] }> => guardedMethod(() => contentsOf(uri, read))

async function contentsOf(uri: URL, read: () => Promise<unknown[]>): Promise<{ contents: Contents[] }> {
  try {
    return { contents: (await read()) as Contents[] }
  } catch (error) {
    if (isScopeError(error)) throw error
    if (error instanceof ServiceError || error instanceof URIError) throw new ResourceNotFoundError(uri.href)
    throw new Error('Internal error.', { cause: error })
  }
}
