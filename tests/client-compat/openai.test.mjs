import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { python, server } from './server.mjs'

const client = new OpenAI({ baseURL: server.baseURL, apiKey: server.apiKey })
const { model } = server
const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }]
const include = ['code_interpreter_call.outputs']
const all = async (pages) => {
  const found = []
  for await (const one of pages) found.push(one)
  return found
}
const isMissing = (call) => assert.rejects(call, (error) => error instanceof OpenAI.NotFoundError)

describe('models', () => {
  it('list and retrieve', async () => {
    const models = await all(client.models.list())
    assert.ok(models.some(({ id }) => id === model))
    assert.equal((await client.models.retrieve(model)).id, model)
  })
})

describe('files', () => {
  it('create, retrieve, list, content, waitForProcessing, delete', async () => {
    const file = await client.files.create({
      file: await toFile(Buffer.from('a,b\n1,2\n'), 'in.csv'),
      purpose: 'user_data',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    })
    assert.equal(file.expires_at, file.created_at + 3600)
    assert.deepEqual(await client.files.retrieve(file.id), file)
    assert.equal((await client.files.waitForProcessing(file.id)).status, 'processed')
    assert.ok((await all(client.files.list({ purpose: 'user_data', limit: 2, order: 'asc' }))).some(({ id }) => id === file.id))
    assert.equal(await (await client.files.content(file.id)).text(), 'a,b\n1,2\n')
    assert.deepEqual(await client.files.delete(file.id), { id: file.id, object: 'file', deleted: true })
    await isMissing(client.files.retrieve(file.id))
  })
})

describe('uploads', () => {
  it('create, parts.create, complete', async () => {
    const pieces = [Buffer.alloc(5_500_000, 'x'), Buffer.from('end')]
    const upload = await client.uploads.create({ filename: 'big.txt', bytes: 5_500_003, mime_type: 'text/plain', purpose: 'user_data' })
    const parts = await Promise.all(
      pieces.map(async (data) => client.uploads.parts.create(upload.id, { data: await toFile(data, 'part') })),
    )
    const done = await client.uploads.complete(upload.id, { part_ids: parts.map(({ id }) => id) })
    assert.equal(done.status, 'completed')
    const bytes = Buffer.from(await (await client.files.content(done.file.id)).arrayBuffer())
    assert.ok(bytes.equals(Buffer.concat(pieces)))
    await client.files.delete(done.file.id)
  })

  it('the largest file, in eight parts', async () => {
    const piece = Buffer.alloc(64 * 1024 * 1024, 'x')
    const upload = await client.uploads.create({
      filename: 'huge.bin',
      bytes: 8 * piece.length,
      mime_type: 'text/plain',
      purpose: 'user_data',
    })
    const ids = []
    for (let i = 0; i < 8; i += 1) ids.push((await client.uploads.parts.create(upload.id, { data: await toFile(piece, 'part') })).id)
    const { file } = await client.uploads.complete(upload.id, { part_ids: ids })
    assert.equal(file.bytes, 512 * 1024 * 1024)
    await client.files.delete(file.id)
  })

  it('cancel', async () => {
    const upload = await client.uploads.create({ filename: 'x', bytes: 1, mime_type: 'text/plain', purpose: 'user_data' })
    assert.equal((await client.uploads.cancel(upload.id)).status, 'cancelled')
  })
})

describe('containers', () => {
  it('create, retrieve, list, delete', async () => {
    const container = await client.containers.create({
      name: 'client',
      expires_after: { anchor: 'last_active_at', minutes: 5 },
      memory_limit: '1g',
    })
    assert.equal(container.status, 'running')
    assert.equal((await client.containers.retrieve(container.id)).name, 'client')
    assert.ok((await all(client.containers.list({ limit: 2 }))).some(({ id }) => id === container.id))
    await client.containers.delete(container.id)
    await isMissing(client.containers.retrieve(container.id))
  })

  it('files: create, create from file_id, retrieve, list, content, delete', async () => {
    const source = await client.files.create({ file: await toFile(Buffer.from('copied'), 'copied.txt'), purpose: 'user_data' })
    const { id } = await client.containers.create({ name: 'files', file_ids: [source.id] })
    const own = await client.containers.files.create(id, { file: await toFile(Buffer.from('own'), 'own.txt') })
    await client.containers.files.create(id, { file_id: source.id })
    assert.equal((await client.containers.files.retrieve(own.id, { container_id: id })).path, '/mnt/data/own.txt')
    assert.deepEqual((await all(client.containers.files.list(id, { order: 'asc' }))).map(({ path }) => path).sort(), [
      '/mnt/data/copied.txt',
      '/mnt/data/own.txt',
    ])
    assert.equal(await (await client.containers.files.content.retrieve(own.id, { container_id: id })).text(), 'own')
    await client.containers.files.delete(own.id, { container_id: id })
    await isMissing(client.containers.files.retrieve(own.id, { container_id: id }))
    await Promise.all([client.containers.delete(id), client.files.delete(source.id)])
  })
})

