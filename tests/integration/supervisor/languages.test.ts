import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'
import type { Run } from './supervisor-caller.ts'

let sandbox: TestSandbox
beforeAll(async () => void (sandbox = await startReadySandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())

const bash = (code: string, options: Readonly<Record<string, unknown>> = {}): Promise<Run> =>
  sandbox.supervisor.run(code, { language: 'bash', ...options })

describe('bash', () => {
  it('keeps variables, functions, aliases and the folder between executions', async () => {
    await bash('x=5; f() { echo "f $1"; }; alias hi="echo hello"; mkdir -p deep; cd deep')
    const run = await bash('echo $x $PWD\nf 1\nhi\necho err >&2')
    expect([run.stdout, run.text('stderr')]).toEqual(['5 /mnt/data/deep\nf 1\nhello\n', 'err\n'])
    expect(run.done.outcome).toBe('ok')
    await bash('cd ..')
  })

  it('shares files with Python and reports those that it makes', async () => {
    const run = await bash('echo "a,b" > from-bash.csv')
    expect(run.done.files.map(({ path }) => path)).toEqual(['from-bash.csv'])
    expect((await sandbox.supervisor.run('print(open("from-bash.csv").read())')).stdout).toBe('a,b\n\n')
  })

  it('is counted in the history of the notebook, so that execution counts match the cells', async () => {
    await bash('true')
    const run = await sandbox.supervisor.run('print(In[-2], len(In) == get_ipython().execution_count)')
    expect(run.stdout).toBe('%%bash\ntrue True\n')
  })

  it('fails with the exit status of its last command, and continues after a syntax error', async () => {
    const failed = await bash('ls /no-such-folder')
    expect([failed.done.outcome, failed.error]).toEqual(['error', expect.objectContaining({ name: 'ExitStatus', value: 'exit status 2' })])
    expect((await bash('if')).done.outcome).toBe('error')
    expect((await bash('echo still')).stdout).toBe('still\n')
  })

  it('has variables and a folder for one execution', async () => {
    expect((await bash('echo $A $PWD', { env: { A: "it's" }, cwd: '/tmp' })).stdout).toBe("it's /tmp\n")
    expect((await bash('echo "$A" $PWD')).stdout).toBe(' /mnt/data\n')
  })

  it('reports the lost variables of an ended session and starts another one', async () => {
    await bash('y=1')
    const ended = await bash('exit 7')
    expect(ended.error).toMatchObject({ name: 'SessionEnded', value: 'The bash session ended with code 7; its variables are lost.' })
    expect((await bash('echo "[$y]"')).stdout).toBe('[]\n')
  })

  it('is interrupted at its time limit, and Python keeps its variables', async () => {
    await sandbox.supervisor.run('kept = 1')
    const late = await bash('echo begin; sleep 600', { timeout_ms: 2000 })
    expect(late.done).toMatchObject({ outcome: 'timed_out', state_lost: null })
    expect(late.error).toMatchObject({ name: 'KeyboardInterrupt' })
    expect((await sandbox.supervisor.run('print(kept)')).stdout).toBe('1\n')
  })

  it('names a language that the image lacks', async () => {
    const run = await sandbox.supervisor.run('1', { language: 'javascript' })
    expect(run.error).toMatchObject({ name: 'LanguageMissing', value: expect.stringContaining('standard') as string })
    const r = await sandbox.supervisor.run('1', { language: 'r' })
    expect(r.error).toMatchObject({ name: 'LanguageMissing', value: 'This image has no r. Create a container with the image full.' })
  })
})

/** Runs cells in the image's JavaScript session with the Node of this machine. */
async function javascript(...cells: readonly (readonly [code: string, language?: string])[]): Promise<readonly unknown[]> {
  const script = new URL('../../../runtime-image/supervisor/cellblock_supervisor/worker/languages/node_session.cjs', import.meta.url)
    .pathname
  const fields = cells.flatMap(([code, language = 'javascript']) => ['{}', '', language, code].map((field) => `${field}\0`)).join('')
  const shell = `exec 3< <(printf '%s' "$1" | base64 -d) 4>&1 1>/dev/null; exec "$2" --no-warnings "$3"`
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    shell,
    'bash',
    Buffer.from(fields).toString('base64'),
    process.execPath,
    script,
  ])
  return stdout
    .split('\0')
    .slice(0, -1)
    .map((answer) => JSON.parse(answer) as unknown)
}

