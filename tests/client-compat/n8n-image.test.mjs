// What n8n expects of a sandbox when it prepares a workspace, in the image that docs/clients.md tells operators to build.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { SandboxClient } from '@n8n/sandbox-client'

const { CELLBLOCK_URL: url, CELLBLOCK_API_KEY: apiKey } = process.env
const client = new SandboxClient({ baseUrl: `${url}/n8n`, apiKey })
const workdir = '/home/user/workspace'
let id
before(async () => void ({ id } = await client.createSandbox()))
after(() => client.deleteSandbox(id))

async function output(command) {
  const { exitCode, stdout, stderr } = await client.exec(id, { command, workdir })
  assert.equal(exitCode, 0, stderr)
  return stdout
}

it('has Node, ripgrep and a workspace in which TypeScript runs', async () => {
  await client.mkdir(id, `${workdir}/src`, true)
  const [, major] = /^v(\d+)/.exec(await output('node --version'))
  assert.ok(Number(major) >= 22, `Node ${major}`)
  await client.writeFile(id, `${workdir}/package.json`, '{"private":true,"type":"module"}')
  await client.writeFile(id, `${workdir}/src/sum.ts`, 'export const sum = (a: number, b: number): number => a + b\n')
  await client.writeFile(id, `${workdir}/src/main.ts`, "import { sum } from './sum.ts'\nconsole.log(sum(40, 2))\n")
  assert.equal(await output('node src/main.ts'), '42\n')
  assert.deepEqual((await output('rg --files-with-matches sum src')).trim().split('\n').toSorted(), ['src/main.ts', 'src/sum.ts'])
  assert.match(await output('rg --json "number" src | head -1'), /"type":"begin"/)
})
