import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkDataFolder } from '../../../services/entries/local/data-folder.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'cellblock-test-'))))
afterEach(() => rm(folder, { recursive: true }))

describe('checkDataFolder', () => {
  it('accepts a folder that only its owner can read', async () => {
    expect(await checkDataFolder(folder)).toBeNull()
  })

  it('withdraws the access of other users and reports it', async () => {
    await chmod(folder, 0o755)
    expect(await checkDataFolder(folder)).toMatch(/accessible to other users.*700 now/)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  it('refuses a folder of another user', async () => {
    await expect(checkDataFolder(folder, 12_345)).rejects.toThrow(/belongs to user \d+, and this server runs as user 12345.*chown/)
  })

  it('refuses a folder of version 0.1', async () => {
    await mkdir(join(folder, 'table'))
    await expect(checkDataFolder(folder)).rejects.toThrow(/written by Cellblock 0\.1.*Choose a new folder/)
  })
})
