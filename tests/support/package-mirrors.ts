import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { runCommand } from '../../scripts/setup/command.ts'
import { writeTinyWheel } from './tiny-wheel.ts'

/** An index of packages with one wheel, as PyPI serves it: the index at pypi.org, its files at files.pythonhosted.org. */
export async function createPyPiMirror(folder: string, name: string): Promise<RequestListener> {
  await writeTinyWheel(folder, name)
  const file = `${name}-1.0-py3-none-any.whl`
  const wheel = await readFile(join(folder, file))
  const hash = createHash('sha256').update(wheel).digest('hex')
  return ({ url, headers: { host } }, response) => {
    if (host === 'pypi.org' && url === `/simple/${name.replaceAll('_', '-')}/`)
      response
        .setHeader('content-type', 'text/html')
        .end(`<a href="https://files.pythonhosted.org/packages/${file}#sha256=${hash}">${file}</a>`)
    else if (host === 'files.pythonhosted.org' && url === `/packages/${file}`) response.end(wheel)
    else response.writeHead(404).end()
  }
}

/** A registry with one package, as npm asks for it. */
export async function createNpmMirror(folder: string, name: string): Promise<RequestListener> {
  const source = join(folder, 'package')
  await mkdir(source, { recursive: true })
  await writeFile(join(source, 'package.json'), JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
  await writeFile(join(source, 'index.js'), 'module.exports = 42\n')
  await runCommand('tar', ['-czf', join(folder, 'package.tgz'), '-C', folder, 'package'], { timeoutSeconds: 30 })
  const archive = await readFile(join(folder, 'package.tgz'))
  const tarball = `https://registry.npmjs.org/${name}/-/${name}-1.0.0.tgz`
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  const version = { name, version: '1.0.0', main: 'index.js', dist: { tarball, integrity } }
  return ({ url }, response) => {
    if (url === `/${name}`)
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }))
    else if (url === `/${name}/-/${name}-1.0.0.tgz`) response.end(archive)
    else response.writeHead(404).end()
  }
}

/** A repository with one commit below `/acme/repo.git`, by Git's own program: reading only. */
export async function createGitMirror(folder: string): Promise<RequestListener> {
  const repository = join(folder, 'repo')
  const git = (...parameters: readonly string[]) =>
    runCommand('git', ['-C', repository, '-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...parameters], {
      timeoutSeconds: 30,
    })
  await mkdir(repository, { recursive: true })
  await git('init', '--quiet', '--initial-branch', 'main')
  await writeFile(join(repository, 'README.md'), 'cloned\n')
  await git('add', '.')
  const { code, output } = await git('commit', '--quiet', '--message', 'first')
  if (code !== 0) throw new Error(output)
  return (request, response) => {
    if (request.url === '/acme/repo.git/info/refs?service=git-upload-pack') {
      response.setHeader('content-type', 'application/x-git-upload-pack-advertisement')
      if (request.headers['git-protocol'] === undefined) response.write('001e# service=git-upload-pack\n0000')
      uploadPack(repository, ['--advertise-refs'], request, response)
    } else if (request.url === '/acme/repo.git/git-upload-pack') {
      response.setHeader('content-type', 'application/x-git-upload-pack-result')
      uploadPack(repository, [], request, response)
    } else response.writeHead(404).end()
  }
}

function uploadPack(repository: string, parameters: readonly string[], request: IncomingMessage, response: ServerResponse): void {
  const version = request.headers['git-protocol']
  const child = spawn('git', ['upload-pack', '--stateless-rpc', ...parameters, repository], {
    env: { ...process.env, ...(version !== undefined && { GIT_PROTOCOL: String(version) }) },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  body.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  child.stdout.pipe(response)
}
