import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTemporaryFolder } from '../../../services/entries/local/storage/temporary-folder.ts'

const MODULE = join(import.meta.dirname, '../../../services/entries/local/storage/temporary-folder.ts')
let parent: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'cellblock-parent-'))
})
afterEach(() => rm(parent, { recursive: true }))

/** A process that has a folder, until it is killed. */
async function startOwner(): Promise<{ readonly path: string; kill(): Promise<void> }> {
  const code = `
    const { openTemporaryFolder } = await import(${JSON.stringify(MODULE)})
    const { path } = await openTemporaryFolder(${JSON.stringify(parent)})
    process.stdout.write(path)
    process.stdin.resume()
  `
  const owner = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [path] = (await once(owner.stdout, 'data')) as [Buffer]
  return {
    path: path.toString(),
    async kill() {
      const ended = once(owner, 'exit')
      owner.kill('SIGKILL')
      await ended
    },
  }
}

it('removes the folder of a process that was killed, and none of a process that lives', async () => {
  const [dead, alive] = [await startOwner(), await startOwner()]
  await writeFile(join(dead.path, 'rows.sqlite'), 'data of tenants')
  await dead.kill()
  const own = await openTemporaryFolder(parent)
  try {
    expect((await readdir(parent)).toSorted()).toEqual([alive.path, own.path].map((path) => path.slice(parent.length + 1)).toSorted())
  } finally {
    await own.remove()
    await alive.kill()
  }
})

it('leaves links, other folders and folders without a lock', async () => {
  const other = join(parent, 'other')
  await mkdir(other)
  await writeFile(join(other, 'lock.sqlite'), '')
  await symlink(other, join(parent, 'cellblock-data-link'))
  await mkdir(join(parent, 'cellblock-data-new'))
  const own = await openTemporaryFolder(parent)
  await own.remove()
  expect((await readdir(parent)).toSorted()).toEqual(['cellblock-data-link', 'cellblock-data-new', 'other'])
  expect(await readdir(other)).toEqual(['lock.sqlite'])
})