describe('the JavaScript session', () => {
  it('keeps variables, shows the last value, awaits, imports, and runs a cell again', async () => {
    expect(
      await javascript(
        ['const a = 20; let b = a + 1'],
        ['b * 2'],
        ['const a = 21; a'],
        ['await Promise.resolve({ x: [1, 2] })'],
        ["import fs, { readFileSync as read } from 'node:fs'\n`${typeof read} ${typeof fs.existsSync}`"],
        ['function f() { return 7 }'],
        ['f()'],
      ),
    ).toEqual([
      { result: null },
      { result: '42' },
      { result: '21' },
      { result: '{ x: [ 1, 2 ] }' },
      { result: "'function function'" },
      { result: null },
      { result: '7' },
    ])
  })

  it('fails when the code sets an exit code, and continues', async () => {
    expect(await javascript(['process.exitCode = 3'], ['process.exitCode = 0; 1'], ['2'])).toMatchObject([
      { error: { name: 'ExitStatus', value: 'exit status 3' } },
      { result: '1' },
      { result: '2' },
    ])
  })

  it('gives errors that code prints the stack of a program, without frames of the session', async () => {
    const code = [
      'const fs = require("node:fs")',
      'const stacks = []',
      'const work = [() => fs.promises.readFile("/none"), () => Buffer.alloc("x"), () => { throw new Error("own") }]',
      'for (const one of work) try { await one() } catch (error) { stacks.push(error.stack) }',
      'new Promise(() => stacks.push(new Error("in a promise").stack))',
      'stacks.join("|").replaceAll("\\n", "~")',
    ].join('\n')
    const [{ result }] = (await javascript([code])) as [{ readonly result: string }]
    expect(result).not.toMatch(/node_session|node_errors|node:inspector/)
    expect(result).toContain("ENOENT: no such file or directory, open '/none'~    at async open")
    expect(result).toContain('TypeError [ERR_INVALID_ARG_TYPE]: The "size" argument')
    expect(result).toMatch(/Error: own~ {4}at [^~]*cell\.js:3:\d+/)
  })

  it('reports errors by name and continues', async () => {
    expect(await javascript(['throw new TypeError("no")'], ['nothing.here'], ['('], ['1'])).toMatchObject([
      { error: { name: 'TypeError', value: 'no' } },
      { error: { name: 'ReferenceError', value: 'nothing is not defined' } },
      { error: { name: 'SyntaxError' } },
      { result: '1' },
    ])
  })

  it('strips the types of TypeScript', async () => {
    const code = 'interface P { x: number }\nconst p: P = { x: 3 }\np.x as number'
    expect(await javascript([code, 'typescript'])).toEqual([{ result: '3' }])
    expect(await javascript(['enum Level { low, high }\nLevel.high', 'typescript'])).toEqual([{ result: '1' }])
  })

  it('changes no string, template or comment, and runs modules that a cell has written', async () => {
    const module = "\nimport fs from 'fs'\nconst limit = 3\nexport const x = limit + typeof fs.readFileSync\n"
    const [written, imported] = await javascript(
      [
        `const text = \`${module}\`\nconst { writeFileSync } = require('fs'), file = require('os').tmpdir() + '/cell-' + process.pid + '.mjs'
        writeFileSync(file, text);\n[text, "use import('x')", /* const import 'y' */ \`\nexport default 1\`].join('|')`,
      ],
      ['(await import(file)).x'],
      ["require('fs').unlinkSync(file)"],
    )
    expect(written).toEqual({ result: inspect(`${module}|use import('x')|\nexport default 1`) })
    expect(imported).toEqual({ result: "'3function'" })
  })

  it.each([
    ['indented', "  import fs from 'fs'\n  typeof fs.readFileSync"],
    ['two on a line', "import fs from 'fs'; import { sep } from 'path'; typeof fs.readFileSync"],
    ['after a directive', "'use strict'; import fs from 'fs'\ntypeof fs.readFileSync"],
    ['after a comment', "/* c */ import * as fs from 'fs'\ntypeof fs.readFileSync"],
    ['after their use', "const kind = typeof fs.readFileSync\nimport fs, { existsSync as has } from 'fs'\nhas && kind"],
  ])('finds static imports %s', async (_where, code) => {
    expect(await javascript([code])).toEqual([{ result: "'function'" }])
  })

  it('reports an import that the module lacks, and what is wrong in a cell with imports', async () => {
    expect(await javascript(["import { nope } from 'fs'"], ["import fs from 'fs'\n("])).toMatchObject([
      { error: { name: 'SyntaxError', value: "The requested module 'fs' does not provide an export named 'nope'" } },
      { error: { name: 'SyntaxError', value: expect.stringContaining('Unexpected token') as string } },
    ])
  })

  it('refuses an assignment to a constant, and lets a later cell declare its name again', async () => {
    const code = 'const c = 1; let said; try { c = 2 } catch (error) { said = error.message }; said'
    expect(await javascript([code], ['const d = 1'], ['let d = 2; d'])).toEqual([
      { result: "'Assignment to constant variable.'" },
      { result: null },
      { result: '2' },
    ])
  })

  it.each([
    ['a timer', "setTimeout(() => done.push('late'), 50)"],
    ['an interval that ends', "let n = 0; const every = setInterval(() => { done.push('late'); clearInterval(every) }, 10)"],
    ['a file', "require('fs').readFile('/dev/null', () => done.push('late'))"],
    ['a child process', "require('child_process').exec('sleep 0.1', () => done.push('late'))"],
    [
      'lines of a file',
      "require('readline').createInterface({ input: require('stream').Readable.from('late') }).on('line', (line) => done.push(line))",
    ],
    ['an async function', "async function main() { await new Promise((go) => setTimeout(go, 20)); done.push('late') }; main(); 0"],
  ])('waits for %s that a cell has started', async (_what, code) => {
    const [, , seen] = await javascript(['const done = []'], [code], ['done'])
    expect(seen).toEqual({ result: "[ 'late' ]" })
  })

  it.each([
    ['a script', ''],
    ['a module with an import', "import 'node:fs';"],
    ['a module with an export', 'export const one = 1;'],
    ['a module with import.meta', 'void import.meta.url;'],
    ['a module that awaits', 'await null;'],
    ['a module that awaits in a loop', 'for await (const _ of []);'],
    ['a script with an await in a function', 'void (async () => { await null; note("in a function") })();'],
    ['a script with import()', "void import('node:fs');"],
  ])('runs callbacks of %s in the order of Node', async (_what, beginning) => {
    const order = `
      process.nextTick(() => { note('tick'); Promise.resolve().then(() => note('promise of a tick')) })
      Promise.resolve().then(() => { note('promise'); process.nextTick(() => note('tick of a promise')) })
      queueMicrotask(() => note('microtask'))
      process.nextTick(() => note('second tick'))
      note('end')`
    const folder = await mkdtemp(join(tmpdir(), 'cellblock-order-'))
    try {
      const program = `${beginning}\nconst notes = [], note = (one) => notes.push(one)\n${order}\nprocess.on('exit', () => console.log(notes.join()))`
      await writeFile(join(folder, 'file.js'), program)
      const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', join(folder, 'file.js')])
      const [, , seen] = await javascript(
        ['const notes = [], note = (one) => notes.push(one)'],
        [`${beginning}\n${order}`],
        ['notes.join()'],
      )
      expect(seen).toEqual({ result: `'${stdout.trim()}'` })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('waits for no server, and a later cell reaches it', async () => {
    const start = "const server = require('http').createServer((_, answer) => setTimeout(() => answer.end('ok'), 20)); server.listen(0); 1"
    const ask = 'await (await fetch(`http://127.0.0.1:${server.address().port}`)).text()'
    expect(await javascript([start], [ask], [ask], ['server.close(); 2'])).toEqual([
      { result: '1' },
      { result: "'ok'" },
      { result: "'ok'" },
      { result: '2' },
    ])
  })

  it('fails a cell whose callback throws or whose promise nothing settles, and keeps the variables', async () => {
    const cells = [
      'const kept = 7',
      'setTimeout(() => { throw new RangeError("late") }, 1)',
      'Promise.reject(new TypeError("lost")); 1',
      'await new Promise(() => {})',
    ]
    expect(await javascript(...[...cells, 'globalThis.gc?.(); kept'].map((code) => [code] as const))).toMatchObject([
      { result: null },
      { error: { name: 'RangeError', value: 'late' } },
      { error: { name: 'TypeError', value: 'lost' } },
      { error: { value: 'The cell awaits a promise that nothing can settle.' } },
      { result: '7' },
    ])
  })
})
