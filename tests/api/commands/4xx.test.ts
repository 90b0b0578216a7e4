import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let path: string
beforeAll(async () => {
  api = await startApi()
  path = `/v1/containers/${(await api.openai().containers.create({ name: 'commands' })).id}/commands`
})
afterAll(() => api.stop())

it.each([
  ['neither a program nor a command line', {}, 'neither argv nor command'],
  ['both', { argv: ['ls'], command: 'ls' }, 'both argv and command'],
  ['an unknown field', { command: 'ls', shell: '/bin/zsh' }, "'shell' is not valid: there is no such field"],
  ['an empty list of arguments', { argv: [] }, "'argv'"],
  ['an empty program', { argv: [''] }, "'argv[0]'|must name a program"],
  ['a null character', { argv: ['a\0'] }, "'argv[0]'"],
  ['half of a surrogate pair', { argv: ['a\ud800'] }, 'whole Unicode characters'],
  ['half of a surrogate pair in a variable', { command: 'ls', env: { A: '\ud800' } }, 'whole Unicode characters'],
  ['half of a surrogate pair in its folder', { command: 'ls', cwd: '\ud800' }, 'whole Unicode characters'],
  ['a variable with =', { command: 'ls', env: { 'A=B': 'c' } }, "'env"],
  ['a terminal that is too small', { command: 'ls', pty: { cols: 0, rows: 1 } }, "'pty.cols'"],
  ['a time limit above the maximum', { command: 'ls', timeout_seconds: 1e9 }, "'timeout_seconds'"],
])('refuses a command with %s', async (_, body, message) => {
  const answer = await api.post(path, body)
  expect(answer.status).toBe(400)
  expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(new RegExp(message.replaceAll(/[[\].]/g, '\\$&')))
})

it('refuses arguments and input that do not fit its row', async () => {
  const answer = await api.post(path, { argv: ['cat'], stdin: 'x'.repeat(300_000) })
  expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([413, 'request_too_large'])
})

it.each([
  ['an argument', { argv: ['cat', 'x'.repeat(140_000)] }, /Linux accepts 131071, except in the script of a shell/],
  ['all arguments', { argv: ['echo', ...Array.from({ length: 13 }, () => 'x'.repeat(130_000))] }, /1572864/],
])('refuses more than Linux accepts in %s', async (_name, body, why) => {
  const answer = await api.post(path, body)
  expect([answer.status, await answer.json()]).toMatchObject([
    413,
    { error: { code: 'request_too_large', message: expect.stringMatching(why) } },
  ])
})

it('answers a command that does not exist, and an execution, with 404', async () => {
  for (const id of ['cmd_01kajv9h2s8p0ww3d4dq4cs1zt', 'exec_01kajv9h2s8p0ww3d4dq4cs1zt', 'x'])
    expect((await api.fetch(`/v1/commands/${id}`)).status).toBe(404)
})

it('refuses unknown fields of code by their name', async () => {
  const answer = await api.post(path.replace('commands', 'executions'), { code: '1', environment: {} })
  expect([answer.status, ((await answer.json()) as { error: { message: string } }).error.message]).toEqual([
    400,
    expect.stringContaining("'environment' is not valid: there is no such field"),
  ])
})
