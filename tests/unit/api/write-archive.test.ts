import { expect, it } from 'vitest'
import { readArchive } from '../../../services/operations/skills/read-archive.ts'
import { writeArchive } from '../../../services/operations/skills/write-archive.ts'

const FILES = [
  { path: 'SKILL.md', content: Buffer.from('---\nname: report\n---\n'), isExecutable: false },
  { path: 'bin/größe.sh', content: Buffer.from('#!/bin/sh\n'), isExecutable: true },
]

it('writes files that the reader of archives reads again, with their permissions', async () => {
  const files = await readArchive(Buffer.from(writeArchive('report', FILES)), 'files')
  expect(files).toEqual(FILES.map((file) => ({ ...file, path: `report/${file.path}` })))
})

it('writes the same bytes for the same files', () => {
  expect(writeArchive('report', FILES)).toEqual(writeArchive('report', FILES))
})
