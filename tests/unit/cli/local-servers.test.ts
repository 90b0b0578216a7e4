import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chooseLocalServer, listLocalServers, type LocalServer } from '../../../scripts/cli/local-servers.ts'

const fields = { url: 'http://127.0.0.1:8787', controlSocket: '/tmp/none', dataDir: null }
const server = (port: number): LocalServer => ({ ...fields, pid: process.pid, port })

describe('listing local servers', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cellblock-notes-'))
    await writeFile(join(folder, '8787.json'), JSON.stringify({ ...fields, pid: process.pid }))
    // No process has this id: the maximum on Linux is 4,194,304.
    await writeFile(join(folder, '8788.json'), JSON.stringify({ ...fields, pid: 2 ** 30 }))
    await writeFile(join(folder, '8789.json'), '{"pid":')
    await writeFile(join(folder, 'notes.txt'), 'not a note')
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('omits killed servers and invalid records', async () => {
    expect(await listLocalServers(folder)).toEqual([server(8787)])
  })

  it('finds none when no server has run', async () => {
    expect(await listLocalServers(join(folder, 'nowhere'))).toEqual([])
  })
})

describe('choosing a server', () => {
  it('chooses the only one, or the one on the given port', () => {
    expect(chooseLocalServer([server(8787)], null)).toEqual(server(8787))
    expect(chooseLocalServer([server(8787), server(9000)], 9000)).toEqual(server(9000))
  })

  it('refuses to choose among several', () => {
    expect(() => chooseLocalServer([server(8787), server(9000)], null)).toThrow('Several local servers are running (ports 8787, 9000)')
  })

  it('explains how to start one', () => {
    expect(() => chooseLocalServer([], null)).toThrow('No local server is running. Start one with `npm start`')
    expect(() => chooseLocalServer([server(8787)], 9000)).toThrow('No local server is running on port 9000')
  })
})
