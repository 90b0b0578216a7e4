import { describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Table } from '../../../services/ports/table.ts'
import { T0, uploadRow, userFileRow } from '../../support/rows.ts'

export function userFilesContract(table: () => Table): void {
  describe('user files', () => {
    it('are returned as written, and a second creation changes nothing', async () => {
      const file = userFileRow({ filename: 'Größe 😀.csv', subject: 'ann', expiresAt: T0 + 5 })
      expect(await table().userFiles.create(file)).toBe(true)
      expect(await table().userFiles.create({ ...file, filename: 'other' })).toBe(false)
      expect(await table().userFiles.get(file.tenant, file.id)).toEqual(file)
      await table().userFiles.remove(file.tenant, file.id)
      expect(await table().userFiles.get(file.tenant, file.id)).toBeNull()
    })

    it('are listed in pages, of one tenant only', async () => {
      const tenant = newId('tenant')
      const files = Array.from({ length: 5 }, (_, index) => userFileRow({ tenant, createdAt: T0 + index }))
      for (const file of [...files, userFileRow()]) await table().userFiles.create(file)
      const first = await table().userFiles.list(tenant, { after: null, limit: 3, order: 'asc' })
      expect(first).toEqual({ rows: files.slice(0, 3), hasMore: true })
      const after = first.rows.at(-1)?.id ?? null
      expect(await table().userFiles.list(tenant, { after, limit: 3, order: 'asc' })).toEqual({ rows: files.slice(3), hasMore: false })
      expect((await table().userFiles.list(tenant, { after: null, limit: 9, order: 'desc' })).rows).toEqual(files.toReversed())
      expect(await table().userFiles.list(tenant, { after: 'file-none', limit: 3, order: 'asc' })).toEqual({ rows: [], hasMore: false })
    })

    it('continue their list after a file that was deleted between pages', async () => {
      const tenant = newId('tenant')
      const files = Array.from({ length: 4 }, () => userFileRow({ tenant, createdAt: Date.now() }))
      for (const file of files) await table().userFiles.create(file)
      for (const order of ['asc', 'desc'] as const) {
        const [first] = (await table().userFiles.list(tenant, { after: null, limit: 1, order })).rows
        await table().userFiles.remove(tenant, first?.id ?? '')
        const { rows } = await table().userFiles.list(tenant, { after: first?.id ?? null, limit: 9, order })
        const left = files.filter((file) => file.id !== first?.id && (order === 'asc' || file.id !== files[0]?.id))
        expect(rows).toEqual(order === 'asc' ? left : left.toReversed())
      }
    })

    it('are not found by another tenant', async () => {
      const file = userFileRow()
      await table().userFiles.create(file)
      expect(await table().userFiles.get(newId('tenant'), file.id)).toBeNull()
    })

    it('are due when they expire, and only then', async () => {
      const soon = userFileRow({ expiresAt: 2_000_000 })
      const never = userFileRow()
      await table().userFiles.create(soon)
      await table().userFiles.create(never)
      const due = (await table().due(2_000_000, 100)).filter((row) => row.kind === 'file')
      expect(due).toEqual([{ kind: 'file', tenant: soon.tenant, id: soon.id, dueAt: 2_000_000 }])
      await table().userFiles.remove(soon.tenant, soon.id)
    })
  })

  describe('uploads', () => {
    const partOf = (upload: ReturnType<typeof uploadRow>, createdAt: number) => ({
      v: 1 as const,
      tenant: upload.tenant,
      uploadId: upload.id,
      id: newId('part'),
      bytes: 3,
      createdAt,
      objectKey: 'tenants/t/u/parts/x',
    })

    it('keep their parts, oldest first, until they are removed', async () => {
      const upload = uploadRow({ subject: 'ann', fileSeconds: 3600 })
      await table().uploads.create(upload)
      const parts = [1, 2, 3].map((at) => partOf(upload, T0 + at))
      for (const part of parts.toReversed()) await table().uploads.addPart(part)
      expect(await table().uploads.get(upload.tenant, upload.id)).toEqual(upload)
      expect(await table().uploads.parts(upload.tenant, upload.id)).toEqual(parts)
      expect(await table().uploads.parts(newId('tenant'), upload.id)).toEqual([])
      await table().uploads.remove(upload.tenant, upload.id)
      expect(await table().uploads.parts(upload.tenant, upload.id)).toEqual([])
      expect(await table().uploads.get(upload.tenant, upload.id)).toBeNull()
    })

    it('end once', async () => {
      const upload = uploadRow()
      await table().uploads.create(upload)
      const ends = await Promise.all([
        table().uploads.end(upload.tenant, upload.id, 'completed'),
        table().uploads.end(upload.tenant, upload.id, 'cancelled'),
      ])
      expect(ends.filter((row) => row !== null)).toHaveLength(1)
      expect(await table().uploads.get(upload.tenant, upload.id)).toEqual(ends.find((row) => row !== null))
      expect(await table().uploads.end(upload.tenant, newId('upload'), 'cancelled')).toBeNull()
    })

    it('are due when they no longer accept parts', async () => {
      const upload = uploadRow({ expiresAt: 2_000_500 })
      await table().uploads.create(upload)
      const due = (await table().due(2_000_500, 100)).filter((row) => row.kind === 'upload')
      expect(due).toEqual([{ kind: 'upload', tenant: upload.tenant, id: upload.id, dueAt: 2_000_500 }])
      await table().uploads.remove(upload.tenant, upload.id)
    })
  })
}
