import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listFiles } from '../../../scripts/prose/list-files.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'prose-'))
})
afterEach(() => rm(root, { recursive: true }))

const CHECKED = [
  'a.md',
  'a.ts',
  'a.tsx',
  'a.mjs',
  'a.cjs',
  'a.py',
  'a.R',
  'a.sh',
  'a.html',
  'Dockerfile',
  'folder/a.ts',
  'folder/Dockerfile',
]

it('lists documents, code, scripts, pages and each Dockerfile for the prose check, and no data', async () => {
  await mkdir(join(root, 'folder'))
  await mkdir(join(root, 'node_modules'))
  for (const file of [...CHECKED, 'a.json', 'a.css', 'a.png', 'node_modules/a.ts']) await writeFile(join(root, file), '')
  expect((await listFiles(root, '.')).toSorted()).toEqual(CHECKED.toSorted())
})

it('rejects a path that does not exist with the way to name one', async () => {
  await expect(listFiles(root, 'none')).rejects.toThrow("none does not exist. Name a file or a folder relative to the repository's root.")
})
