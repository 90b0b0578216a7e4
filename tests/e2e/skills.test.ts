import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { toFile } from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { call, say, startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'
import { inlineSkill, manifest, zipOf } from '../support/skill-files.ts'

let server: LocalServerProcess
let upstream: ScriptedUpstream
beforeAll(async () => {
  upstream = await startScriptedUpstream()
  const models = JSON.stringify([{ name: 'scripted', base_url: upstream.baseUrl, api_key: 'none' }])
  server = await startServer({ env: { CELLBLOCK_MODELS: models, CELLBLOCK_IDLE_SECONDS: '2' } })
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
  await upstream.stop()
})

const docker = promisify(execFile)
const sandboxes = async (): Promise<number> =>
  (await docker('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${server.stage}`])).stdout.split('\n').filter(Boolean).length

/** The model runs these commands in one call and then repeats what it read. */
const playCommands = (...commands: readonly string[]): void =>
  upstream.play(({ body }) => {
    const last = body.messages.at(-1)
    return last?.role === 'tool' ? say(String(last.content)) : call({ name: 'shell', arguments: JSON.stringify({ commands }) })
  })
const systemText = (): string => String(upstream.requests[0]?.body.messages.find(({ role }) => role === 'system')?.content)

it('gives a hosted shell the skills of a request: the model reads of them, runs their scripts, and cannot change them', async () => {
  const { skills, responses } = server.openai
  const files = await Promise.all([
    toFile(Buffer.from(manifest('greeting', 'Greets a person by name.', 'Run scripts/greet.sh NAME.')), 'greeting/SKILL.md'),
    toFile(Buffer.from('#!/bin/sh\necho "Good day, $1"\n'), 'greeting/scripts/greet.sh'),
  ])
  const skill = await skills.create({ files })
  const inline = inlineSkill('counting', zipOf({ 'SKILL.md': manifest('counting', 'Counts.'), 'data/numbers.txt': '1 2 3' }))
  const environment = {
    type: 'container_auto' as const,
    skills: [{ type: 'skill_reference' as const, skill_id: skill.id, version: 'latest' }, inline],
  }
  playCommands(
    'head -3 /mnt/skills/greeting-*/SKILL.md',
    '/mnt/skills/greeting-*/scripts/greet.sh Ann',
    'cat /mnt/skills/counting-*/data/numbers.txt',
    // As the owner of nothing there, in every way that a program has.
    'cd /mnt/skills; touch x; echo y >> greeting-*/SKILL.md; rm -rf greeting-*; chmod -R 777 .; mv counting-* z; mkdir new; ls',
  )
  const response = await responses.create({ model: 'scripted', input: 'Greet Ann.', tools: [{ type: 'shell', environment }] })
  expect(systemText()).toMatch(/- "greeting": "Greets a person by name\.", in \/mnt\/skills\/greeting-[0-9a-f]{12}\n/)
  expect(systemText()).toMatch(/- "counting": "Counts\.", in \/mnt\/skills\/counting-[0-9a-f]{12}/)
  // The system text names the skills; the tool must not do so with the fields of a local skill.
  expect(JSON.stringify(upstream.requests[0]?.body.tools)).not.toMatch(/undefined|Skills that can be used/)
  const output = response.output.find((item) => item.type === 'shell_call_output')
  expect(output?.output.map(({ stdout }) => stdout)).toEqual([
    '---\nname: greeting\ndescription: Greets a person by name.\n',
    'Good day, Ann\n',
    '1 2 3',
    expect.stringMatching(/^counting-[0-9a-f]{12}\ngreeting-[0-9a-f]{12}\n$/),
  ])
  expect(output?.output[3]?.stderr).toMatch(/touch: .*Permission denied[^]*SKILL\.md: Permission denied[^]*rm: .*Permission denied/)
  const shown = JSON.stringify(response.tools)
  expect(shown).toContain('"name":"counting"')
  expect(shown).not.toContain(inline.source.data)

  // The next turn continues in the container: a later version comes beside the earlier one.
  await skills.versions.create(skill.id, {
    files: [await toFile(zipOf({ 'greeting/SKILL.md': manifest('greeting', 'Greets twice.') }), 'greeting.zip')],
  })
  playCommands('ls -d /mnt/skills/greeting-* | wc -l')
  const next = await responses.create({
    model: 'scripted',
    input: 'Again.',
    previous_response_id: response.id,
    tools: [{ type: 'shell', environment }],
  })
  expect(next.output_text).toMatch(/stdout:\n2$/)
}, 240_000)

it('has the skills of a container after hibernation and after the deletion of the skill, and code reads them too', async () => {
  const { skills, containers } = server.openai
  const archive = zipOf({ 'SKILL.md': manifest('tables'), 'tables.py': 'def double(x): return 2 * x\n' }, { 'tables.py': 0o100755 })
  const skill = await skills.create({ files: await toFile(archive, 'tables.zip') })
  const { id } = await containers.create({ name: 'skills', skills: [{ type: 'skill_reference', skill_id: skill.id }] })
  const code = [
    'import glob, os, sys',
    'folder = glob.glob("/mnt/skills/tables-*")[0]',
    'sys.path.insert(0, folder)',
    'import tables',
    'print(tables.double(21), oct(os.stat(folder + "/tables.py").st_mode & 0o777), os.access(folder, os.W_OK))',
  ].join('\n')
  expect(await server.native.run(id, code)).toMatchObject({ status: 'succeeded', stdout: '42 0o755 False\n', lost: [], files: [] })
  await skills.delete(skill.id)
  await expect.poll(sandboxes, { timeout: 120_000, interval: 500 }).toBe(0)
  const woken = await server.native.run(id, 'print(open(folder + "/SKILL.md").read().splitlines()[1])')
  expect(woken).toMatchObject({ status: 'succeeded', stdout: 'name: tables\n', lost: [] })
}, 240_000)
