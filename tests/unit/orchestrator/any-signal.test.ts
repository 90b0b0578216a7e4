import { describe, expect, it } from 'vitest'
import { anySignal } from '../../../services/orchestrator/run/any-signal.ts'

describe('the first of several signals', () => {
  it('aborts with the reason of the one that does, and never again', () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const first = anySignal(one.signal, two.signal)
    const heard: unknown[] = []
    first.addEventListener('abort', () => heard.push(first.reason))
    expect(first.aborted).toBe(false)
    two.abort('two')
    one.abort('one')
    expect([first.aborted, first.reason, heard]).toEqual([true, 'two', ['two']])
  })

  it('is aborted from the beginning when one of them is', () => {
    const late = new AbortController()
    const first = anySignal(AbortSignal.abort('early'), late.signal)
    late.abort('late')
    expect([first.aborted, first.reason]).toEqual([true, 'early'])
  })
})
