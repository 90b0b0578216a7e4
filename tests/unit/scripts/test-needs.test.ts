import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS, SANDBOX } from '../../../scripts/commands.ts'
import { testNeeds } from '../../../scripts/setup/test-needs.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ALL = COMMANDS.test.needs
const needsOf = (...args: string[]) => testNeeds(args, ALL, ROOT)

describe('what npm test -- FILE prepares', () => {
  it('is the packages for unit tests and tests of the API, also with options of vitest', () => {
    expect(needsOf('tests/unit/scripts/test-needs.test.ts')).toEqual(['dependencies'])
    expect(needsOf('tests/unit/core', 'tests/api/mcp.test.ts', '-t', 'a part of a title', '--bail=1')).toEqual(['dependencies'])
  })

  it('is a sandbox for the suites that start one, without a browser and third-party clients', () => {
    for (const path of ['tests/contract', 'tests/integration/chat', 'tests/e2e/quickstart.test.ts', 'tests/api/links', 'tests/chaos'])
      expect(needsOf(path)).toEqual(SANDBOX)
  })

  it('is a browser for its tests, and the emulated account for those in it', () => {
    expect(needsOf('tests/browser/journey.test.ts')).toEqual([...SANDBOX, 'chromium'])
    expect(needsOf('tests/aws')).toEqual([...SANDBOX, 'emulator'])
  })

  it('is the sum for several paths and for a folder of several suites', () => {
    expect(needsOf('tests/unit/core', 'tests/browser')).toEqual([...SANDBOX, 'chromium'])
    expect(needsOf('tests')).toEqual(ALL)
    expect(needsOf('tests/api')).toEqual([...SANDBOX, 'client-generator'])
  })

  it('is everything without a path, and for a part of a path', () => {
    expect(needsOf()).toEqual(ALL)
    expect(needsOf('--with-account')).toEqual(ALL)
    expect(needsOf('quickstart')).toEqual(ALL)
    expect(needsOf('tests/unit/core', 'quickstart')).toEqual(ALL)
  })

  it('includes the third-party clients for every test that uses the folder of their packages', () => {
    const users = globSync('tests/{unit,infra,api,contract,integration,e2e,chaos,security,browser}/**/*.test.ts', { cwd: ROOT }).filter(
      (path) => /\.\.\/client-compat(\/package\.json)?'/.test(readFileSync(join(ROOT, path), 'utf8')),
    )
    expect(users.length).toBeGreaterThan(0)
    for (const path of users) expect(needsOf(path), path).toContain('client-compat')
  })

  it('is known for every suite', () => {
    const suites = new Set(
      globSync('tests/*/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] }).map((path) => path.split('/').slice(0, 2).join('/')),
    )
    for (const suite of suites) expect(testNeeds([suite], [...ALL, 'schemathesis'], ROOT), suite).not.toContain('schemathesis')
  })
})
