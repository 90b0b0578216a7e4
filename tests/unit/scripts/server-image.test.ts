import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OFFICIAL_BASE_IMAGE } from '../../../infra/build/official-base-image.ts'
import { SERVER_ENVIRONMENT, serverNodeFlags } from '../../../scripts/commands.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const dockerfile = read('Dockerfile')

describe('the Dockerfile of the server', () => {
  it('starts the server with the options and the environment of npm start', () => {
    const [, command = ''] = /^CMD (\[[^\]]+\])\s*$/m.exec(dockerfile.replaceAll('\\\n', '')) ?? []
    expect(JSON.parse(command)).toEqual([
      'node',
      '--disable-warning=ExperimentalWarning',
      ...serverNodeFlags({}),
      'services/entries/local/main.ts',
      '--data',
      '/var/lib/cellblock',
    ])
    for (const [name, value] of Object.entries(SERVER_ENVIRONMENT)) expect(dockerfile).toContain(`${name}=${value}`)
  })

  it('installs the Node of scripts/bootstrap.mjs, with its hashes', () => {
    const bootstrap = read('scripts/bootstrap.mjs')
    const [, version = ''] = /NODE_VERSION = '([\d.]+)'/.exec(bootstrap) ?? []
    const hashes = [...bootstrap.matchAll(/integrity: 'sha512-([^']+)'/g)].map(([, hash = '']) =>
      Buffer.from(hash, 'base64').toString('hex'),
    )
    expect(hashes).toHaveLength(2)
    expect(dockerfile).toContain(`/$node-${version}.tgz`)
    for (const hash of hashes) expect(dockerfile).toContain(`hash=${hash}`)
  })

  it('begins with the base of the sandbox image, as compose.yaml does', () => {
    for (const file of ['Dockerfile', 'compose.yaml', 'runtime-image/Dockerfile']) expect(read(file), file).toContain(OFFICIAL_BASE_IMAGE)
  })
})
