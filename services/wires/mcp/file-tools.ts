import type { CallToolResult } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { ServiceError } from '../../model/errors.ts'
import { createHash } from 'node:crypto'
import { fileName, normalizeFilePath } from '../../model/files/file-path.ts'
import { mimeOf } from '../../model/files/mime.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { LIMITS, MEMORY_TIERS } from '../../model/limits.ts'
import { readBytes } from '../../model/read-bytes.ts'
import { containerOf, fileMissing } from '../../operations/access.ts'
import { checkMemory } from '../../operations/tenancy/check-limits.ts'
import { currentFiles, fileByPath } from '../../operations/files/find-by-path.ts'
import { placeFile } from '../../operations/files/place-file.ts'
import type { Call } from '../../http/route.ts'
import { answer, fileUri, guarded, text, type Tools } from './answers.ts'
import { newContainer } from './execution-tools.ts'
import { toolSchema } from './tool-schema.ts'

/** A file that a tool or a resource returns whole, bytes. Larger files have a link. */
export const MAX_READ_BYTES = 1024 * 1024
const MAX_LISTED = 1_000

const FileEntry = z.object({ id: z.string(), path: z.string(), bytes: z.int(), mime: z.string(), uri: z.string() })
const entryOf = (file: ContainerFile): z.infer<typeof FileEntry> => ({
  id: file.id,
  path: `/mnt/data/${file.path}`,
  bytes: file.bytes,
  mime: file.mime,
  uri: fileUri(file.containerId, file.path),
})

