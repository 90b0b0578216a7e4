import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { sandboxArguments, shellCommand } from '../../../services/model/executions/command-arguments.ts'

const run = async (argv: readonly string[]): Promise<string> => {
  const [program = '', ...args] = sandboxArguments(argv)
  return (await promisify(execFile)(program, args, { maxBuffer: 4 * 1024 * 1024 })).stdout
}

describe('the script of a shell', () => {
  it.each([
    ['a command line', shellCommand('echo one\r\nif true; then\r\n  echo two\r\nfi\r\n')],
    ['further options', ['bash', '-euo', 'pipefail', '-c', 'echo one\r\necho two\r\n']],
    ['the Bourne shell', ['/bin/sh', '-c', 'echo one\r\necho two\r\n']],
  ])('runs with Windows line ends: %s', async (_name, argv) => {
    expect(await run(argv)).toBe('one\ntwo\n')
  })

  it.each([['bash'], ['/bin/sh']])('of %s may be longer than an argument, and has its own arguments', async (shell) => {
    const text = 'é😀x'.repeat(25_000)
    const script = `set -e\ncat <<'EOF' | wc -c\n${text}\nEOF\necho "$0|$1|$2|$#"\n`
    expect(Buffer.byteLength(script)).toBeGreaterThan(128 * 1024)
    const written = `${Buffer.byteLength(text) + 1}\n`
    expect(await run([shell, '-c', script, 'name', 'a b', '*'])).toBe(`${written}name|a b|*|2\n`)
    expect(await run([shell, '-c', script])).toBe(`${written}${shell}|||0\n`)
  })

  it('counts its lines in messages', async () => {
    const script = `# ${'x'.repeat(140_000)}\n\nnot-a-command\n`
    await expect(run(['bash', '-c', script])).rejects.toThrow(/line 3: not-a-command/)
  })
})

it.each([
  [['python3', '-c', 'print("a\r\nb")']],
  [['bash', 'script.sh', '-c', 'a\r\nb']],
  [['bash', '--version']],
  [['bash', '-c']],
  [['cat', 'a\r\nb']],
  [[]],
])('other arguments stay as they are: %j', (argv) => expect(sandboxArguments(argv)).toBe(argv))
