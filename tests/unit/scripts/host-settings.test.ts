import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { adjustHost, undoHostChange, type HostSetting } from '../../../scripts/setup/gvisor/host-settings.ts'

let folder: string
let setting: HostSetting
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-host-'))
  setting = { path: join(folder, 'setting'), from: '0', to: '1' }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const text = (): Promise<string> => readFile(setting.path, 'utf8')

it('changes the default of the kernel, which can be undone', async () => {
  await writeFile(setting.path, '0\n')
  const change = await adjustHost(setting)
  expect(change).toEqual(setting)
  expect(await text()).toBe('1')
  await undoHostChange(change)
  expect(await text()).toBe('0')
})

it('keeps the value that the operator chose, and does without a setting that the kernel lacks', async () => {
  expect(await adjustHost(setting)).toBeNull()
  await writeFile(setting.path, '2\n')
  const change = await adjustHost(setting)
  expect(change).toBeNull()
  await undoHostChange(change)
  expect(await text()).toBe('2\n')
})
