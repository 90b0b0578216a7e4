import { describe, expect, it } from 'vitest'
import { anySignal } from '../../../services/workers/run/stream/any-signal.ts'

describe('anySignal', () => {
  it('aborts once with the reason of the first aborted signal', () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const first = anySignal(one.signal, two.signal)
    const heard: unknown[] = []
    first.addEventListener('abort', () => heard.push(first.reason))
    expect(first.aborted).toBe(false)
    two.abort('two')
    one.abort('one')
    expect([first.aborted, first.reason, heard]).toEqual([true, 'two', ['two']])
  })

  it('is aborted at once if one signal already is', () => {
    const late = new AbortController()
    const first = anySignal(AbortSignal.abort('early'), late.signal)
    late.abort('late')
    expect([first.aborted, first.reason]).toEqual([true, 'early'])
  })
})
