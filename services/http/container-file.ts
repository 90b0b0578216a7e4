import * as z from 'zod'
import { lazySchema, type Described } from '../model/lazy-schema.ts'
import type { ContainerFile as FileRow } from '../model/files/file.ts'

export const ContainerFile = lazySchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('container.file'),
      container_id: z.string(),
      created_at: z.int().openapi({ description: 'Unix seconds.' }),
      bytes: z.int(),
      path: z.string().openapi({ example: '/mnt/data/sales.csv' }),
      source: z.enum(['user', 'assistant']),
      sha256: z.string().nullable().openapi({ description: 'Hex; null when the bytes were uploaded by URL without one.' }),
      mime: z.string(),
    })
    .openapi('ContainerFile'),
)

export const renderContainerFile = (row: FileRow): Described<typeof ContainerFile> => ({
  id: row.id,
  object: 'container.file',
  container_id: row.containerId,
  created_at: Math.floor(row.createdAt / 1000),
  bytes: row.bytes,
  path: `/mnt/data/${row.path}`,
  source: row.source,
  sha256: row.sha256,
  mime: row.mime,
})
