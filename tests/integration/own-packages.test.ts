import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureSandboxImage } from '../../scripts/sandbox-image.ts'
import { runCommand } from '../../scripts/setup/command.ts'
import { inImage } from '../support/in-image.ts'
import { writeTinyWheel } from '../support/tiny-wheel.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-own-'))
})
afterAll(() => rm(folder, { recursive: true }))

it("adds an operator's packages with locked hashes and a wheelhouse in their own layer", async () => {
  const lock = await writeTinyWheel(folder, 'tiny_wheel')
  const own = { name: 'own-test', debianPackages: [], wheels: folder, wheelhouse: folder, lock, digest: lock }
  const image = await ensureSandboxImage((line) => console.error(line), { own })
  const answer = 'import tiny_wheel; print(tiny_wheel.ANSWER)'
  expect(await inImage(image, `python -c '${answer}'; ls /opt/wheels; pip freeze | grep tiny`)).toMatchObject({
    code: 0,
    stdout: '42\ntiny_wheel-1.0-py3-none-any.whl\ntiny-wheel==1.0\n',
  })
  await runCommand('docker', ['rmi', '--force', image, 'cellblock-sandbox:own-test'], { timeoutSeconds: 60 })
}, 300_000)
