import { describe, expect, it } from 'vitest'
import {
  currentOwner,
  currentTrace,
  currentTraceparent,
  formatTraceparent,
  inTrace,
  joinTrace,
  keepTrace,
  parseTraceparent,
  parseXrayHeader,
  traceFields,
  workFor,
} from '../../../services/model/trace.ts'

const ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const header = (id = ID, span = SPAN) => `00-${id}-${span}-01`

describe('parseTraceparent', () => {
  it('parses and formats W3C Trace Context', () => {
    const parsed = parseTraceparent(header())
    expect(parsed).toEqual({ traceId: ID, spanId: SPAN, isSampled: true })
    expect(parsed && formatTraceparent(parsed)).toBe(header())
    expect(parseTraceparent(`00-${ID}-${SPAN}-00`)).toMatchObject({ isSampled: false })
  })
  it('parses the known part of a later version', () => {
    expect(parseTraceparent(`01-${ID}-${SPAN}-01-later`)).toMatchObject({ traceId: ID })
  })
  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['the forbidden version', `ff-${ID}-${SPAN}-01`],
    ['a trace id of zeros', header('0'.repeat(32))],
    ['a span id of zeros', header(ID, '0'.repeat(16))],
    ['capitals', header(ID.toUpperCase())],
    ['a short id', header(ID.slice(1))],
    ['a tail on version 00', `${header()}-x`],
    ['a second line', `${header()}\n{"event":"forged"}`],
    ['a first line', `x\n${header()}`],
  ])('rejects %s', (_, text) => {
    expect(parseTraceparent(text)).toBeNull()
  })
})

describe('parseXrayHeader', () => {
  it('joins the two parts of a root to one trace id', () => {
    expect(parseXrayHeader('Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1')).toEqual({
      traceId: '5759e988bd862e3fe1be46a994272793',
      spanId: '53995c3f42cd8ad8',
      isSampled: true,
    })
  })
  it('creates a parent id if the header has none, as load balancers send it', () => {
    expect(parseXrayHeader('Root=1-5759e988-bd862e3fe1be46a994272793')?.spanId).toMatch(/^[0-9a-f]{16}$/)
  })
  it.each(['', 'Root=1-xyz', 'Root=2-5759e988-bd862e3fe1be46a994272793', `Root=1-${'0'.repeat(8)}-${'0'.repeat(24)}`])(
    'ignores the invalid header %j',
    (text) => expect(parseXrayHeader(text)).toBeNull(),
  )
})

describe('a span', () => {
  it('is a child of its parent, also after an await', async () => {
    await inTrace(parseTraceparent(header()), async () => {
      await Promise.resolve()
      expect(traceFields()).toEqual({ trace_id: ID, span_id: expect.stringMatching(/^[0-9a-f]{16}$/), parent_id: SPAN })
      expect(currentTrace()?.spanId).not.toBe(SPAN)
    })
  })
  it('starts a new trace without a parent', () => {
    const [one, other] = [0, 1].map(() => inTrace(null, () => currentTrace()))
    expect(one).toMatchObject({ parentId: null, isSampled: true })
    expect(one?.traceId).not.toBe(other?.traceId)
  })
  it('does not exist outside a trace', () => {
    expect([currentTraceparent(), traceFields()]).toEqual([null, {}])
    joinTrace(header())
    expect(currentTrace()).toBeNull()
  })
  it('joins the trace of its row, visible to its caller', async () => {
    await inTrace(null, async () => {
      await (async () => {
        await Promise.resolve()
        joinTrace(header())
      })()
      expect(currentTrace()).toMatchObject({ traceId: ID, parentId: SPAN })
      const { spanId } = currentTrace() ?? {}
      joinTrace(header())
      joinTrace(null)
      joinTrace('forged')
      expect(currentTrace()?.spanId).toBe(spanId)
    })
  })
  it('does not leak into concurrent work', async () => {
    const other = inTrace(null, async () => {
      await new Promise(setImmediate)
      return currentTrace()?.traceId
    })
    await inTrace(null, async () => joinTrace(header()))
    expect(await other).not.toBe(ID)
  })
  it('can be bound to a callback', () => {
    const keep = inTrace(parseTraceparent(header()), () => keepTrace())
    expect(keep(() => currentTrace()?.traceId)).toBe(ID)
  })
})

describe('the owner of work', () => {
  it('is the process itself outside of all work, and for work without another owner', () => {
    workFor('tenant')
    expect(currentOwner()).toBe('')
    expect(inTrace(null, currentOwner)).toBe('')
  })
  it('holds for what the work starts and after it, and not for other work', async () => {
    const owners = await inTrace(null, async () => {
      workFor('a')
      const inner = inTrace(null, async () => {
        await Promise.resolve()
        return currentOwner()
      })
      const other = inTrace(null, currentOwner, 'b')
      return [await inner, other, currentOwner()]
    })
    expect(owners).toEqual(['a', 'b', 'a'])
  })
})
