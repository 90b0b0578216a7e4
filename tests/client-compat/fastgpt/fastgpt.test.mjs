// The calls that FastGPT's adapter for E2B makes, in its order: it finds the sandbox of a chat by metadata, and has no addresses, only the key.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { CommandExitError, FileType, Sandbox } from '@e2b/code-interpreter'

const { FASTGPT_KEY: apiKey, FASTGPT_OTHER_KEY: otherKey, FASTGPT_RESTART: restartUrl } = process.env
const upstreamId = randomUUID()
const PROGRAM = 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig("plot.svg")\nprint(6 * 7)\n'

async function find(key) {
  const [found] = await Sandbox.list({ apiKey: key, query: { metadata: { upstreamId } }, limit: 1 }).nextItems()
  return found === undefined ? null : Sandbox.connect(found.sandboxId, { apiKey: key })
}

const bytes = (text) => new TextEncoder().encode(text).buffer

it('writes, runs, plots, downloads, finds the sandbox again and keeps it from another key', async () => {
  const ofAnotherChat = await Sandbox.create({ apiKey, metadata: { upstreamId: randomUUID() } })
  assert.equal(await find(apiKey), null)
  const first = await Sandbox.create({ apiKey, envs: { CHAT: 'one' }, metadata: { upstreamId } })
  assert.equal(await first.isRunning(), true)

  await first.files.makeDir('/home/user/work')
  await first.files.write([
    { path: '/home/user/work/plot.py', data: bytes(PROGRAM) },
    { path: '/home/user/work/note.txt', data: bytes('kept é') },
  ])
  const ran = await first.commands.run('python3 plot.py && echo $CHAT', { cwd: '/home/user/work', timeoutMs: 60_000 })
  assert.deepEqual([ran.stdout, ran.exitCode], ['42\none\n', 0])
  assert.match(await first.files.read('/home/user/work/plot.svg'), /<svg/)
  const failing = first.commands.run('echo why >&2; exit 3', { cwd: '/home/user' })
  await assert.rejects(failing, (error) => error instanceof CommandExitError && error.exitCode === 3 && error.stderr === 'why\n')
  await first.files.rename('/home/user/work/note.txt', '/home/user/work/kept.txt')
  await first.files.remove('/home/user/work/plot.py')

  await first.pause({ apiKey })
  assert.equal(await first.isRunning(), false)
  await fetch(restartUrl)
  const again = await find(apiKey)
  assert.equal(again?.sandboxId, first.sandboxId)
  assert.equal(await again.files.read('/home/user/work/kept.txt'), 'kept é')
  const names = (await again.files.list('/home/user/work')).map(({ name, type }) => [name, type === FileType.DIR])
  assert.deepEqual(names.toSorted(), [
    ['kept.txt', false],
    ['plot.svg', false],
  ])

  assert.equal(await find(otherKey), null)
  await assert.rejects(Sandbox.connect(again.sandboxId, { apiKey: otherKey }))
  await again.kill()
  await ofAnotherChat.kill()
  assert.equal(await find(apiKey), null)
})
