import * as z from 'zod'
import { answerSchema, lazySchema } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'
import { MAX_ENTRIES } from '../../../operations/files/sandbox-files.ts'
import { queryInteger } from '../../../http/schemas.ts'

const path = lazySchema(() =>
  z
    .string()
    .min(1)
    .max(LIMITS.maxPathBytes)
    .regex(/^[^\0]*$/, 'give a path without null characters')
    .openapi({ description: 'Absolute, or relative to `/mnt/data`.', example: 'results/2026' }),
)
const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .openapi({ type: 'boolean', description })

export const ListEntriesQuery = lazySchema(() =>
  z.strictObject({
    path: path().openapi({ description: 'The folder, absolute or relative to `/mnt/data`.', example: '.' }),
    depth: queryInteger(1, 64, 'Levels to list, 1 by default.').optional(),
    limit: queryInteger(1, MAX_ENTRIES, `Entries, ${MAX_ENTRIES} by default.`).optional(),
  }),
)
export const PathQuery = lazySchema(() => z.strictObject({ path: path() }))
export const RemoveQuery = lazySchema(() =>
  z.strictObject({ path: path(), recursive: flag('Removes a folder with everything in it.').optional() }),
)
export const RangeQuery = lazySchema(() =>
  z.strictObject({
    path: path(),
    offset: queryInteger(0, 999_999_999_999, 'First byte, 0 by default.').optional(),
    length: queryInteger(1, 512 * 1024, 'Bytes, at most 524288, the default.').optional(),
  }),
)
export const PreviewQuery = lazySchema(() =>
  z.strictObject({
    path: path(),
    rows: queryInteger(1, 100, 'Rows of a table or lines of a text, 20 by default.').optional(),
    pixels: queryInteger(16, 1_024, 'Longest side of the thumbnail of an image, 256 by default.').optional(),
  }),
)
export const MakeFolderBody = lazySchema(() => z.strictObject({ path: path() }).openapi('MakeFolder'))
export const MoveBody = lazySchema(() =>
  z
    .strictObject({
      from: path(),
      to: path(),
      overwrite: z.boolean().nullish().openapi({ description: 'Whether an existing file is replaced.' }),
    })
    .openapi('MoveEntry'),
)
export const UnpackBody = lazySchema(() =>
  z
    .strictObject({
      path: path(),
      into: path().nullish().openapi({ description: 'The folder, `/mnt/data` by default.' }),
      remove_archive: z.boolean().nullish(),
    })
    .openapi('UnpackArchive'),
)

export const Entry = lazySchema(() =>
  z
    .object({
      object: z.literal('container.entry'),
      path: z.string(),
      name: z.string(),
      type: z.enum(['file', 'folder', 'link', 'other']),
      bytes: z.int().openapi({ description: 'Bytes of a file; 0 for other entries.' }),
      modified_at: z.string().openapi({ format: 'date-time' }),
      mode: z.string().openapi({ description: 'Permission bits, octal.', example: '0644' }),
      target: z.string().nullable().openapi({ description: 'The target of a symbolic link.' }),
    })
    .openapi('ContainerEntry'),
)
export const EntryList = answerSchema(() =>
  z
    .object({
      object: z.literal('list'),
      data: z.array(Entry()),
      has_more: z.boolean().openapi({ description: 'Whether the limit shortened the list.' }),
    })
    .openapi('ContainerEntryList'),
)
export const RemovedEntry = lazySchema(() =>
  z
    .object({
      object: z.literal('container.entry.deleted'),
      path: z.string(),
      removed: z.int().openapi({ description: 'The paths that were removed.' }),
    })
    .openapi('RemovedEntry'),
)
export const ByteRange = lazySchema(() =>
  z
    .object({
      object: z.literal('container.entry.range'),
      path: z.string(),
      offset: z.int(),
      data: z.string().openapi({ description: 'Base64.' }),
      bytes: z.int().openapi({ description: 'Size of the whole file.' }),
    })
    .openapi('ByteRange'),
)
export const Preview = answerSchema(() =>
  z
    .object({
      object: z.literal('container.entry.preview'),
      entry: Entry(),
      kind: z.enum(['table', 'image', 'text', 'binary']),
      preview: z.record(z.string(), z.unknown()).openapi({
        description:
          'By kind: `columns` and `rows`; `width`, `height` and `thumbnail` (PNG, base64); `lines`; `hex`. `problem` says why the file could not be read as its ending says.',
      }),
    })
    .openapi('EntryPreview'),
)
export const Unpacked = answerSchema(() =>
  z
    .object({
      object: z.literal('container.archive.unpacked'),
      files: z.int(),
      paths: z.array(z.string()).openapi({ description: 'The first 1,000.' }),
      lost: z
        .array(z.object({ what: z.string(), reason: z.string() }))
        .openapi({ description: 'Files that were unpacked and are not kept when the container hibernates, with the reason.' }),
    })
    .openapi('UnpackedArchive'),
)
