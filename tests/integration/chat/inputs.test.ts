import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { readBytes } from '../../../services/model/read-bytes.ts'
import type { ResponseRecord } from '../../../services/model/responses/response.ts'
import { runPython, say } from '../../support/scripted-upstream.ts'
import { INTERPRETER, startTurnBench, storeFile, type RunCode, type TurnBench } from '../../support/turn-bench.ts'
import { type ResponseItem, renderItem } from '../../../services/model/responses/items/item-types.ts'

let bench: TurnBench
beforeAll(async () => {
  bench = await startTurnBench()
})
afterAll(() => bench.stop())

type CodeCall = Extract<ResponseItem, { type: 'code_interpreter_call' }>
const callOf = (row: ResponseRecord): CodeCall => row.items.find((item) => item.type === 'code_interpreter_call') as CodeCall
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const user = (...content: readonly Readonly<Record<string, unknown>>[]) => [{ role: 'user', content }]

async function filesIn(containerId: string): Promise<Record<string, string>> {
  const { table, objects } = bench.storage
  const files = (await table.files.all(bench.tenant, containerId)).filter((file) => file.isCurrent)
  const read = async (key: string): Promise<string> => {
    const object = await objects.get(key)
    return object === null ? '' : (await readBytes(object.body)).toString()
  }
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file.path, await read(file.objectKey)] as const)))
}

describe('files in a message', () => {
  const input = user(
    { type: 'input_file', filename: 'C:\\data\\sales.csv', file_data: `data:text/csv;base64,${base64('a,b\n1,2\n')}` },
    { type: 'input_file', filename: 'book.xlsx', file_data: base64('not text') },
    { type: 'input_file', filename: 'book.xlsx', file_data: base64('another') },
    { type: 'input_image', image_url: `data:image/png;base64,${base64('PNG')}` },
    { type: 'input_text', text: 'Look' },
  )

  it('are copied to the container before the code runs, and the model receives their names', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('look()') : say('Seen.')))
    const { id } = await bench.accept({ ...INTERPRETER, input })
    const row = await bench.finish(id)
    expect(await filesIn(callOf(row).containerId)).toEqual({
      'sales.csv': 'a,b\n1,2\n',
      'book.xlsx': 'not text',
      'book-44b43ae0.xlsx': 'another',
      'image-4.png': 'PNG',
    })
    const [system, asked] = bench.upstream.requests[0]?.body.messages ?? []
    for (const expected of ['"sales.csv" (8 bytes, uploaded by the user)', '"book-44b43ae0.xlsx" (7 bytes', '"image-4.png" (3 bytes'])
      expect(system?.content).toContain(expected)
    expect(asked?.content).toMatchObject([
      { type: 'text', text: 'File "sales.csv" (sent as "C:\\\\data\\\\sales.csv"):\na,b\n1,2\n' },
      { type: 'text', text: expect.stringContaining('code finds it in /mnt/data') },
      {},
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64('PNG')}` } },
      { text: 'Look' },
    ])
  })

  it('that are repeated in the history do not overwrite changes by the code', async () => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('change()') : say('Changed.')))
    const first = await bench.accept({ ...INTERPRETER, input })
    const before = await bench.finish(first.id, () => ({ files: { 'sales.csv': 'changed' } }))
    const call = callOf(before)
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('again()') : say('Again.')))
    const replayed = [...input, ...before.items.map((item) => renderItem(item, { include: [] })), { role: 'user', content: 'And now?' }]
    const { id } = await bench.accept({ ...INTERPRETER, input: replayed })
    const row = await bench.finish(id)
    expect(callOf(row).containerId).toBe(call.containerId)
    expect((await filesIn(call.containerId))['sales.csv']).toBe('changed')
  })

  it('stay in the conversation when no code can run', async () => {
    bench.upstream.play(() => say('Read.'))
    const { id } = await bench.accept({ input })
    expect(await bench.finish(id)).toMatchObject({ status: 'completed', containerId: null })
    expect(JSON.stringify(bench.upstream.requests[0]?.body.messages)).toContain('1,2')
  })
})

describe('images that code shows or writes', () => {
  const PNG = { 'image/png': base64('SHOWN'), 'text/plain': '<Figure>' }
  const shows: RunCode = () => ({
    result: {
      cells: [{ index: 0, status: 'ok', executionCount: 1, outputs: [{ output_type: 'display_data', data: PNG, metadata: {} }] }],
    },
    files: { 'saved.png': 'SAVED' },
  })
  const part = (text: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64(text)}` } })
  /** The messages of the last call of the model. */
  const messagesFor = async (model: string, calls: number, run: RunCode) => {
    bench.upstream.play((_, turn) => (turn < calls ? runPython(`plot(${turn})`) : say('A rise.')))
    const { id } = await bench.accept({ ...INTERPRETER, model, input: 'Plot' })
    expect(await bench.finish(id, run)).toMatchObject({ status: 'completed' })
    return bench.upstream.requests.at(-1)?.body.messages ?? []
  }

  it('are sent to a vision model after the results of the calls', async () => {
    expect((await messagesFor('vision', 1, shows)).slice(-2)).toMatchObject([
      { role: 'tool', content: expect.stringContaining('[a picture is shown to the user]') },
      { role: 'user', content: [{ type: 'text', text: expect.stringContaining('images that the code above showed') }, part('SHOWN')] },
    ])
  })

  it('are sent from their files when the code shows none', async () => {
    const messages = await messagesFor('vision', 1, () => ({ files: { 'saved.png': 'SAVED', 'table.csv': 'a' } }))
    expect(messages.at(-1)?.content).toEqual([expect.anything(), part('SAVED')])
  })

  it('are sent up to the four latest ones', async () => {
    const messages = await messagesFor('vision', 6, (code) => ({ files: { 'plot.png': code } }))
    expect(messages.flatMap(({ content }) => (Array.isArray(content) ? content.slice(1) : []))).toEqual(
      [2, 3, 4, 5].map((turn) => part(`plot(${turn})`)),
    )
  })

  it('are not sent to a model without vision, nor when they are too large', async () => {
    const large: RunCode = () => ({ files: { 'large.png': 'x'.repeat(2 * 1024 * 1024 + 1) } })
    for (const messages of [await messagesFor('scripted', 1, shows), await messagesFor('vision', 1, large)])
      expect(messages.at(-1)).toMatchObject({ role: 'tool', content: expect.any(String) as string })
  })
})

