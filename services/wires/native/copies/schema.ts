import * as z from 'zod'
import { isSuspended, type Container } from '../../../model/containers/container.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'
import { listSchema, wholeCharacters } from '../../../http/schemas.ts'

const Count = lazySchema(() => z.int().min(1, 'give at least 1').max(LIMITS.maxForks, `give at most ${LIMITS.maxForks}`))
const Name = lazySchema(() =>
  z
    .string()
    .min(1, 'give a name')
    .refine(...wholeCharacters)
    .refine(
      (name) => Buffer.byteLength(name) <= LIMITS.maxContainerNameBytes,
      `give a name of at most ${LIMITS.maxContainerNameBytes} bytes`,
    ),
)

export const Fork = lazySchema(() =>
  z.strictObject({ count: Count().optional() }).openapi('ForkContainer', { description: 'The number of copies; one by default.' }),
)

export const Forks = answerSchema(() =>
  z
    .object({
      object: z.literal('container.forks'),
      source_id: z.string().openapi({ description: 'The container or the snapshot that was copied.' }),
      data: z.array(
        z.object({
          id: z.string().openapi({ example: 'cntr_01kajv9h2s8p0ww3d4dq4cs1zt' }),
          object: z.literal('container'),
          name: z.string(),
          has_processes: z.boolean().openapi({
            description:
              '`true`: its next call continues the processes of the source. `false`: it gets its variables and files, and `lost` of the result names what could not be copied.',
          }),
        }),
      ),
    })
    .openapi('ContainerForks'),
)

export const renderForks = (source: Container, copies: readonly Container[]): Described<typeof Forks> => ({
  object: 'container.forks',
  source_id: source.id,
  data: copies.map((row) => ({ id: row.id, object: 'container', name: row.name, has_processes: isSuspended(row) })),
})

export const CreateSnapshot = lazySchema(() =>
  z
    .strictObject({ name: Name().optional() })
    .openapi('CreateSnapshot', { description: 'A name by which the snapshot is found; that of the container by default.' }),
)

export const Snapshot = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'snap_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('snapshot'),
      created_at: z.int().openapi({ description: 'Unix seconds.' }),
      name: z.string(),
      container_id: z.string().openapi({ description: 'The container that it was made of, which may be deleted.' }),
      has_processes: z.boolean(),
    })
    .openapi('Snapshot'),
)
export const SnapshotList = listSchema(Snapshot, 'SnapshotList')

export const renderSnapshot = (row: Container): Described<typeof Snapshot> => ({
  id: row.id,
  object: 'snapshot',
  created_at: Math.floor(row.createdAt / 1000),
  name: row.name,
  container_id: row.savedFrom ?? '',
  has_processes: isSuspended(row),
})
