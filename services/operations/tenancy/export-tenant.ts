import { ServiceError } from '../../model/errors.ts'
import { newTenantExportKey, tenantExports } from '../../model/object-keys.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'
import type { ExportedRow } from '../../ports/tenant-rows.ts'

/** A stored export is deleted after this, milliseconds. */
export const EXPORT_KEPT_MS = 24 * 3600_000

export interface TenantExport {
  readonly objectKey: string
  readonly rows: number
  readonly bytes: number
  /** Epoch ms. */
  readonly deletedAt: number
}

interface ExportOptions {
  readonly maxSeconds: number
  /** What a row's line has besides the row. */
  readonly describe: (row: ExportedRow) => object
}

/**
 * Writes the rows of a tenant into one object, a JSON object per line; memory use does not depend on its size. It replaces the tenant's earlier
 * export. The tenant's row is due when the object is to be deleted, and is so before the first byte is stored. Throws ServiceError.
 */
export async function exportTenant(
  { table, objects, clock }: { readonly table: Table; readonly objects: ObjectStore; readonly clock: Clock },
  tenant: string,
  { maxSeconds, describe }: ExportOptions,
): Promise<TenantExport> {
  const deletedAt = clock.now() + EXPORT_KEPT_MS
  const endsAt = clock.now() + maxSeconds * 1000
  const claim = async (): Promise<void> => {
    if (!(await table.tenants.noteExport(tenant, deletedAt)))
      throw new ServiceError('conflict', `Tenant ${tenant} was deleted, so it cannot be exported any more.`)
  }
  await claim()
  await objects.deletePrefix(tenantExports(tenant))
  let rows = 0
  async function* lines(): AsyncGenerator<Uint8Array> {
    for await (const row of table.tenantRows.export(tenant)) {
      if (clock.now() >= endsAt) throw tooLong(maxSeconds)
      rows++
      yield Buffer.from(`${JSON.stringify({ ...row, ...describe(row) })}\n`)
    }
  }
  const objectKey = newTenantExportKey(tenant)
  const { bytes } = await objects.put(objectKey, lines(), { contentType: 'application/x-ndjson' })
  // A deletion that began meanwhile may already have passed the exports.
  await claim().catch(async (error: unknown) => {
    await objects.delete(objectKey)
    throw error
  })
  return { objectKey, rows, bytes, deletedAt }
}

const tooLong = (seconds: number): ServiceError =>
  new ServiceError(
    'limit_exceeded',
    `The export takes longer than ${seconds} seconds, the maximum of one call. Delete what is not needed, or copy the rows with the export of the table itself.`,
  )
