import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { runCommand } from '../../scripts/setup/command.ts'
import { resolveOwnPackages } from '../../scripts/setup/own-packages.ts'
import { inImage } from '../support/in-image.ts'
import { writeTinyWheel } from '../support/tiny-wheel.ts'

const ZIP = `import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr('tiny_words/words', 'one\\ntwo\\n')`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-own-'))
})
afterAll(() => rm(folder, { recursive: true }))

it("adds an operator's data sets of NLTK, and refuses a folder without any", async () => {
  const kind = join(folder, 'nltk', 'corpora')
  await mkdir(kind, { recursive: true })
  const made = await runCommand('python3', ['-c', ZIP, join(kind, 'tiny_words.zip')], { timeoutSeconds: 60 })
  expect(made.code).toBe(0)
  const request = { name: 'own-data', debianPackages: [], nltk: join(folder, 'nltk') }
  const image = await ensureSandboxImage((line) => console.error(line), { own: await resolveOwnPackages(request, 'slim') })
  expect(await inImage(image, 'cat /usr/local/share/nltk_data/corpora/tiny_words/words')).toMatchObject({ code: 0, stdout: 'one\ntwo\n' })
  await runCommand('docker', ['rmi', '--force', image, 'cellblock-sandbox:own-data'], { timeoutSeconds: 60 })
  await expect(resolveOwnPackages({ ...request, nltk: kind }, 'slim')).rejects.toThrow(/has no data sets of NLTK/)
}, 300_000)

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
