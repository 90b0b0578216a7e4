import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashApiKey } from '../../services/model/tenants/api-keys.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'

const MAIN = join(import.meta.dirname, '../../scripts/cli/main.ts')
let storage: AwsStorage
beforeAll(async () => void (storage = await startAwsStorage()))
afterAll(() => storage.stop())

async function cli(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, ...storage.emulators.env }
  const command = ['--disable-warning=ExperimentalWarning', MAIN, '--table', storage.resources.tableName, ...args]
  return (await promisify(execFile)(process.execPath, command, { env })).stdout
}

it('administers a table in AWS without a server', async () => {
  const { id, api_key: key } = JSON.parse(await cli('tenants', 'create', 'operator', '--json')) as { id: string; api_key: string }
  expect(await storage.table.tenants.findKey(hashApiKey(key))).toMatchObject({ tenant: id, scopes: ['run', 'read', 'files', 'share'] })
  expect(await cli('keys', 'create', id, '--scopes', 'admin')).toMatch(/^ck_/)
  expect(await storage.table.audit.recent(id, 5)).toMatchObject([
    { action: 'createKey' },
    { action: 'createKey' },
    { action: 'createTenant' },
  ])
  expect(await cli('dead-letters', 'list', '--tenant', id, '--json')).toBe('[]\n')
})

it('has no backup of a table in AWS', async () => {
  await expect(cli('backup', '/tmp/cellblock-none')).rejects.toMatchObject({ code: 3, stderr: expect.stringContaining('is in AWS') })
})
