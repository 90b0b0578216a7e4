import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findingLine, findingsText, type Finding } from '../../../scripts/doctor/finding.ts'
import { transcriptOf } from '../../../scripts/doctor/transcript.ts'
import { checkEngineVersion, checkKernel, checkNode, evaluateDisk } from '../../../scripts/doctor/local-checks.ts'

const ROOT = join(import.meta.dirname, '../../..')
const GIB = 1024 ** 3
let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'cellblock-doctor-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A folder with a `docker` that answers like an engine. */
async function fakeDocker(name: string, script: string): Promise<string> {
  const bin = await mkdtemp(join(folder, `${name}-`))
  await writeFile(join(bin, 'docker'), `#!/bin/sh\n${script}\n`)
  await chmod(join(bin, 'docker'), 0o755)
  return bin
}
const engine = (info: object) => `case "$1" in
  version) echo 27.0.1 ;;
  info) case "$3" in '{{json .}}') echo '${JSON.stringify(info)}' ;; *) echo /nowhere ;; esac ;;
  *) exit 1 ;;
esac`
const ENGINE_INFO = { OSType: 'linux', SecurityOptions: ['name=seccomp,profile=default'], MemoryLimit: true, PidsLimit: true }

/** The doctor as its own process, with this PATH. */
async function doctor(
  path: string,
  env: Record<string, string> = {},
): Promise<{ code: number; findings: Record<string, Finding>; stderr: string }> {
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(ROOT, 'scripts/doctor/main.ts'), '--json'],
      // Hides the engine of this machine.
      { cwd: ROOT, env: { PATH: path, PORT: '0', DOCKER_HOST: 'unix:///nonexistent/docker.sock', ...env } },
      (error, stdout, stderr) => {
        const findings = stdout.startsWith('[') ? (JSON.parse(stdout) as Finding[]) : []
        resolve({
          code: typeof error?.code === 'number' ? error.code : 0,
          findings: Object.fromEntries(findings.map((f) => [f.check, f])),
          stderr,
        })
      },
    ),
  )
}
async function busyPort(answer: (server: Server) => void): Promise<{ port: string; close(): void }> {
  const server = createServer()
  answer(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: String((server.address() as AddressInfo).port), close: () => server.close() }
}

describe('npm run doctor', () => {
  it('passes on a complete machine and warns about an image that is not built yet', async () => {
    const { code, findings } = await doctor(await fakeDocker('good', engine(ENGINE_INFO)))
    expect(Object.values(findings).filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(code).toBe(0)
    expect(findings['Docker']).toMatchObject({ outcome: 'ok', message: 'engine 27.0.1' })
    expect(findings['Sandbox image']).toMatchObject({ outcome: 'warn', message: expect.stringContaining('npm run image') })
  })

  it('fails if the docker command is missing', async () => {
    const { code, findings } = await doctor(folder)
    expect(code).toBe(1)
    expect(findings['Docker']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('`docker` command is missing') })
    expect(findings['Sandbox image']).toBeUndefined()
  })

  it('fails if no engine answers at DOCKER_HOST', async () => {
    const bin = await fakeDocker('dead', 'echo "Cannot connect to the Docker daemon" >&2; exit 1')
    const { code, findings } = await doctor(bin)
    expect(code).toBe(1)
    expect(findings['Docker']?.message).toContain('No Docker engine answers at DOCKER_HOST=unix:///nonexistent/docker.sock')
  })

  it.each([
    ['no seccomp', { ...ENGINE_INFO, SecurityOptions: ['name=apparmor'] }, 'no seccomp'],
    ['no limits', { ...ENGINE_INFO, MemoryLimit: false, PidsLimit: false }, 'no memory limits and no process limits'],
    ['Windows containers', { ...ENGINE_INFO, OSType: 'windows' }, 'Linux containers'],
  ])('fails for an engine with %s', async (_, info, sentence) => {
    const { code, findings } = await doctor(await fakeDocker('features', engine(info)))
    expect(code).toBe(1)
    expect(findings['Engine']).toMatchObject({ outcome: 'fail', message: expect.stringContaining(sentence) })
  })

  it('fails if another program uses the port, and recognises a Cellblock server', async () => {
    const bin = await fakeDocker('port', engine(ENGINE_INFO))
    const foreignServer = await busyPort((server) => server.on('request', (_, response) => response.end('hello')))
    const ours = await busyPort((server) => server.on('request', (_, response) => response.setHeader('x-request-id', 'req_1').end('{}')))
    try {
      const [other, own] = await Promise.all([doctor(bin, { PORT: foreignServer.port }), doctor(bin, { PORT: ours.port })])
      expect(other.code).toBe(1)
      expect(other.findings['Port']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('taken by another program') })
      expect(own.findings['Port']).toMatchObject({ outcome: 'ok', message: expect.stringContaining('Cellblock server') })
    } finally {
      foreignServer.close()
      ours.close()
    }
  })

  it('rejects an invalid port and an address of another machine', async () => {
    const bin = await fakeDocker('args', engine(ENGINE_INFO))
    const [wrong, foreign] = await Promise.all([doctor(bin, { PORT: 'many' }), doctor(bin, { HOST: '192.0.2.1' })])
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('PORT must be a number from 0 to 65535') })
    expect(foreign.findings['Port']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('HOST must be an address') })
  })
})

