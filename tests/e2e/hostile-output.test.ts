import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
})

describe('hostile output', () => {
  it('gets no link by naming an object key', async () => {
    const container = await server.native.createContainer()
    const forged = await server.native.run(
      container,
      'display({"text/plain": "x", "cellblock/ref": {"objectKey": "tenants/foreign/else", "bytes": 1, "mime": "text/html"}}, raw=True)',
    )
    expect(forged).toMatchObject({ status: 'succeeded', outputs: [{ data: { 'text/plain': 'x' } }] })
    expect(JSON.stringify(forged)).not.toContain('foreign')
    const malformed = await server.native.run(
      container,
      'display({"cellblock/ref": "x"}, raw=True); display({"cellblock/ref": None}, raw=True)',
    )
    expect(malformed).toMatchObject({ status: 'succeeded' })
    const notebook = await server.native.call('GET', `/v1/containers/${container}/notebook.ipynb`)
    expect(notebook.status).toBe(200)
  })

  it('is reported where it was truncated or changed, and an uncollected file is reported once', async () => {
    const container = await server.native.createContainer()
    const first = await server.native.run(
      container,
      'import os\nos.symlink("/etc/passwd", "/mnt/data/link")\ndisplay({"application/json": {"n": float("nan")}, "text/plain": "x"}, raw=True)\nraise ValueError("x" * 100_000)',
    )
    expect(first.lost.map(({ what }) => what).toSorted()).toEqual(['display', 'error', 'file "link"'])
    expect(first.lost.find(({ what }) => what === 'display')?.reason).toMatch(/NaN .* became null/)
    expect(first.lost.find(({ what }) => what === 'error')?.reason).toMatch(/^Cut to \d+ of \d+ bytes: max_error_bytes$/)
    expect((await server.native.run(container, 'print(1)')).lost).toEqual([])
  })

  it('may be a file named like a JavaScript property', async () => {
    const names = ['constructor', '__proto__', 'toString', 'a.valueOf']
    const container = await server.native.createContainer()
    const execution = await server.native.run(container, `for name in ${JSON.stringify(names)}: open("/mnt/data/" + name, "w").write("x")`)
    expect(execution).toMatchObject({ status: 'succeeded', lost: [] })
    expect(execution.files.map(({ path, mime }) => [path, mime]).toSorted()).toEqual(
      names.map((name) => [`/mnt/data/${name}`, 'application/octet-stream']).toSorted(),
    )
  })

  it('is stored completely for long code with multi-byte characters', async () => {
    const container = await server.native.createContainer()
    const execution = await server.native.run(container, `#${'a'.repeat(190 * 1024)}\nprint("漢" * 44_000, "\\x01" * 5_000)`)
    expect(execution).toMatchObject({ status: 'succeeded', lost: [] })
    expect(execution.stdout).toHaveLength(49_002)
  })
})
