import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { imageTag } from '../../../scripts/setup/image-inputs.ts'

describe('imageTag', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-inputs-'))
    await mkdir(join(folder, 'supervisor/cellblock_supervisor/worker'), { recursive: true })
    for (const path of ['Dockerfile', 'requirements.lock', 'supervisor/cellblock_supervisor/worker/kernel.py'])
      await writeFile(join(folder, path), path)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('is the same for a copy in another folder', async () => {
    const copy = `${folder}-copy`
    await cp(folder, copy, { recursive: true })
    expect(await imageTag(copy, 'plain')).toBe(await imageTag(folder, 'plain'))
    await rm(copy, { recursive: true })
  })

  it('changes with the supervisor and with the variant', async () => {
    const before = await imageTag(folder, 'plain')
    expect(await imageTag(folder, 'xvfb')).toBe(`${before}-xvfb`)
    await writeFile(join(folder, 'supervisor/cellblock_supervisor/worker/kernel.py'), 'changed')
    expect(await imageTag(folder, 'plain')).not.toBe(before)
  })

  it('ignores bytecode, documentation and tests', async () => {
    const before = await imageTag(folder, 'plain')
    await mkdir(join(folder, 'supervisor/cellblock_supervisor/__pycache__'))
    await writeFile(join(folder, 'supervisor/cellblock_supervisor/__pycache__/a.pyc'), 'x')
    await writeFile(join(folder, 'PROTOCOL.md'), 'x')
    expect(await imageTag(folder, 'plain')).toBe(before)
  })
})
