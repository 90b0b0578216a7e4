import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { SYSTEM_CALLS, type Machine } from './system-calls.ts'

const table = (machine: Machine): readonly (readonly [string, number])[] =>
  Object.entries(SYSTEM_CALLS).flatMap(([name, call]) => (call[machine] === null ? [] : [[name, call[machine]] as const]))

/** Makes each call with invalid arguments. The errno shows which layer replied. */
const LIVE = `
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
def answer(number):
    return "done" if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6) >= 0 else errno.errorcode[ctypes.get_errno()]
print(json.dumps({name: answer(number) for name, number in CALLS}))`

/** Interprets the worker's filter, for an architecture other than this machine's. */
const INTERPRETED = `
import errno, json
from cellblock_supervisor.worker.isolation import seccomp
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
def answer(machine, number):
    lines, data, at, value = seccomp.program(machine), {0: number, 4: ARCH[machine], 16: 0xFFFFFFFF}, 0, 0
    while True:
        code, yes, no, constant = lines[at]; at += 1
        if code == 0x20: value = data[constant]
        elif code == 0x06: return "allowed" if constant == 0x7FFF0000 else errno.errorcode[constant & 0xFFFF]
        else: at += yes if {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[code] else no
print(json.dumps({name: answer(MACHINE, number) for name, number in CALLS}))`

let server: LocalServerProcess
const answers: Record<string, Readonly<Record<string, string>>> = {}
beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: inject('sandboxImage') } })
  const container = await server.native.createContainer()
  const ask = async (program: string, machine: Machine): Promise<Readonly<Record<string, string>>> => {
    const code = `CALLS = ${JSON.stringify(table(machine))}\nMACHINE = ${JSON.stringify(machine)}\n${program}`
    const execution = await server.native.run(container, code)
    expect(execution.status, `${execution.stderr} ${execution.error?.value}`).toBe('succeeded')
    return JSON.parse(execution.stdout) as Readonly<Record<string, string>>
  }
  answers['live'] = await ask(LIVE, process.arch === 'arm64' ? 'aarch64' : 'x86_64')
  answers['x86_64'] = await ask(INTERPRETED, 'x86_64')
  answers['aarch64'] = await ask(INTERPRETED, 'aarch64')
})
afterAll(() => server.stop())

describe('the system call table', () => {
  it('has at least 45 entries', () => expect(Object.keys(SYSTEM_CALLS).length).toBeGreaterThanOrEqual(45))

  it.each(Object.entries(SYSTEM_CALLS))('%s', (name, { x86_64, aarch64, answer }) => {
    const native = process.arch === 'arm64' ? aarch64 : x86_64
    expect(answers['live']?.[name]).toBe(native === null ? undefined : answer)
    expect(answers['x86_64']?.[name]).toBe(x86_64 === null ? undefined : answer)
    expect(answers['aarch64']?.[name]).toBe(aarch64 === null ? undefined : answer)
  })
})
