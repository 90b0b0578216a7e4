import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { IMAGE_VARIANTS, imageTag, repositoryTag } from '../../../infra/build/image-inputs.ts'
import { OFFICIAL_BASE_IMAGE } from '../../../infra/build/official-base-image.ts'

const IMAGE_FILES = [
  'Dockerfile',
  'prune-libraries.sh',
  'remove-gpu-code.py',
  'kernel.json',
  'add-acorn.py',
  'add-data-sets.sh',
  'add-font-aliases.py',
  'add-system-fonts.py',
  'font-aliases.json',
  'compile-supervisor.py',
  'matplotlibrc',
  'merge-fonts.py',
  'plotly/render.mjs',
  'preload/loopback.c',
  'programs/no-network',
  'site/cellblock_processors.py',
  'extra/packages.lock',
  'supervisor/cellblock_supervisor/worker/zygote.py',
]
const VARIANT_FILES = ['data.lock', ...IMAGE_VARIANTS.flatMap((name) => [`${name}.lock`, `${name}.apt`])].map(
  (name) => `requirements/${name}`,
)
const SLIM = { variant: 'slim' } as const

it('builds the image from the base image that is pulled, by digest', async () => {
  const dockerfile = await readFile('runtime-image/Dockerfile', 'utf8')
  expect(/^ARG BASE=(.*)$/m.exec(dockerfile)?.[1]).toBe(OFFICIAL_BASE_IMAGE)
  expect(OFFICIAL_BASE_IMAGE).toMatch(/@sha256:[0-9a-f]{64}$/)
})

describe('imageTag', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-inputs-'))
    await mkdir(join(folder, 'supervisor/cellblock_supervisor/worker'), { recursive: true })
    await mkdir(join(folder, 'requirements'))
    await mkdir(join(folder, 'plotly'))
    await mkdir(join(folder, 'preload'))
    await mkdir(join(folder, 'programs'))
    await mkdir(join(folder, 'site'))
    await mkdir(join(folder, 'extra'))
    for (const path of [...IMAGE_FILES, ...VARIANT_FILES]) await writeFile(join(folder, path), path)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('is the same for a copy in another folder', async () => {
    const copy = `${folder}-copy`
    await cp(folder, copy, { recursive: true })
    expect(await imageTag(copy, SLIM)).toBe(await imageTag(folder, SLIM))
    await rm(copy, { recursive: true })
  })

  it('ends in the image of the variant in a repository, also for slim', async () => {
    const tags = await Promise.all(IMAGE_VARIANTS.map(async (variant) => repositoryTag(await imageTag(folder, { variant }))))
    expect(tags).toEqual(IMAGE_VARIANTS.map((variant) => expect.stringMatching(new RegExp(`^[0-9a-f]{12}-${variant}$`))))
  })

  it('changes with the supervisor and with the variant', async () => {
    const before = await imageTag(folder, SLIM)
    expect(await imageTag(folder, { ...SLIM, hasDisplay: true })).toBe(`${before}-xvfb`)
    expect(await imageTag(folder, { variant: 'full' })).toMatch(/-full$/)
    await writeFile(join(folder, 'supervisor/cellblock_supervisor/worker/zygote.py'), 'changed')
    expect(await imageTag(folder, SLIM)).not.toBe(before)
  })

  it('changes only with the packages of that variant', async () => {
    const [slim, standard] = [await imageTag(folder, SLIM), await imageTag(folder, { variant: 'standard' })]
    await writeFile(join(folder, 'requirements/standard.lock'), 'changed')
    expect(await imageTag(folder, SLIM)).toBe(slim)
    expect(await imageTag(folder, { variant: 'standard' })).not.toBe(standard)
  })

  it('ignores bytecode, documentation and tests', async () => {
    const before = await imageTag(folder, SLIM)
    await mkdir(join(folder, 'supervisor/cellblock_supervisor/__pycache__'))
    await writeFile(join(folder, 'supervisor/cellblock_supervisor/__pycache__/a.pyc'), 'x')
    await writeFile(join(folder, 'PROTOCOL.md'), 'x')
    expect(await imageTag(folder, SLIM)).toBe(before)
  })
})
