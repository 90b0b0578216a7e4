import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Command } from 'commander'
import { forTerminal } from '../../../packages/cli/src/api-client.ts'
import { withParameters } from '../../../packages/cli/src/commands/notebook.ts'
import { EXIT } from '../../../packages/cli/src/errors.ts'
import type { Io } from '../../../packages/cli/src/io.ts'
import { createProgram } from '../../../packages/cli/src/program.ts'
import { packPackage, withoutNpm } from '../../support/pack-package.ts'
import { progressLine } from '../../../packages/cli/src/progress-bar.ts'

const execute = promisify(execFile)
const env = withoutNpm()
const run = (
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
) => execute(file, args, { cwd: options.cwd, env: { ...env, ...options.env } })

describe('the published package', () => {
  let folder: string
  let program: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-pack-'))
    const { archive } = await packPackage('cli', folder)
    await writeFile(join(folder, 'package.json'), '{"private":true}')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder })
    program = join(folder, 'node_modules/.bin/cellblock')
  }, 60_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('runs without its repository and without other packages', async () => {
    expect((await run(program, ['run', '--help'])).stdout).toContain('Usage: cellblock run')
  })

  it('takes relative paths from the current folder, also inside the npm script of another project', async () => {
    const current = join(folder, 'reports')
    await mkdir(current)
    await writeFile(join(current, 'no-notebook.ipynb'), '{}')
    const started = run(program, ['notebook', 'run', 'no-notebook.ipynb', '-o', 'out.ipynb'], {
      cwd: current,
      env: { INIT_CWD: folder, npm_lifecycle_event: 'report' },
    })
    await expect(started).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(`${current}/no-notebook.ipynb is no notebook`) })
  })

  it.each([
    [['burn'], 2, 'unknown command'],
    [['run'], 2, "missing required argument 'file'"],
    [['run', '-', '--timeout', 'soon'], 2, 'Give whole seconds'],
    [['notebook', 'run', 'x.ipynb', '-o', 'y', '-p', '1x=2'], 2, 'no Python name'],
    [['completion', 'csh'], 2, 'Allowed choices are bash, fish, zsh'],
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

it('completes the commands and options in fish', () => {
  let script = ''
  const io = { out: (text: string) => (script += text), note: () => undefined } as unknown as Io
  createProgram({ io, exit: () => undefined }).parse(['completion', 'fish'], { from: 'user' })
  const [, words = ''] = /case 'files'\n\s+printf '%s\\n' (.+)\n/.exec(script) ?? []
  expect(words.split(' ')).toEqual(expect.arrayContaining(['upload', 'download', '--help']))
  expect(script).toContain("complete -c cellblock -a '(__cellblock_words)'")
})

it.each([
  [
    'No execution "exec_1" exists. Run code with POST /v1/containers/{container_id}/executions.',
    'execution_not_found',
    'No execution "exec_1" exists. List yours with `cellblock runs`.',
  ],
  [
    'No upload "u" exists. Create one with POST /v1/uploads.',
    'upload_not_found',
    'No upload "u" exists. Create one with POST /v1/uploads.',
  ],
  ['The container is full. Delete a file.', 'container_not_found', 'The container is full. Delete a file.'],
])('says %j as a person at a terminal can act on it', (message, code, said) => {
  expect(forTerminal(message, code)).toBe(said)
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

/** Every command that does something, with the words that call it. */
function leaves(command: Command, words: readonly string[] = []): readonly (readonly [words: string, command: Command])[] {
  const path = [...words, command.name()]
  return command.commands.length === 0 ? [[path.join(' '), command]] : command.commands.flatMap((child) => leaves(child, path))
}

describe('every command', () => {
  const io = { out: () => undefined, note: () => undefined } as unknown as Io
  const commands = leaves(createProgram({ io, exit: () => undefined }))

  it.each(commands)('%s shows an example of itself in its help', (words, command) => {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
    expect(help.split('Example')[1]).toContain(words)
  })

  const withResult = commands.filter(([words]) => words !== 'cellblock completion' && words !== 'cellblock worker claude')
  it.each(withResult)('%s prints JSON on request', (_, command) => {
    expect(command.options.map(({ long }) => long)).toContain('--json')
  })

  it('has its exit codes in the README', async () => {
    const readme = await readFile(join(import.meta.dirname, '../../../packages/cli/README.md'), 'utf8')
    const documented = [...readme.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
    expect(documented).toEqual(Object.values(EXIT))
  })
})

it.each([
  [0, 4, '░░░░░░░░░░░░░░░░░░░░ 0 %  0 B of 2.0 MB'],
  [500_000, 30, '█████░░░░░░░░░░░░░░░ 25 %  500 KB of 2.0 MB, 1 min 30 s left'],
  [2_000_000, 9, '████████████████████ 100 %  2.0 MB of 2.0 MB'],
])('shows the progress of %i bytes after %i seconds with the time left', (done, seconds, line) => {
  expect(progressLine('upload a.csv', { done, total: 2_000_000, elapsedSeconds: seconds })).toBe(`upload a.csv ${line}`)
})
