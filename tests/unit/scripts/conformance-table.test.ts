import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const rows = readFileSync(join(ROOT, 'docs/openai-wire.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Call or field'))
  .map((line) => line.slice(2, -2).split(' | '))

/** `api/files/200, 4xx; client-compat`: a name without a folder lies in the folder before it. */
function testsIn(cell: string): string[] {
  return cell.split(';').flatMap((group) => {
    const [first = '', ...more] = group.split(',').map((name) => name.trim())
    return [first, ...more.map((name) => (name.includes('/') ? name : join(dirname(first), name)))]
  })
}
const isThere = (name: string): boolean =>
  existsSync(join(ROOT, 'tests', `${name}.test.ts`)) ||
  existsSync(join(ROOT, 'tests', `${name}.ts`)) ||
  existsSync(join(ROOT, 'tests', name))

describe('the conformance table', () => {
  it('has a call, a verdict and tests in every row', () => {
    expect(rows.length).toBeGreaterThan(50)
    for (const row of rows) expect(row, row.join(' | ')).toHaveLength(3)
  })

  it.each(rows.map(([call = '', , tests = '']) => [call, tests]))('%s names only tests that exist', (_, tests) => {
    expect(testsIn(tests).filter((name) => !isThere(name))).toEqual([])
  })

  it("names every parameter of POST /v1/responses that OpenAI's package has", () => {
    const types = readFileSync(join(ROOT, 'node_modules/openai/resources/responses/responses.d.ts'), 'utf8')
    const [, body = ''] = /export interface ResponseCreateParamsBase \{([^]*?)\n\}/.exec(types) ?? []
    const parameters = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name = '']) => name)
    expect(parameters.length).toBeGreaterThan(25)
    const calls = rows.map(([call = '']) => call).join('\n')
    expect(parameters.filter((name) => !new RegExp(`\`${name}\\b`).test(calls))).toEqual([])
  })
})