describe('responses', () => {
  const containers = new Set()
  const callOf = (response) => {
    const call = response.output.find(({ type }) => type === 'code_interpreter_call')
    containers.add(call?.container_id)
    return call
  }
  after(async () => {
    for (const id of containers) if (id) await client.containers.delete(id).catch(() => undefined)
  })

  it('create, with code, an attached file and a citation', async () => {
    const file = await client.files.create({ file: await toFile(Buffer.from('21'), 'half.txt'), purpose: 'user_data' })
    const response = await client.responses.create({
      model,
      tools,
      include,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_id: file.id },
            {
              type: 'input_text',
              text: python("n = int(open('/mnt/data/half.txt').read()) * 2\nopen('/mnt/data/double.txt', 'w').write(str(n))\nprint(n)"),
            },
          ],
        },
      ],
    })
    assert.equal(response.status, 'completed')
    const call = callOf(response)
    assert.match(call.outputs[0].logs, /42/)
    const citations = response.output.flatMap((item) => (item.type === 'message' ? item.content.flatMap((part) => part.annotations) : []))
    const citation = citations.find(({ type }) => type === 'container_file_citation')
    const made = await client.containers.files.content.retrieve(citation.file_id, { container_id: citation.container_id })
    assert.equal(await made.text(), '42')

    const second = await client.responses.create({
      model,
      tools,
      include,
      input: python('print(n + 1)'),
      previous_response_id: response.id,
    })
    assert.equal(callOf(second).container_id, call.container_id)
    assert.match(callOf(second).outputs[0].logs, /43/)
  })

  it('stream', async () => {
    const stream = client.responses.stream({ model, tools, input: python('print(1)') })
    const seen = []
    for await (const event of stream) seen.push(event)
    const final = await stream.finalResponse()
    callOf(final)
    assert.deepEqual(
      seen.map((event) => event.sequence_number),
      seen.map((_, index) => index),
    )
    assert.equal(seen[0].type, 'response.created')
    assert.equal(seen.at(-1).type, 'response.completed')
    assert.ok(seen.some(({ type }) => type === 'response.code_interpreter_call.interpreting'))
  })

  it('background, retrieve, resume by starting_after, inputItems, delete', async () => {
    const { id } = await client.responses.create({ model, tools, input: python('print(2)'), background: true })
    const events = await all(await client.responses.retrieve(id, { stream: true }))
    const rest = await all(await client.responses.retrieve(id, { stream: true, starting_after: 4 }))
    assert.deepEqual(rest, events.slice(5))
    const response = await client.responses.retrieve(id, { include })
    callOf(response)
    assert.equal(response.status, 'completed')
    assert.equal((await all(client.responses.inputItems.list(id))).length, 1)
    await client.responses.delete(id)
    await isMissing(client.responses.retrieve(id))
  })

  it('cancel', async () => {
    const { id } = await client.responses.create({ model, tools, input: python('import time; time.sleep(60)'), background: true })
    await client.responses.cancel(id)
    const events = await all(await client.responses.retrieve(id, { stream: true }))
    assert.match(events.at(-1).type, /^response\.(cancelled|incomplete|failed)$/)
    callOf(await client.responses.retrieve(id))
  })
})

describe('chat completions', () => {
  const messages = [{ role: 'user', content: python('print(6 * 7)') }]

  it('create, with code in a container', async () => {
    const answer = await client.chat.completions.create({ model, messages })
    assert.match(answer.choices[0].message.content, /42/)
    assert.equal(answer.choices[0].finish_reason, 'stop')
    assert.ok(answer.usage.total_tokens >= 0)
    await client.containers.delete(answer.x_cellblock.container_id)
  })

  it('stream', async () => {
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } })
    const answer = await stream.finalChatCompletion()
    assert.match(answer.choices[0].message.content, /42/)
    await client.containers.delete(answer.x_cellblock?.container_id ?? '').catch(() => undefined)
  })
})

describe('conversations', () => {
  it('create, retrieve, update, items, delete', async () => {
    const conversation = await client.conversations.create({ items: [{ role: 'user', content: 'one' }], metadata: { a: 'b' } })
    assert.deepEqual(await client.conversations.retrieve(conversation.id), conversation)
    assert.deepEqual((await client.conversations.update(conversation.id, { metadata: { c: 'd' } })).metadata, { c: 'd' })
    const added = await client.conversations.items.create(conversation.id, { items: [{ role: 'user', content: 'two' }] })
    const items = await all(client.conversations.items.list(conversation.id, { order: 'asc', limit: 1 }))
    assert.equal(items.length, 2)
    const [{ id }] = added.data
    assert.equal((await client.conversations.items.retrieve(id, { conversation_id: conversation.id })).id, id)
    await client.conversations.items.delete(id, { conversation_id: conversation.id })
    assert.equal((await client.conversations.delete(conversation.id)).deleted, true)
    await isMissing(client.conversations.retrieve(conversation.id))
  })

  it('carry turns, their items and their container', async () => {
    const { id } = await client.conversations.create()
    const first = await client.responses.create({ model, tools, input: python('kept = 7'), conversation: id })
    const second = await client.responses.create({ model, tools, include, input: python('print(kept * 6)'), conversation: { id } })
    assert.equal(first.conversation.id, id)
    const [a, b] = [first, second].map(({ output }) => output.find(({ type }) => type === 'code_interpreter_call'))
    assert.equal(a.container_id, b.container_id)
    assert.match(b.outputs[0].logs, /42/)
    const types = (await all(client.conversations.items.list(id, { order: 'asc', include }))).map(({ type }) => type)
    assert.deepEqual(types, ['message', 'code_interpreter_call', 'message', 'message', 'code_interpreter_call', 'message'])
    await client.conversations.delete(id)
    await client.containers.delete(a.container_id)
  })
})