describe('an image referenced by its id', () => {
  const ask = async (fileId: string, subject: string | null = null) => {
    bench.upstream.play(() => say('Nice.'))
    const { id } = await bench.accept(
      { input: user({ type: 'input_image', file_id: fileId }, { type: 'input_text', text: 'What?' }) },
      undefined,
      subject,
    )
    expect(await bench.finish(id)).toMatchObject({ status: 'completed' })
    const [message] = bench.upstream.requests[0]?.body.messages ?? []
    return (message?.content as readonly unknown[] | undefined)?.[0]
  }
  const place = async (path: string, mime: string, subject: string | null = null) => {
    const containerId = newId('container')
    await createContainer(bench.storage.table, { tenant: bench.tenant, subject, id: containerId, name: 'x', memoryTier: '1g' }, Date.now())
    const file = await storeFile(bench.storage, { tenant: bench.tenant, containerId, id: null }, path, 'PIXELS')
    await bench.storage.table.files.put({ ...file, mime })
    return file.id
  }

  it('is sent to the model', async () => {
    expect(await ask(await place('p.png', 'image/png'))).toEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${base64('PIXELS')}` },
    })
  })

  it.each([
    ['is no picture', () => place('p.csv', 'text/csv')],
    ['is not there', () => Promise.resolve(newId('containerFile'))],
  ])('that %s is described in words', async (_, file) => {
    expect(await ask(await file())).toMatchObject({ type: 'text', text: expect.stringContaining('cannot be shown') })
  })

  it('of another end user is not sent to the model', async () => {
    const theirs = await place('secret.png', 'image/png', 'them')
    expect(await ask(theirs, 'me')).toMatchObject({ type: 'text' })
    expect(await ask(theirs, 'them')).toMatchObject({ type: 'image_url' })
  })
})

describe('a history with a container id', () => {
  const history = (containerId: string) => [
    { role: 'user', content: 'x = 1' },
    { type: 'code_interpreter_call', id: 'ci_1', container_id: containerId, code: 'x = 1', status: 'completed', outputs: [] },
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'Print x' },
  ]
  const run = async (input: ReturnType<typeof history>, subject: string | null = null) => {
    bench.upstream.play((_, turn) => (turn === 0 ? runPython('print(x)') : say('1')))
    const { id } = await bench.accept({ ...INTERPRETER, input }, undefined, subject)
    const row = await bench.finish(id)
    expect(row).toMatchObject({ status: 'completed', error: null })
    return callOf(row)
  }
  const container = async (subject: string | null = null) => {
    const id = newId('container')
    await createContainer(
      bench.storage.table,
      { tenant: bench.tenant, subject, id, name: 'old', memoryTier: '1g' },
      Date.now() - 20 * 86_400_000,
    )
    return id
  }

  it('continues in that container, even after it has expired', async () => {
    const id = await container()
    expect(await run(history(id))).toMatchObject({ containerId: id, status: 'completed' })
  })

  it('gets a new container when that one was deleted or never existed', async () => {
    const deleted = await container()
    await bench.storage.table.containers.markDeleted(bench.tenant, deleted, Date.now())
    for (const id of [deleted, newId('container'), 'cntr_of_another_service', '../x']) {
      const call = await run(history(id))
      expect(call).toMatchObject({ status: 'completed', outcome: { status: 'succeeded' } })
      expect(call.containerId).not.toBe(id)
    }
  })

  it("does not use another end user's container", async () => {
    const theirs = await container('them')
    expect((await run(history(theirs), 'me')).containerId).not.toBe(theirs)
    expect((await run(history(theirs), 'them')).containerId).toBe(theirs)
  })
})
