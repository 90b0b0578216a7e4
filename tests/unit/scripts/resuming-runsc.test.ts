import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const SCRIPT = join(import.meta.dirname, '../../../scripts/setup/gvisor/resuming-runsc.sh')
const OPTIONS = ['--root', '/run/docker/runtime-runc/moby', '--log', 'a b', '--log-format', 'json']

let folder: string
let program: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'resuming-'))
  program = join(folder, 'program')
  const runsc = join(folder, 'runsc')
  writeFileSync(runsc, `#!/bin/sh\nprintf '%s|' "$@" >> '${folder}/calls'\necho >> '${folder}/calls'\n[ "$FAILS" != 1 ]\n`, { mode: 0o755 })
  const text = readFileSync(SCRIPT, 'utf8')
  expect(text).toContain('checkpoints=/var/lib/cellblock/checkpoints')
  writeFileSync(program, text.replace('@RUNSC@', runsc).replace('/var/lib/cellblock/checkpoints', folder), { mode: 0o755 })
  mkdirSync(join(folder, 'suspended', 'next-start'), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The calls of runsc for these arguments of the engine. */
function callsFor(parameters: readonly string[]): readonly string[] {
  const calls = join(folder, 'calls')
  if (existsSync(calls)) rmSync(calls)
  execFileSync(program, parameters, { stdio: 'ignore' })
  return existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []
}
const line = (...parameters: readonly string[]): string => `${parameters.join('|')}|`

it.each([
  ['the start of another container', [...OPTIONS, 'start', 'other']],
  ['the creation of another container', [...OPTIONS, 'create', '--bundle', '/b', 'other']],
  ['the end of a suspended container', [...OPTIONS, 'kill', 'suspended', '9']],
  ['a program without parameters', ['--version']],
])('passes on %s', (_, parameters) => {
  expect(callsFor(parameters)).toEqual([line(...parameters)])
})

const image = (): string => join(folder, 'suspended', 'next-start')
const CREATE = [...OPTIONS, 'create', '--bundle', '/b', '--pid-file', '/b/pid', 'suspended']
const START = [...OPTIONS, 'start', 'suspended']

it('restores a container with a checkpoint when it is created, and starts it no second time', () => {
  const restore = line(
    ...[...OPTIONS, 'restore', '--detach', '--background', '--image-path', image(), '--bundle', '/b', '--pid-file', '/b/pid', 'suspended'],
  )
  expect(callsFor(CREATE)).toEqual([restore])
  expect(callsFor(START)).toEqual([])
  expect(callsFor(START)).toEqual([line(...START)])
})

it('reports that a checkpoint cannot be restored, and leaves the start to runsc', () => {
  const create = (FAILS: string) => () => execFileSync(program, CREATE, { env: { ...process.env, FAILS }, stdio: 'ignore' })
  expect(create('0')).not.toThrow()
  expect(create('1')).toThrow('Command failed')
  expect(callsFor(START)).toEqual([line(...START)])
})

it('starts a container that was created without its checkpoint after a creation that restored it', () => {
  callsFor(CREATE)
  renameSync(image(), `${image()}.partial`)
  try {
    expect(callsFor(CREATE)).toEqual([line(...CREATE)])
    expect(callsFor(START)).toEqual([line(...START)])
  } finally {
    renameSync(`${image()}.partial`, image())
  }
})