describe('thresholds of the doctor', () => {
  it.each([
    ['24.2.0', 'ok'],
    ['25.0.0', 'ok'],
    ['24.1.9', 'fail'],
    ['20.19.0', 'fail'],
  ])('Node %s: %s', (version, outcome) => expect(checkNode(version).outcome).toBe(outcome))
  it.each([
    ['20.10.24', 'ok'],
    ['28.0.0', 'ok'],
    ['20.9.1', 'fail'],
    ['19.3.0', 'fail'],
  ])('Docker %s: %s', (version, outcome) => expect(checkEngineVersion(version).outcome).toBe(outcome))
  it.each([
    ['6.18.44-generic', 'warn'],
    ['6.18.0', 'warn'],
    ['6.18.45', 'ok'],
    ['6.12.48+deb13-amd64', 'ok'],
    ['7.0.0', 'ok'],
  ])('Linux %s: %s', (version, outcome) => expect(checkKernel(version).outcome).toBe(outcome))
  it.each([
    [1, 'fail'],
    [3, 'warn'],
    [50, 'ok'],
  ])('%d GiB of free disk: %s', (gib, outcome) => expect(evaluateDisk('Disk', '/', gib * GIB).outcome).toBe(outcome))
  it('ends with the number of failed checks', () => {
    expect(['24.2.0', '20.0.0'].map((version) => findingLine(checkNode(version))[0])).toEqual(['✓', '✗'])
    expect(findingsText([checkNode('24.2.0'), checkNode('20.0.0')])).toContain('1 of 2 checks failed.')
    expect(findingsText([checkNode('24.2.0')])).toContain('All checks passed.')
  })
})

describe('the transcript for a bug report', () => {
  const findings: readonly Finding[] = [
    { check: 'Stacks', outcome: 'ok', message: 'stage prod' },
    {
      check: 'Entry',
      outcome: 'fail',
      message: 'arn:aws:ecs:eu-west-1:123456789012:cluster/one, key ck_live_abc, X-Amz-Signature=0f, ops@example.com',
    },
  ]
  const text = transcriptOf({ findings, seconds: [0.4, 61.6], environment: { region: 'eu-west-1', settings: '{"a":"210987654321"}' } })

  it('has what was examined, each finding with its time, and how many failed', () => {
    expect(text).toContain('region    eu-west-1\n')
    expect(text).toMatch(/^ {4}0 s ✓ Stacks +stage prod$/m)
    expect(text).toMatch(/^ {3}62 s ✗ Entry/m)
    expect(text).toContain('1 of 2 checks failed.')
  })

  it('hides account numbers, keys, signatures and e-mail addresses', () => {
    expect(text).not.toMatch(/\d{12}|ck_live|=0f|ops@/)
    expect(text).toContain('arn:aws:ecs:eu-west-1:<account>:cluster/one, key <api key>, <signature>, <e-mail>')
  })
})
