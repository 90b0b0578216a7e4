import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { pushLayers } from '../../../scripts/aws/push-layers.ts'
import { FakePrograms } from './fake-programs.ts'

let folder: string
let programs: FakePrograms
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-push-'))
  programs = new FakePrograms(join(folder, 'bin'))
  await programs.add('docker', 'exit 0')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const said: string[] = []
const push = (): Promise<void> => {
  said.length = 0
  return pushLayers({ env: { PATH: programs.folder }, progress: (line) => void said.push(line) }, 'sandbox:1', 'repository:1')
}

it('pushes layers of zstd with skopeo, in the format that has a type for them', async () => {
  await programs.add('skopeo', 'exit 0')
  await push()
  expect((await programs.calls()).slice(1)).toEqual([
    'skopeo copy --quiet --format oci --dest-compress-format zstd --dest-compress-level 19 docker-daemon:sandbox:1 docker://repository:1',
  ])
  expect(said).toEqual(['pushing repository:1, layers compressed with zstd'])
})

it('pushes with Docker where skopeo is missing, and says what skopeo would change', async () => {
  await push()
  expect(await programs.calls()).toEqual(['docker tag sandbox:1 repository:1', 'docker push --quiet repository:1'])
  expect(said).toEqual([expect.stringContaining('gzip (zstd, which starts tasks sooner, needs skopeo)')])
})

it('reports a push that failed', async () => {
  await programs.add('skopeo', 'if [ "$1" = copy ]; then echo denied >&2; exit 1; fi')
  await expect(push()).rejects.toThrow('The sandbox image could not be pushed')
})
