import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildPlayground, type PlaygroundManifest } from '../../../infra/build/build-playground.ts'

const MAX_FIRST_SCRIPT_BYTES = 60 * 1024

let folder: string
let manifest: PlaygroundManifest
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-page-'))
  manifest = await buildPlayground(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const read = (path: string): Promise<Buffer> => readFile(join(folder, path))

it('loads at most 60 KB of compressed script before the first paint', async () => {
  const sizes = await Promise.all(manifest.firstScripts.map(async (path) => gzipSync(await read(path)).length))
  expect(sizes.length).toBeGreaterThan(0)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_FIRST_SCRIPT_BYTES)
})

it('names nothing on another host in its document and styles', async () => {
  const files = (await readdir(join(folder, 'assets'))).filter((name) => /\.(?:css|html)$/.test(name)).map((name) => `assets/${name}`)
  for (const path of ['index.html', ...files])
    expect((await read(path)).toString().replaceAll('http://www.w3.org/', '')).not.toMatch(/https?:\/\//)
})

it('has every file that its document names', async () => {
  const named = [...(await read('index.html')).toString().matchAll(/\/(assets\/[\w.-]+)/g)].map((match) => match[1] ?? '')
  expect(named.length).toBeGreaterThan(5)
  for (const path of named) expect((await read(path)).length, path).toBeGreaterThan(0)
})