const CREATE_CONTAINER = {
  title: 'Create a container',
  description: 'Creates a notebook session with its own variables and files. execute_code without container_id creates one as well.',
  inputSchema: toolSchema(
    z.object({
      name: z.string().min(1).max(LIMITS.maxContainerNameBytes).optional(),
      memory_limit: z.enum(MEMORY_TIERS).optional(),
    }),
  ),
  outputSchema: z.object({ id: z.string(), name: z.string(), memory_limit: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}
const LIST_FILES = {
  title: 'List files',
  description: `Lists the files of a container, at most ${MAX_LISTED}.`,
  inputSchema: toolSchema(
    z.object({
      container_id: z.string().max(200),
      prefix: z.string().max(1_024).optional().describe('For example /mnt/data/out/'),
    }),
  ),
  outputSchema: z.object({ files: z.array(FileEntry), has_more: z.boolean() }),
  annotations: { readOnlyHint: true, openWorldHint: false },
}
const READ_FILE = {
  title: 'Read a file',
  description: `Returns a file of a container: text, an image, or base64. Files above ${MAX_READ_BYTES} bytes are returned as a link.`,
  inputSchema: toolSchema(
    z.object({
      container_id: z.string().max(200),
      path: z.string().min(1).max(4_096).describe('For example /mnt/data/out.csv'),
    }),
  ),
  annotations: { readOnlyHint: true, openWorldHint: false },
}
const WRITE_FILE = {
  title: 'Write a file',
  description: 'Writes a file into a container. A path that exists gets a new version. Code reads it from the next execution on.',
  inputSchema: toolSchema(
    z.object({
      container_id: z.string().max(200),
      path: z.string().min(1).max(4_096),
      text: z.string().optional().describe('The content as text.'),
      base64: z.base64().optional().describe('The content as base64, instead of text.'),
    }),
  ),
  outputSchema: FileEntry,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}

/** For keys with the scope `files`, as on the other wires. */
const CONTAINER = { scope: 'files', param: 'container_id' } as const

/** Tools for containers and their files. */
export const FILE_TOOLS: Tools = {
  create_container: (server, call) =>
    server.registerTool('create_container', CREATE_CONTAINER, ({ name = 'mcp', memory_limit: tier = '1g' }) =>
      guarded(call, 'create_container', async () => {
        await checkMemory(call.deps, call.caller.tenant, { tier })
        const id = await newContainer(call, name, tier)
        return answer([text(`container_id: ${id}`)], { id, name, memory_limit: tier })
      }),
    ),
  list_files: (server, call) =>
    server.registerTool('list_files', LIST_FILES, ({ container_id: id, prefix = '' }) =>
      guarded(call, 'list_files', () => listFiles(call, id, prefix.replace(/^\/mnt\/data\/?/, ''))),
    ),
  read_file: (server, call) =>
    server.registerTool('read_file', READ_FILE, ({ container_id: id, path }) => guarded(call, 'read_file', () => readFile(call, id, path))),
  write_file: (server, call) =>
    server.registerTool('write_file', WRITE_FILE, (given) => guarded(call, 'write_file', () => writeFile(call, given))),
}

interface GivenFile {
  readonly container_id: string
  readonly path: string
  readonly text?: string | undefined
  readonly base64?: string | undefined
}

async function writeFile(call: Call, given: GivenFile): Promise<CallToolResult> {
  if ((given.text === undefined) === (given.base64 === undefined))
    throw new ServiceError('invalid_request', 'The content must be given once. Send either text or base64.', { param: 'text' })
  const container = await containerOf(call, given.container_id, CONTAINER)
  const bytes = given.text === undefined ? Buffer.from(given.base64 ?? '', 'base64') : Buffer.from(given.text)
  const path = normalizeFilePath(given.path)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const { tenant, id: containerId } = container
  const file = { tenant, path, bytes: bytes.byteLength, sha256, mime: mimeOf(path), body: bytes }
  const entry = entryOf(await placeFile(call.deps, file, { containerId, now: call.deps.clock.now() }))
  return answer([text(`Wrote ${entry.path} (${entry.bytes} bytes).`)], entry)
}

async function listFiles(call: Call, containerId: string, prefix: string): Promise<CallToolResult> {
  const container = await containerOf(call, containerId, CONTAINER)
  const all = (await currentFiles(call.deps, container)).filter(({ path }) => path.startsWith(prefix))
  const files = all
    .map(entryOf)
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, MAX_LISTED)
  const lines = files.map((file) => `${file.path}\t${file.bytes} bytes\t${file.mime}`)
  return answer([text(lines.length === 0 ? 'No files.' : lines.join('\n'))], { files, has_more: files.length < all.length })
}

async function readFile(call: Call, containerId: string, path: string): Promise<CallToolResult> {
  const file = await fileByPath(call.deps, await containerOf(call, containerId, CONTAINER), path)
  const entry = entryOf(file)
  if (file.bytes > MAX_READ_BYTES) {
    const link = { type: 'resource_link' as const, uri: entry.uri, name: fileName(file.path), mimeType: file.mime, size: file.bytes }
    return answer([text(`The file has ${file.bytes} bytes, too many for this answer. Read a part of it with code.`), link], { ...entry })
  }
  const bytes = await bytesOf(call, file)
  const content = contentOf(file, bytes)
  return answer([content.type === 'text' ? content : { ...content }], { ...entry })
}

/** The bytes of a file that is at most MAX_READ_BYTES long. */
export async function bytesOf({ deps }: Pick<Call, 'deps'>, file: ContainerFile): Promise<Buffer> {
  const object = await deps.objects.get(file.objectKey)
  if (object === null) throw fileMissing(file.path)
  return readBytes(object.body)
}

/** Text when the bytes are UTF-8, else null. */
export function textIn(bytes: Buffer): string | null {
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return decoded.includes('\0') ? null : decoded
  } catch {
    return null
  }
}

function contentOf(file: ContainerFile, bytes: Buffer): CallToolResult['content'][number] {
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.mime)) return { type: 'image', data: bytes.toString('base64'), mimeType: file.mime }
  const decoded = textIn(bytes)
  if (decoded !== null) return text(decoded)
  const uri = fileUri(file.containerId, file.path)
  return { type: 'resource', resource: { uri, mimeType: file.mime, blob: bytes.toString('base64') } }
}
