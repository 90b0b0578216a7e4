import { describe, expect, it } from 'vitest'
import { PROCEDURES } from '../../../../services/wires/e2b/messages.ts'
import { decodeMessage, encodeMessage } from '../../../../services/wires/e2b/protobuf.ts'

const typesOf = (path: string) => PROCEDURES[path]!
const start = typesOf('/process.Process/Start')
const stat = typesOf('/filesystem.Filesystem/Stat')

describe('the Protocol Buffers encoding', () => {
  it("has the bytes that E2B's Python client sends and reads", () => {
    // Made with e2b 2.63.0: StartRequest(ProcessConfig("ls", ["-l"], {"A": "b"}, cwd="/x"), stdin=False).
    const bytes = Buffer.from('0a140a026c7312022d6c1a060a014112016222022f782000', 'hex')
    const message = { process: { cmd: 'ls', args: ['-l'], envs: { A: 'b' }, cwd: '/x' }, stdin: false }
    expect(decodeMessage(start.request, bytes)).toEqual(message)
    expect(encodeMessage(start.request, message)).toEqual(bytes)
    // StartResponse(ProcessEvent(end=EndEvent(exit_code=-1, status="killed"))): a negative number in zigzag form.
    const end = { event: { end: { exitCode: -1, status: 'killed' } } }
    expect(encodeMessage(start.response, end).toString('hex')).toBe('0a0c1a0a08011a066b696c6c6564')
  })

  it('keeps sizes of 64 bits, times, enums and lists', () => {
    const entry = {
      name: 'a',
      type: 'FILE_TYPE_DIRECTORY',
      path: '/a',
      size: '9007199254740993',
      mode: 0o755,
      modifiedTime: '2026-01-02T03:04:05.678Z',
    }
    expect(decodeMessage(stat.response, encodeMessage(stat.response, { entry, unknown: 1 }))).toEqual({ entry })
    const list = typesOf('/filesystem.Filesystem/GetWatcherEvents').response
    const events = [{ name: 'x', type: 'EVENT_TYPE_WRITE' }, { name: 'ü' }]
    expect(decodeMessage(list, encodeMessage(list, { events }))).toEqual({ events })
  })

  it('ignores unknown fields and those of another type', () => {
    // Fields 14 (number), 15 (8 bytes), 13 (text) and 12 (4 bytes), then field 1 as a number instead of text, then the path.
    const bytes = Buffer.from(['7001790000000000000000', '6a0161', '6500000000', '0805', '0a012f'].join(''), 'hex')
    expect(decodeMessage(stat.request, bytes)).toEqual({ path: '/' })
  })

  it.each([
    ['a length beyond the end', '0a7f61'],
    ['a number without an end', '70ffffffffffffffffffffff01'],
    ['a truncated tag', '8a'],
    ['a group', '0b0c'],
    ['a huge length', '0affffffff7f'],
  ])('refuses %s', (_, hex) => {
    expect(() => decodeMessage(stat.request, Buffer.from(hex, 'hex'))).toThrow(/not valid/)
  })
})
