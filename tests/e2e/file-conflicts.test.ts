import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
})

async function upload(container: string, path: string): Promise<number> {
  const form = new FormData()
  form.set('path', path)
  form.set('file', new Blob(['x']), 'x.txt')
  return (await server.native.call('POST', `/v1/containers/${container}/files`, form)).status
}

describe('files that cannot be synchronized', () => {
  it('are reported, and the code runs without them', async () => {
    const container = await server.native.createContainer()
    await server.native.run(container, 'open("a", "w").write("x"); import os; os.symlink("/tmp", "link")')
    expect([await upload(container, 'a/b.txt'), await upload(container, 'link/c.txt')]).toEqual([200, 200])
    const execution = await server.native.run(container, { code: 'print("runs")', timeout_seconds: 10 })
    expect(execution).toMatchObject({ status: 'succeeded', stdout: 'runs\n' })
    expect(execution.lost.map(({ what }) => what)).toEqual(expect.arrayContaining(['file "a/b.txt"', 'file "link/c.txt"']))
  })

  it('are reported once when they cannot be removed, and the code runs', async () => {
    const container = await server.native.createContainer()
    const { files } = await server.native.run(container, 'import os; open("a", "w").write("x"); os.chmod(".", 0o555)')
    expect((await server.native.call('DELETE', `/v1/containers/${container}/files/${files[0]?.id}`)).status).toBe(200)
    const next = await server.native.run(container, 'print(os.path.exists("a"))')
    expect(next).toMatchObject({ status: 'succeeded', stdout: 'True\n', files: [], lost: [{ what: 'file "a"' }] })
    expect(await server.native.run(container, 'os.chmod(".", 0o755)')).toMatchObject({ status: 'succeeded', files: [], lost: [] })
  })

  it('are not treated as deleted while they cannot be listed', async () => {
    const container = await server.native.createContainer()
    await server.native.run(container, 'import os; os.makedirs("d"); open("d/x.txt", "w").write("x"); open("y.txt", "w").write("y")')
    const hidden = await server.native.run(container, 'os.chmod("d", 0)')
    expect(hidden.lost).toMatchObject([{ what: 'file "d"' }])
    const { data } = await server.native.json<{ data: { path: string }[] }>('GET', `/v1/containers/${container}/files`)
    expect(data.map(({ path }) => path).toSorted()).toEqual(['/mnt/data/d/x.txt', '/mnt/data/y.txt'])
  })
})
