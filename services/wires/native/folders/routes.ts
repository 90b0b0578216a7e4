import type * as z from 'zod'
import type { ErrorCode } from '../../../model/errors.ts'
import {
  listFolder,
  makeFolder,
  movePath,
  previewFile,
  readRange,
  removePath,
  statPath,
  unpackArchive,
  type SandboxEntry,
} from '../../../operations/files/sandbox-files.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, runContext, type AnyRoute } from '../../../http/route.ts'
import * as schema from './schema.ts'

const TAG = 'Folders'
const ERROR_CODES: readonly ErrorCode[] = [
  'container_not_found',
  'file_not_found',
  'invalid_file_name',
  'conflict',
  'storage_full',
  'sandbox_unavailable',
  'too_many_queued',
  'concurrency_limit_reached',
]

const render = ({ modified_at: modifiedAt, mode, target, ...entry }: SandboxEntry): z.infer<typeof schema.Entry> => ({
  object: 'container.entry',
  ...entry,
  modified_at: new Date(modifiedAt).toISOString(),
  mode: mode.toString(8).padStart(4, '0'),
  target: target ?? null,
})

const listEntriesRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/entries',
  auth: 'session',
  scope: 'files',
  operationId: 'listEntries',
  tag: TAG,
  summary: 'List a folder',
  description:
    'Files, folders and links as they are in the sandbox now, those of running code included. The container gets a sandbox when it has none; `GET …/files` needs none.',
  query: schema.ListEntriesQuery,
  answers: { 200: { description: 'The entries, sorted by name, a folder before what it holds.', schema: schema.EntryList } },
  errors: ERROR_CODES,
  async handle(call) {
    const { path, depth, limit } = call.query
    const request = { path, ...(depth !== undefined && { depth }), ...(limit !== undefined && { limit }) }
    const { entries, is_truncated: hasMore } = await listFolder(runContext(call), call.param('container_id'), request)
    return json(200, { object: 'list', data: entries.map(render), has_more: hasMore })
  },
})

const getEntryRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/entries/info',
  auth: 'session',
  scope: 'files',
  operationId: 'getEntry',
  tag: TAG,
  summary: 'Get a file, folder or link by its path',
  query: schema.PathQuery,
  answers: { 200: { description: 'The entry.', schema: schema.Entry } },
  errors: ERROR_CODES,
  handle: async (call) => json(200, render(await statPath(runContext(call), call.param('container_id'), { path: call.query.path }))),
})

const makeFolderRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/entries',
  auth: 'session',
  scope: 'files',
  operationId: 'makeFolder',
  tag: TAG,
  summary: 'Make a folder',
  description: 'Creates missing parents too. For an existing folder the answer has its entry. An empty folder ends with its sandbox.',
  body: schema.MakeFolderBody,
  answers: {
    200: { description: 'The folder existed already.', schema: schema.Entry },
    201: { description: 'The folder was created.', schema: schema.Entry },
  },
  errors: ERROR_CODES,
  async handle(call) {
    const { entry, is_new: isNew } = await makeFolder(runContext(call), call.param('container_id'), call.body.path)
    return json(isNew ? 201 : 200, render(entry))
  },
})

const moveEntryRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/entries/move',
  auth: 'session',
  scope: 'files',
  operationId: 'moveEntry',
  tag: TAG,
  summary: 'Move or rename a file or folder',
  description: 'Creates missing parents of the new path. The file gets a new id at the new path.',
  body: schema.MoveBody,
  answers: { 200: { description: 'The entry at its new path.', schema: schema.Entry } },
  errors: ERROR_CODES,
  async handle(call) {
    const { from, to, overwrite } = call.body
    const entry = await movePath(runContext(call), call.param('container_id'), { from, to, overwrite: overwrite === true })
    return json(200, render(entry))
  },
})

const removeEntryRoute = defineRoute({
  method: 'delete',
  path: '/v1/containers/{container_id}/entries',
  auth: 'session',
  scope: 'files',
  operationId: 'removeEntry',
  tag: TAG,
  summary: 'Remove a file or folder',
  query: schema.RemoveQuery,
  answers: { 200: { description: 'The entry is removed.', schema: schema.RemovedEntry } },
  errors: ERROR_CODES,
  async handle(call) {
    const { path, recursive = false } = call.query
    const { removed } = await removePath(runContext(call), call.param('container_id'), { path, recursive })
    return json(200, { object: 'container.entry.deleted', path, removed })
  },
})

const readRangeRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/entries/range',
  auth: 'session',
  scope: 'files',
  operationId: 'readRange',
  tag: TAG,
  summary: 'Read a part of a file',
  query: schema.RangeQuery,
  answers: { 200: { description: 'The bytes; fewer at the end of the file.', schema: schema.ByteRange } },
  errors: ERROR_CODES,
  async handle(call) {
    const { path, offset = 0, length } = call.query
    const request = { path, offset, ...(length !== undefined && { length }) }
    const range = await readRange(runContext(call), call.param('container_id'), request)
    return json(200, { object: 'container.entry.range', path, offset, ...range })
  },
})

const previewRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/entries/preview',
  auth: 'session',
  scope: 'files',
  operationId: 'previewFile',
  tag: TAG,
  summary: 'Preview a file',
  description:
    'First rows of CSV, Excel, Parquet and Feather, a thumbnail of an image, first lines of text. The file is read inside the sandbox.',
  query: schema.PreviewQuery,
  answers: { 200: { description: 'The preview.', schema: schema.Preview } },
  errors: ERROR_CODES,
  async handle(call) {
    const { path, rows, pixels } = call.query
    const request = { path, ...(rows !== undefined && { rows }), ...(pixels !== undefined && { pixels }) }
    const { entry, preview } = await previewFile(runContext(call), call.param('container_id'), request)
    const { kind, ...content } = preview
    return json(200, { object: 'container.entry.preview', entry: render(entry), kind, preview: content })
  },
})

const unpackRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/entries/unpack',
  auth: 'session',
  scope: 'files',
  operationId: 'unpackArchive',
  tag: TAG,
  summary: 'Unpack an archive',
  description:
    'A zip or tar archive of the container, unpacked in the sandbox: at most 10,000 files and 2 GiB. Nothing is unpacked when a name leads out of the folder, or for links and devices.',
  body: schema.UnpackBody,
  answers: { 200: { description: 'What was unpacked.', schema: schema.Unpacked } },
  errors: ERROR_CODES,
  async handle(call) {
    const { path, into, remove_archive: removeArchive } = call.body
    const request = { path, ...(typeof into === 'string' && { into }), remove_archive: removeArchive === true }
    const unpacked = await unpackArchive(runContext(call), call.param('container_id'), request)
    return json(200, { object: 'container.archive.unpacked', ...unpacked })
  },
})

export const folderRoutes: readonly AnyRoute[] = [
  listEntriesRoute,
  makeFolderRoute,
  removeEntryRoute,
  getEntryRoute,
  moveEntryRoute,
  readRangeRoute,
  previewRoute,
  unpackRoute,
]
