import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  createBashExecutionTool,
  createBashProgrammaticToolCallingTool,
  createCodeExecutionTool,
  createProgrammaticToolCallingTool,
} from '@librechat/agents'

const { CELLBLOCK_URL: url, CELLBLOCK_API_KEY: apiKey } = process.env
if (!url || !apiKey) throw new Error('Set CELLBLOCK_URL and CELLBLOCK_API_KEY, or run this with "npm run test:clients".')
const baseUrl = `${url}/librechat/v1`
const authHeaders = { Authorization: `Bearer ${apiKey}` }

/** Calls of one conversation share a container, which keeps the tests short; the programs need none. */
const hint = { runtimeSessionHint: `client-${process.pid}`, statefulSessions: true, executionProfile: 'stateful' }
const program = { baseUrl, authHeaders, runTimeoutMs: 120_000 }
const invoke = (tool, args, injected = {}) => tool.invoke({ id: 'call_1', type: 'tool_call', name: tool.name, args, ...injected })

async function upload(name, text) {
  const form = new FormData()
  for (const [key, value] of [
    ['kind', 'user'],
    ['id', 'user-1'],
  ])
    form.set(key, value)
  form.set('file', new File([text], name))
  const answer = await fetch(`${baseUrl}/upload`, { method: 'POST', headers: authHeaders, body: form })
  const { storage_session_id, files } = await answer.json()
  return { storage_session_id, kind: 'user', id: files[0].fileId, resource_id: 'user-1', name }
}

it('runs Python and bash, and reports new, unchanged, modified and deleted files', async () => {
  const inputs = await Promise.all([upload('kept.txt', 'k'), upload('changed.txt', 'c'), upload('gone.txt', 'g')])
  const python = createCodeExecutionTool({ baseUrl, authHeaders, ...hint })
  const code = 'import os\nos.remove("gone.txt")\nopen("changed.txt", "a").write("!")\nopen("new.csv", "w").write("1")\nprint(6 * 7)'
  const { content, artifact } = await invoke(python, { lang: 'py', code }, { _injected_files: inputs })
  assert.match(content, /stdout:\n42/)
  const byName = Object.fromEntries(artifact.files.map((file) => [file.name, file]))
  assert.deepEqual(Object.keys(byName).toSorted(), ['changed.txt', 'kept.txt', 'new.csv'])
  assert.equal(byName['kept.txt'].inherited, true)
  assert.equal(byName['changed.txt'].modified_from.id, inputs[1].id)
  assert.deepEqual(artifact.deleted_files, ['gone.txt'])

  const bash = createBashExecutionTool({ baseUrl, authHeaders, ...hint })
  assert.match((await invoke(bash, { command: 'cat changed.txt; echo failed >&2; exit 3' })).content, /c![\s\S]*stderr:\n[\s\S]*failed/)
})

it('tells the model that a language is not offered', async () => {
  const tool = createCodeExecutionTool({ baseUrl, authHeaders, ...hint })
  await assert.rejects(invoke(tool, { lang: 'f90', code: 'end' }), /permanent capability mismatch/)
})

const calls = []
const tools = [
  { name: 'get-weather', invoke: async ({ city }) => (calls.push(city), { city, degrees: city.length }) },
  { name: 'fail', invoke: async () => Promise.reject(new Error('no such place')) },
]
const injected = {
  toolMap: new Map(tools.map((tool) => [tool.name, tool])),
  toolDefs: tools.map(({ name }) => ({ name, description: name, parameters: { type: 'object', properties: {} } })),
}

it('runs a Python program that calls tools in sequence and in parallel, and starts each run from the inputs', async () => {
  calls.length = 0
  const tool = createProgrammaticToolCallingTool(program)
  const code = [
    'import asyncio',
    'open("log.txt", "a").write("line\\n")',
    'one = await get_weather(city="Rome")',
    'two, three = await asyncio.gather(get_weather(city="Paris"), get_weather(city="Rome"))',
    'try:\n    await fail()\nexcept Exception as error:\n    print("caught", error)',
    'print(one["degrees"] + two["degrees"] + three["degrees"], open("log.txt").read().count("line"))',
  ].join('\n')
  const { content, artifact } = await invoke(tool, { code }, injected)
  assert.match(content, /caught no such place\n13 1/)
  assert.deepEqual(calls.toSorted(), ['Paris', 'Rome', 'Rome'])
  assert.deepEqual(
    artifact.files.map(({ name }) => name),
    ['log.txt'],
  )
})

it('runs a bash program that calls tools', async () => {
  calls.length = 0
  const tool = createBashProgrammaticToolCallingTool(program)
  const code = `data=$(get_weather '{"city": "Oslo"}')\necho "got $data"\nfail '{}' || echo "failed with $?"`
  assert.match((await invoke(tool, { code }, injected)).content, /got \{"city":"Oslo","degrees":4\}\nfailed with 1/)
  assert.deepEqual(calls, ['Oslo'])
})

it('reports a program that fails, and cancels one whose call ends', async () => {
  const tool = createProgrammaticToolCallingTool(program)
  await assert.rejects(invoke(tool, { code: 'await get_weather(city="Bern")\n1 / 0' }, injected), /ZeroDivisionError/)
  const ending = new AbortController()
  const running = tool.invoke(
    {
      id: 'call_1',
      type: 'tool_call',
      name: tool.name,
      args: { code: 'import time\nawait get_weather(city="Lima")\ntime.sleep(600)' },
      ...injected,
    },
    { signal: ending.signal },
  )
  while (!calls.includes('Lima')) await new Promise((resolve) => setImmediate(resolve))
  ending.abort()
  await assert.rejects(running)
})
