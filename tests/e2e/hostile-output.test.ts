import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
})

describe('output that means harm', () => {
  it('gets no link by naming an object of its own choice', async () => {
    const container = await server.native.createContainer()
    const forged = await server.native.run(
      container,
      'display({"text/plain": "x", "cellblock/ref": {"objectKey": "tenants/somebody/else", "bytes": 1, "mime": "text/html"}}, raw=True)',
    )
    expect(forged).toMatchObject({ status: 'succeeded', outputs: [{ data: { 'text/plain': 'x' } }] })
    expect(JSON.stringify(forged)).not.toContain('somebody')
    const malformed = await server.native.run(
      container,
      'display({"cellblock/ref": "x"}, raw=True); display({"cellblock/ref": None}, raw=True)',
    )
    expect(malformed).toMatchObject({ status: 'succeeded' })
    const notebook = await server.native.call('GET', `/v1/containers/${container}/notebook.ipynb`)
    expect(notebook.status).toBe(200)
  })

  it('is kept when long code and text of many bytes a character come together', async () => {
    const container = await server.native.createContainer()
    const execution = await server.native.run(container, `#${'a'.repeat(190 * 1024)}\nprint("漢" * 44_000, "\\x01" * 5_000)`)
    expect(execution).toMatchObject({ status: 'succeeded', lost: [] })
    expect(execution.stdout).toHaveLength(49_002)
  })
})
