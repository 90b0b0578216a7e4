import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withParameters } from '../../../packages/cli/src/commands/notebook.ts'

const execute = promisify(execFile)
/** Without the settings that an outer npm hands down, such as the folder into which it installs. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
const run = (file: string, args: readonly string[], options: { readonly cwd?: string } = {}) => execute(file, args, { ...options, env })
const PACKAGE = join(import.meta.dirname, '../../../packages/cli')

describe('the published package', () => {
  let folder: string
  let program: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-pack-'))
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: PACKAGE })
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
    await writeFile(join(folder, 'package.json'), '{"private":true}')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, filename)], { cwd: folder })
    program = join(folder, 'node_modules/.bin/cellblock')
  }, 60_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('runs without its repository and without other packages', async () => {
    expect((await run(program, ['run', '--help'])).stdout).toContain('Usage: cellblock run')
  })

  it.each([
    [['burn'], 2, 'unknown command'],
    [['run'], 2, "missing required argument 'file'"],
    [['run', '-', '--timeout', 'soon'], 2, 'Give whole seconds'],
    [['notebook', 'run', 'x.ipynb', '-o', 'y', '-p', '1x=2'], 2, 'no Python name'],
    [['completion', 'fish'], 2, 'Allowed choices are bash, zsh'],
  ] as const)('ends %j with exit code %i and an explanation', async (args, code, sentence) => {
    await expect(run(program, args)).rejects.toMatchObject({ code, stderr: expect.stringContaining(sentence) })
  })

  it.each([
    ['cellblock fi', 'files'],
    ['cellblock files up', 'upload'],
    ['cellblock run --tim', '--timeout'],
    ['cellblock run code.py --ke', '--keep'],
  ])('completes "%s" to %s in bash', async (line, word) => {
    const words = line.split(' ')
    const script = `source <(${program} completion bash); COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _cellblock; echo "\${COMPREPLY[@]}"`
    expect((await run('bash', ['-c', script])).stdout.trim().split(' ')).toContain(word)
  })
})

describe('parameters of a notebook', () => {
  const cell = (source: string, tags: readonly string[] = []) => ({ cell_type: 'code', source, metadata: { tags } })
  it.each([
    ['after the tagged cell', [cell('a = 1', ['parameters']), cell('print(a)')], 1],
    ['first without a tagged cell', [cell('print(1)')], 0],
  ])('are set %s', (_, cells, at) => {
    expect(withParameters({ cells }, { a: 'x"\n' }).cells[at]).toMatchObject({
      source: 'import json\na = json.loads("\\"x\\\\\\"\\\\n\\"")',
    })
  })
  it('leave the notebook unchanged when there are none', () => {
    const notebook = { cells: [cell('1')] }
    expect(withParameters(notebook, {})).toBe(notebook)
  })
})
