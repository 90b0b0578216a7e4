import { describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Table } from '../../../services/ports/table.ts'
import { T0, fileRow } from '../../support/rows.ts'

export function fileStoreContract(table: () => Table): void {
  const store = () => table().files

  describe('files', () => {
    it('are returned as written, by container or by id alone', async () => {
      const file = fileRow({ path: 'ordner/Größe 😀.csv', sha256: 'aa', executionId: 'exec_1' })
      await store().put(file)
      expect(await store().get(file.tenant, file.containerId, file.id)).toEqual(file)
      expect(await store().find(file.tenant, file.id)).toEqual(file)
    })

    it('are not found by another tenant, in another container or under an unknown id', async () => {
      const file = fileRow()
      await store().put(file)
      expect(await store().get(newId('tenant'), file.containerId, file.id)).toBeNull()
      expect(await store().get(file.tenant, newId('container'), file.id)).toBeNull()
      expect(await store().find(newId('tenant'), file.id)).toBeNull()
      expect(await store().find(file.tenant, 'cfile_none')).toBeNull()
    })

    it('are all listed, oldest first, and only those of the container', async () => {
      const { tenant, containerId } = fileRow()
      const files = Array.from({ length: 30 }, (_, index) =>
        fileRow({ tenant, containerId, createdAt: T0 + index, isCurrent: index % 3 === 0, state: index === 5 ? 'deleted' : 'stored' }),
      )
      await Promise.all(files.toReversed().map((file) => store().put(file)))
      await store().put(fileRow({ tenant }))
      expect(await store().all(tenant, containerId)).toEqual(files)
      expect(await store().all(tenant, newId('container'))).toEqual([])
    })

    it('are read across several database pages', async () => {
      const { tenant, containerId } = fileRow()
      const files = Array.from({ length: 40 }, (_, index) =>
        fileRow({ tenant, containerId, createdAt: T0 + index, objectKey: 'x'.repeat(60_000) }),
      )
      await Promise.all(files.map((file) => store().put(file)))
      expect(await store().all(tenant, containerId)).toHaveLength(files.length)
    })

    it('accept a patch, except when they are missing', async () => {
      const file = fileRow({ state: 'awaiting_upload' })
      await store().put(file)
      const change = { state: 'stored', bytes: 99, sha256: 'bb', createdAt: T0 + 9 } as const
      expect(await store().patch(file, change)).toEqual({ ...file, ...change })
      expect(await store().patch(file, {})).toEqual({ ...file, ...change })
      expect(await store().patch(file, { sha256: null })).toEqual({ ...file, ...change, sha256: null })
      expect(await store().patch({ tenant: file.tenant, containerId: file.containerId, id: 'cfile_none' }, change)).toBeNull()
    })

    it('are missing after their removal', async () => {
      const file = fileRow()
      await store().put(file)
      await store().remove(file.tenant, file.containerId, file.id)
      expect(await store().get(file.tenant, file.containerId, file.id)).toBeNull()
      expect(await store().find(file.tenant, file.id)).toBeNull()
    })

    it('stay when the row of their container is removed', async () => {
      const file = fileRow()
      await store().put(file)
      await table().containers.remove(file.tenant, file.containerId)
      expect(await store().all(file.tenant, file.containerId)).toEqual([file])
    })
  })
}
