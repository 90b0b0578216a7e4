import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const SITE = 'https://chat.example.com'
let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_POOL: '2', CORS_ORIGINS: SITE } })
})
afterAll(() => server.stop())

const read = (url: string): Promise<Response> => fetch(url, { headers: { origin: SITE } })
const execute = async (code: string): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${server.url}/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.apiKey}`, origin: SITE },
    body: JSON.stringify({ code }),
  })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, SITE])
  return (await answer.json()) as Record<string, unknown>
}

describe('the documents of the plugin', () => {
  it('link from the manifest to the operation and the logo, for a page of the chat site', async () => {
    const manifest = (await (await read(`${server.url}/.well-known/ai-plugin.json`)).json()) as Record<string, string> & {
      api: { url: string }
    }
    expect(manifest).toMatchObject({
      schema_version: 'v1',
      name_for_model: 'python',
      auth: { type: 'user_http', authorization_type: 'bearer' },
    })
    const logo = await read(String(manifest['logo_url']))
    expect([
      logo.headers.get('content-type'),
      Buffer.from(await logo.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ]).toEqual(['image/png', 'PNG'])

    const answer = await read(manifest.api.url)
    expect([answer.headers.get('content-type'), answer.headers.get('access-control-allow-origin')]).toEqual([
      'application/yaml; charset=utf-8',
      SITE,
    ])
    const text = await answer.text()
    expect(text.length).toBeLessThan(5_000)
    const document = JSON.parse(text) as { servers: { url: string }[]; paths: Record<string, Record<string, { operationId: string }>> }
    expect(document.servers).toEqual([{ url: server.url }])
    expect(Object.entries(document.paths).map(([path, verbs]) => [path, ...Object.keys(verbs)])).toEqual([['/execute', 'post']])
    const descriptions = [...text.matchAll(/"(?:description|description_for_model|summary)": "((?:[^"\\]|\\.)*)"/g)].map(
      (match) => match[1] ?? '',
    )
    expect(descriptions.length).toBeGreaterThan(8)
    for (const one of [...descriptions, String(manifest['description_for_model'])]) expect(one.length, one).toBeLessThan(300)
  })

  it('are public, the call requires a key', async () => {
    const answer = await fetch(`${server.url}/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"code":"1"}',
    })
    expect(answer.status).toBe(401)
  })
})

it('runs each program in a separate sandbox and removes it', async () => {
  const [fine, failed] = await Promise.all([
    execute("import sys\nx = 6\nprint('out')\nprint('err', file=sys.stderr)\nopen('a.txt', 'w').write('x')\nx * 7"),
    execute("print('a')\nx"),
  ])
  expect(fine).toEqual({ stdout: 'out\n42\n', stderr: 'err\n', returncode: 0 })
  expect(failed).toEqual({ stdout: 'a\n', stderr: expect.stringMatching(/NameError: name 'x' is not defined\n$/) as string, returncode: 1 })
  expect(failed?.['stderr']).not.toContain('\u001b')
  expect((await server.openai.containers.list()).data).toEqual([])
})
