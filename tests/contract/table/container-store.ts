import { describe, expect, it } from 'vitest'
import type { Container } from '../../../services/model/containers/container.ts'
import type { Extension } from '../../../services/model/containers/extension.ts'
import { newId } from '../../../services/model/ids.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import type { Table } from '../../../services/ports/table.ts'
import { T0, containerRow } from '../../support/rows.ts'

export function containerStoreContract(table: () => Table): void {
  const store = () => table().containers
  const created = async (change: Partial<Container> = {}): Promise<Container> => {
    const row = containerRow(change)
    await store().create(row)
    return row
  }
  const newest = (row: Container): Promise<Container | null> => store().get(row.tenant, row.id)

  describe('containers', () => {
    it('are returned as written, and a second creation changes nothing', async () => {
      const row = await created({ subject: 'user-1', stateLost: 'oom' })
      await store().create({ ...row, name: 'other' })
      expect(await newest(row)).toEqual(row)
    })

    it('are not found by another tenant', async () => {
      const row = await created()
      expect(await store().get(newId('tenant'), row.id)).toBeNull()
      expect(await store().enqueue(newId('tenant'), row.id, { executionId: 'exec_1', now: T0, dueAt: T0 })).toBe('missing')
      expect(await store().markDeleted(newId('tenant'), row.id, T0)).toBeNull()
    })

    it('that are copies are listed from their publication on, which happens once', async () => {
      const row = await created({ deletedAt: T0, publishBefore: T0 + 9, dueAt: T0 + 9 })
      const page = { after: null, limit: 10, order: 'desc', name: null } as const
      const listed = async () => (await store().list(row.tenant, page)).rows
      expect([await newest(row), await listed()]).toEqual([row, []])
      expect(await store().enqueue(row.tenant, row.id, { executionId: 'exec_1', now: T0, dueAt: T0 })).toBe('missing')
      const { publishBefore: _, ...rest } = row
      const published = { ...rest, deletedAt: null, dueAt: T0 + 77 }
      expect(await store().publish(row, T0 + 77)).toEqual(published)
      expect(await listed()).toEqual([published])
      expect(await store().publish(row, T0 + 88)).toEqual(published)
      await store().markDeleted(row.tenant, row.id, T0)
      expect(await store().publish(row, T0 + 99)).toMatchObject({ deletedAt: T0 })
      expect(await listed()).toEqual([])
      expect(await store().publish(containerRow(), T0)).toBeNull()
    })

    it('receive skills while their files are unchanged, and then count as changed', async () => {
      const row = await created()
      const skills = [{ name: 'a', description: 'b', folder: 'a-0', objectKey: 'tenants/t/c/skills/x', bytes: 3 }]
      expect(await store().setSkills(row.tenant, row.id, { filesVersion: 0, skills })).toEqual({ ...row, skills, filesVersion: 1 })
      expect(await store().setSkills(row.tenant, row.id, { filesVersion: 0, skills: [] })).toBeNull()
      expect(await store().setSkills(newId('tenant'), row.id, { filesVersion: 1, skills: [] })).toBeNull()
      expect(await newest(row)).toEqual({ ...row, skills, filesVersion: 1 })
      await store().markDeleted(row.tenant, row.id, T0)
      expect(await store().setSkills(row.tenant, row.id, { filesVersion: 1, skills: [] })).toBeNull()
    })

    it('queue executions in order of arrival', async () => {
      const row = await created()
      await store().enqueue(row.tenant, row.id, { executionId: 'exec_1', now: T0 + 1, dueAt: T0 + 11 })
      expect(await store().enqueue(row.tenant, row.id, { executionId: 'exec_2', now: T0 + 2, dueAt: T0 + 12 })).toEqual({
        ...row,
        queue: ['exec_1', 'exec_2'],
        lastActiveAt: T0 + 2,
        dueAt: T0 + 12,
      })
    })

    it('queue a repeated execution once', async () => {
      const row = await created()
      await Promise.all(
        Array.from({ length: 10 }, () => store().enqueue(row.tenant, row.id, { executionId: 'exec_1', now: T0, dueAt: T0 })),
      )
      expect(await newest(row)).toMatchObject({ queue: ['exec_1'] })
    })

    it('queue no more executions than the limit, even concurrently', async () => {
      const row = await created()
      const answers = await Promise.all(
        Array.from({ length: LIMITS.maxQueuedPerContainer + 8 }, (_, index) =>
          store().enqueue(row.tenant, row.id, { executionId: `exec_${index}`, now: T0, dueAt: T0 }),
        ),
      )
      expect(answers.filter((answer) => answer === 'full')).toHaveLength(8)
      expect((await newest(row))?.queue).toHaveLength(LIMITS.maxQueuedPerContainer)
    })

    it('dequeue only the queue head', async () => {
      const row = await created()
      for (const id of ['exec_1', 'exec_2']) await store().enqueue(row.tenant, row.id, { executionId: id, now: T0, dueAt: T0 })
      expect(await store().dequeue(row.tenant, row.id, { executionId: 'exec_2', now: T0 + 5, dueAt: T0 + 9 })).toBeNull()
      expect(await store().dequeue(row.tenant, row.id, { executionId: 'exec_1', now: T0 + 5, dueAt: T0 + 9 })).toMatchObject({
        queue: ['exec_2'],
        lastActiveAt: T0 + 5,
        dueAt: T0 + 9,
      })
      expect(await store().dequeue(row.tenant, row.id, { executionId: 'exec_1', now: T0 + 6, dueAt: T0 + 9 })).toBeNull()
      expect(await store().dequeue(row.tenant, row.id, { executionId: 'exec_2', now: T0 + 6, dueAt: null })).toMatchObject({
        queue: [],
        lastActiveAt: T0 + 6,
        dueAt: T0 + 9,
      })
      expect(await store().dequeue(row.tenant, row.id, { executionId: 'exec_2', now: T0 + 6, dueAt: T0 + 9 })).toBeNull()
    })

    it('dequeue the head once under concurrent calls', async () => {
      const row = await created()
      for (const id of ['exec_1', 'exec_2']) await store().enqueue(row.tenant, row.id, { executionId: id, now: T0, dueAt: T0 })
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => store().dequeue(row.tenant, row.id, { executionId: 'exec_1', now: T0, dueAt: T0 })),
      )
      expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
      expect(await newest(row)).toMatchObject({ queue: ['exec_2'] })
    })

    it('attach exactly one of many concurrent sandboxes', async () => {
      const row = await created({ filesVersion: 3 })
      const change = (sandboxId: string) => ({ sandboxId, stateLost: null, dueAt: T0 })
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => store().setSandbox(row.tenant, row.id, { generation: 0, ...change(`sbx_${index}`) })),
      )
      expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
      expect(await newest(row)).toMatchObject({ generation: 1, syncedFilesVersion: 0 })
    })

    it('detach a sandbox without a new generation, and the next sandbox needs every file', async () => {
      const row = await created()
      await store().setSandbox(row.tenant, row.id, { generation: 0, sandboxId: 'sbx_1', stateLost: null, dueAt: T0 })
      await store().filesSynced(row.tenant, row.id, { generation: 1, version: 7 })
      expect(
        await store().setSandbox(row.tenant, row.id, { generation: 1, sandboxId: null, stateLost: 'sandbox_lost', dueAt: null }),
      ).toMatchObject({
        sandboxId: null,
        stateLost: 'sandbox_lost',
        generation: 1,
        dueAt: null,
        syncedFilesVersion: 7,
      })
      expect(await store().setSandbox(row.tenant, row.id, { generation: 0, sandboxId: 'sbx_2', stateLost: null, dueAt: T0 })).toBeNull()
      expect(
        await store().setSandbox(row.tenant, row.id, { generation: 1, sandboxId: 'sbx_2', stateLost: 'oom', dueAt: T0 }),
      ).toMatchObject({
        generation: 2,
        syncedFilesVersion: -1,
      })
    })

    it('keep their sandbox if an execution is queued and the detach requires an idle container', async () => {
      const row = await created()
      await store().setSandbox(row.tenant, row.id, { generation: 0, sandboxId: 'sbx_1', stateLost: null, dueAt: T0 })
      await store().enqueue(row.tenant, row.id, { executionId: 'exec_1', now: T0, dueAt: T0 })
      const none = { sandboxId: null, stateLost: null, dueAt: T0 }
      expect(await store().setSandbox(row.tenant, row.id, { generation: 1, ...none, whileUnused: true })).toBeNull()
      expect(await newest(row)).toMatchObject({ sandboxId: 'sbx_1' })
      await store().dequeue(row.tenant, row.id, { executionId: 'exec_1', now: T0, dueAt: T0 })
      expect(await store().setSandbox(row.tenant, row.id, { generation: 1, ...none, whileUnused: true })).toMatchObject({ sandboxId: null })
    })

    it('count file changes and record the synchronized count for the present generation only', async () => {
      const row = await created()
      await store().setSandbox(row.tenant, row.id, { generation: 0, sandboxId: 'sbx_1', stateLost: null, dueAt: null })
      await store().filesChanged(row.tenant, row.id, T0 + 1)
      expect(await store().filesChanged(row.tenant, row.id, T0 + 2)).toMatchObject({ filesVersion: 2, lastActiveAt: T0 + 2 })
      await store().filesSynced(row.tenant, row.id, { generation: 1, version: 2 })
      await store().filesSynced(row.tenant, row.id, { generation: 1, version: 1 })
      await store().filesSynced(row.tenant, row.id, { generation: 0, version: 9 })
      expect(await newest(row)).toMatchObject({ syncedFilesVersion: 2 })
    })

    it('are used without another change, unless they are deleted', async () => {
      const row = await created()
      await store().touch(row.tenant, row.id, T0 + 5)
      expect(await newest(row)).toEqual({ ...row, lastActiveAt: T0 + 5 })
      await store().touch(newId('tenant'), row.id, T0 + 6)
      await store().markDeleted(row.tenant, row.id, T0 + 7)
      await store().touch(row.tenant, row.id, T0 + 8)
      expect(await newest(row)).toMatchObject({ lastActiveAt: T0 + 5 })
    })

    it('report a loss once, and keep a second loss until it is reported', async () => {
      const row = await created({ generation: 2, stateLost: 'oom', sandboxId: 'sbx_2' })
      await store().markStateLossReported(row.tenant, row.id, 'sbx_1')
      expect(await newest(row)).toMatchObject({ stateLost: 'oom' })
      await store().markStateLossReported(row.tenant, row.id, 'sbx_2')
      expect(await newest(row)).toMatchObject({ stateLost: null })
      await store().setSandbox(row.tenant, row.id, { generation: 2, sandboxId: null, stateLost: 'lost', dueAt: null })
      await store().markStateLossReported(row.tenant, row.id, 'sbx_2')
      expect(await newest(row)).toMatchObject({ stateLost: 'lost' })
    })

    it('are missing from the moment of their deletion', async () => {
      const row = await created()
      expect(await store().markDeleted(row.tenant, row.id, T0 + 1)).toMatchObject({ deletedAt: T0 + 1 })
      expect(await store().markDeleted(row.tenant, row.id, T0 + 2)).toMatchObject({ deletedAt: T0 + 1 })
      expect(await newest(row)).toMatchObject({ deletedAt: T0 + 1 })
      expect(await store().enqueue(row.tenant, row.id, { executionId: 'exec_1', now: T0, dueAt: T0 })).toBe('missing')
      expect(await store().setSandbox(row.tenant, row.id, { generation: 0, sandboxId: 'sbx_1', stateLost: null, dueAt: null })).toBeNull()
      expect(await store().filesChanged(row.tenant, row.id, T0)).toBeNull()
      expect(await store().list(row.tenant, { after: null, limit: 10, order: 'asc', name: null })).toEqual({ rows: [], hasMore: false })
      await store().remove(row.tenant, row.id)
      expect(await newest(row)).toBeNull()
    })

    it('can be postponed and removed from the due rows', async () => {
      const row = await created()
      await store().postpone(row.tenant, row.id, T0 + 4)
      expect(await newest(row)).toMatchObject({ dueAt: T0 + 4 })
      await store().postpone(row.tenant, row.id, null)
      expect(await newest(row)).toMatchObject({ dueAt: null })
      await store().postpone(row.tenant, 'cntr_none', T0)
      expect(await store().get(row.tenant, 'cntr_none')).toBeNull()
    })

    it('are listed page by page in both orders, optionally by name', async () => {
      const tenant = newId('tenant')
      const rows: Container[] = []
      for (let index = 0; index < 9; index++)
        rows.push(await created({ tenant, name: index % 2 === 0 ? 'even' : 'odd', createdAt: T0 + Math.floor(index / 2) }))
      await created()
      for (const name of [null, 'even', 'nobody']) {
        for (const order of ['asc', 'desc'] as const) {
          const wanted = rows.filter((row) => name === null || row.name === name)
          const expected = order === 'asc' ? wanted : wanted.toReversed()
          const seen: Container[] = []
          let after: string | null = null
          for (;;) {
            const page = await store().list(tenant, { after, limit: 2, order, name })
            seen.push(...page.rows)
            if (!page.hasMore) break
            after = page.rows.at(-1)?.id ?? null
          }
          expect(seen).toEqual(expected)
        }
      }
      expect(await store().list(tenant, { after: 'cntr_none', limit: 5, order: 'asc', name: null })).toEqual({ rows: [], hasMore: false })
    })

    it('continue their list after a row that was deleted between pages', async () => {
      const tenant = newId('tenant')
      const rows = [
        await created({ tenant, createdAt: T0 }),
        await created({ tenant, createdAt: T0 + 1 }),
        await created({ tenant, createdAt: T0 + 2 }),
      ]
      const first = await store().list(tenant, { after: null, limit: 1, order: 'asc', name: null })
      await store().markDeleted(tenant, first.rows[0]?.id ?? '', T0)
      expect(await store().list(tenant, { after: first.rows[0]?.id ?? '', limit: 9, order: 'asc', name: null })).toEqual({
        rows: rows.slice(1),
        hasMore: false,
      })
    })

    it('continue their list after a row that was removed between pages', async () => {
      const tenant = newId('tenant')
      const rows = [await created({ tenant, createdAt: Date.now() }), await created({ tenant, createdAt: Date.now() })]
      await store().remove(tenant, rows[0]?.id ?? '')
      expect((await store().list(tenant, { after: rows[0]?.id ?? '', limit: 9, order: 'asc', name: null })).rows).toEqual(rows.slice(1))
    })

    it('lists running commands in the foreground and in the background until they end', async () => {
      const row = containerRow()
      await store().create(row)
      const add = (id: string, isBackground = false) => store().addCommand(row.tenant, row.id, { commandId: id, isBackground, now: T0 + 1 })
      await Promise.all(['cmd_1', 'cmd_2', 'cmd_3'].map((id) => add(id)))
      await add('cmd_1')
      await add('cmd_4', true)
      const full = await store().get(row.tenant, row.id)
      expect([new Set(full?.commands), full?.backgroundCommands]).toEqual([new Set(['cmd_1', 'cmd_2', 'cmd_3']), ['cmd_4']])
      expect(full?.commands).toHaveLength(3)
      await Promise.all(['cmd_1', 'cmd_3'].map((id) => store().removeCommand(row.tenant, row.id, { commandId: id, now: T0 + 5 })))
      expect(await store().removeCommand(row.tenant, row.id, { commandId: 'cmd_1', now: T0 + 9 })).toMatchObject({
        commands: ['cmd_2'],
        lastActiveAt: T0 + 5,
      })
      expect(await store().removeCommand(row.tenant, row.id, { commandId: 'cmd_4', now: T0 + 9 })).toMatchObject({
        backgroundCommands: [],
        lastActiveAt: T0 + 5,
      })
    })

    it('keep the extension of each wire until they are deleted', async () => {
      const row = containerRow()
      await store().create(row)
      const update = (wire: string, extension: Extension | undefined, tenant = row.tenant) =>
        store().updateExtension({ tenant, id: row.id, wire }, () => extension)
      const one = { secrets: { root: 's' }, grants: [{ scopes: ['run'], subject: null }], endAt: T0, isPaused: false }
      expect(row.extensions).toBeUndefined()
      await update('one', one)
      await update('other', { a: 'b' })
      expect((await store().get(row.tenant, row.id))?.extensions).toEqual({ one, other: { a: 'b' } })
      expect((await update('one', undefined))?.extensions).toEqual({ one, other: { a: 'b' } })
      expect(await update('one', one, 'tnt_other')).toBeNull()
      await store().markDeleted(row.tenant, row.id, T0)
      expect(await update('one', one)).toBeNull()
    })

    it('keep every change that writers make to extensions at the same time', async () => {
      const row = containerRow()
      await store().create(row)
      const names = Array.from({ length: 8 }, (_, number) => `${number}`)
      await Promise.all(
        names.map((name) =>
          store().updateExtension({ tenant: row.tenant, id: row.id, wire: `wire${Number(name) % 2}` }, (extension) => ({
            ...extension,
            [name]: 'x',
          })),
        ),
      )
      const { wire0, wire1 } = (await store().get(row.tenant, row.id))?.extensions ?? {}
      expect([Object.keys(wire0 ?? {}).toSorted(), Object.keys(wire1 ?? {}).toSorted()]).toEqual([
        ['0', '2', '4', '6'],
        ['1', '3', '5', '7'],
      ])
    })

    it('has a maximum of running commands, and none of a deleted container', async () => {
      const row = containerRow({ commands: Array.from({ length: LIMITS.maxCommandsPerContainer }, (_, number) => `cmd_${number}`) })
      await store().create(row)
      expect(await store().addCommand(row.tenant, row.id, { commandId: 'cmd_more', isBackground: false, now: T0 })).toBe('full')
      expect(await store().addCommand(row.tenant, row.id, { commandId: 'cmd_more', isBackground: true, now: T0 })).toMatchObject({
        backgroundCommands: ['cmd_more'],
      })
      await store().markDeleted(row.tenant, row.id, T0)
      expect(await store().addCommand(row.tenant, row.id, { commandId: 'cmd_late', isBackground: true, now: T0 })).toBe('missing')
    })
  })
}
