import { expect, it } from 'vitest'
import type { Caller, Scope } from '../../../services/model/tenants/tenant.ts'
import * as access from '../../../services/operations/access.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import type { Table } from '../../../services/ports/table.ts'

/** A table without stores: a read fails with a TypeError. */
const deps = { table: {} as Table, clock: systemClock }
const callerWith = (scopes: readonly Scope[]): Caller => ({ tenant: 'tnt_1', subject: null, keyId: 'key_1', scopes })

const ID = '0'.repeat(26)
const READS = {
  containerOf: (caller: Caller) => access.containerOf({ deps, caller }, `cntr_${ID}`, 'read'),
  'containerOf for a field': (caller: Caller) => access.containerOf({ deps, caller }, `cntr_${ID}`, { scope: 'read', param: 'container' }),
  checkContainer: (caller: Caller) => access.checkContainer({ deps, caller: { ...caller, subject: 'ann' } }, `cntr_${ID}`, 'read'),
  snapshotOf: (caller: Caller) => access.snapshotOf({ deps, caller }, `snap_${ID}`, 'read'),
  executionOf: (caller: Caller) => access.executionOf({ deps, caller }, `exec_${ID}`, 'read'),
  workRowOf: (caller: Caller) => access.workRowOf({ deps, caller }, { kind: 'command', id: `cmd_${ID}` }, 'read'),
  jobOf: (caller: Caller) => access.jobOf({ deps, caller }, `exec_${ID}`, 'read'),
  'jobOf for a command': (caller: Caller) => access.jobOf({ deps, caller }, `cmd_${ID}`, 'read'),
  responseOf: (caller: Caller) => access.responseOf({ deps, caller }, `resp_${ID}`, 'read'),
  conversationOf: (caller: Caller) => access.conversationOf({ deps, caller }, `conv_${ID}`, 'read'),
  fileOf: (caller: Caller) => access.fileOf({ deps, caller }, { containerId: `cntr_${ID}`, id: `cfile_${ID}` }, 'read'),
  userFileOf: (caller: Caller) => access.userFileOf({ deps, caller }, `file-${ID}`, 'read'),
  uploadOf: (caller: Caller) => access.uploadOf({ deps, caller }, `upload_${ID}`, 'read'),
  skillOf: (caller: Caller) => access.skillOf({ deps, caller }, `skill_${ID}`, 'read'),
  webhookOf: (caller: Caller) => access.webhookOf({ deps, caller }, `whe_${ID}`, 'read'),
}

it.each(Object.entries(READS))('%s requires the scope before it reads', async (_name, read) => {
  await expect(read(callerWith(['run', 'files', 'admin']))).rejects.toMatchObject({ code: 'insufficient_scope' })
  await expect(read(callerWith(['read']))).rejects.toThrow(TypeError)
})

it('covers every function that reads a row', () => {
  const names = Object.keys(access).filter((name) => /Of$|^check/.test(name))
  expect([...new Set(Object.keys(READS).map((name) => name.split(' ')[0]))].toSorted()).toEqual(names.toSorted())
})

it('shows the rows of a list only with the scope', () => {
  expect(() => access.visibleTo(callerWith(['run']), 'read')).toThrow('lacks the scope "read"')
  expect(access.visibleTo(callerWith(['read']), 'read')({ subject: 'ann' })).toBe(true)
  expect(access.visibleTo({ ...callerWith(['read']), subject: 'bob' }, 'read')({ subject: 'ann' })).toBe(false)
})
