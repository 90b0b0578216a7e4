import { describe, expect, it } from 'vitest'
import { chatConfigFromEnv, chatConfigFromSecret } from '../../../services/adapters/models/config.ts'
import { fencedPython } from '../../../services/model/responses/fenced-code.ts'
import { createModelCatalogue } from '../../../services/adapters/models/catalogue.ts'
import { demoModel } from '../../../services/adapters/models/demo.ts'
import { quirksOf } from '../../../services/adapters/models/quirks.ts'
import type { ModelMessage, ModelRequest } from '../../../services/ports/chat-model.ts'

const catalogue = (env: Record<string, string>) => createModelCatalogue(chatConfigFromEnv(env))

describe('the model catalogue', () => {
  it('offers only the demo model without configuration', () => {
    const models = catalogue({})
    expect(models.list().map((model) => model.id)).toEqual(['demo'])
    expect([models.has('demo'), models.has('gpt-4.1')]).toEqual([true, false])
    expect(models.find('gpt-4.1')).toBeNull()
  })

  it('accepts any model name for OPENAI_API_KEY, or only those in OPENAI_MODELS', () => {
    expect(catalogue({ OPENAI_API_KEY: 'sk' }).find('gpt-4.1')).toMatchObject({ upstreamName: 'gpt-4.1' })
    const limited = catalogue({ OPENAI_API_KEY: 'sk', OPENAI_MODELS: 'a, b' })
    expect([limited.has('a'), limited.has('c')]).toEqual([true, false])
    expect(limited.list().map((model) => model.id)).toEqual(['a', 'b', 'demo'])
  })

  it('lists the models of CELLBLOCK_MODELS, each with its endpoint', () => {
    const list = [
      { name: 'local', base_url: 'http://127.0.0.1:11434/v1', model: 'qwen3', context_window: 32_000 },
      { name: 'claude', base_url: 'https://api.anthropic.com/v1', api_key_env: 'KEY' },
    ]
    const models = catalogue({ CELLBLOCK_MODELS: JSON.stringify(list), KEY: 'secret' })
    expect(models.find('local')).toMatchObject({ upstreamName: 'qwen3', contextWindow: 32_000 })
    expect(models.has('claude')).toBe(true)
    expect(JSON.stringify(models.list())).not.toContain('secret')
  })

  it.each([
    [{ CELLBLOCK_MODELS: '{' }, 'CELLBLOCK_MODELS is not JSON'],
    [{ CELLBLOCK_MODELS: '[{"name":"x"}]' }, 'CELLBLOCK_MODELS is wrong'],
    [{ CELLBLOCK_MODELS: '[{"name":"x","base_url":"http://h/v1","api_kee":"k"}]' }, 'api_kee'],
    [{ CELLBLOCK_MODELS: '[{"name":"x","base_url":"http://h/v1","api_key_env":"NOPE"}]' }, 'NOPE, which is not set'],
    [{ OPENAI_BASE_URL: 'nonsense' }, 'OPENAI_BASE_URL is not a URL'],
  ])('refuses %o', (env, sentence) => {
    expect(() => chatConfigFromEnv(env)).toThrow(sentence)
  })

  it('reads keys from the secret and omits a model without a key', () => {
    const list = JSON.stringify([{ name: 'x', base_url: 'http://h/v1', api_key_env: 'X_KEY' }])
    expect(createModelCatalogue(chatConfigFromSecret('{"X_KEY":"k"}', list)).has('x')).toBe(true)
    expect(
      createModelCatalogue(chatConfigFromSecret('{}', list))
        .list()
        .map((model) => model.id),
    ).toEqual(['demo'])
    expect(() => chatConfigFromSecret('[1]', list)).toThrow('not a JSON object of strings')
  })

  it('applies the differences between endpoints', () => {
    expect(quirksOf('https://api.openai.com/v1', 'gpt-4.1')).toMatchObject({ limitField: 'max_completion_tokens', rejectsSampling: false })
    expect(quirksOf('https://api.openai.com/v1', 'o4-mini')).toMatchObject({ rejectsSampling: true })
    expect(quirksOf('https://api.anthropic.com/v1', 'claude-x')).toMatchObject({ requiresTools: true, limitField: 'max_tokens' })
    expect(quirksOf('http://localhost:11434/v1', 'qwen3')).toMatchObject({ requiresTools: false, limitField: 'max_tokens' })
  })

  it.each([
    ['gpt-4o', true],
    ['openai/gpt-5-mini', true],
    ['o3', true],
    ['o3-mini', false],
    ['gpt-4', false],
    ['gpt-oss-120b', false],
    ['claude-sonnet-4-5', true],
    ['claude-2.1', false],
    ['gemini-2.5-pro', true],
    ['qwen2.5-vl-7b', true],
    ['qwen3', false],
  ])('determines whether %s accepts images: %s', (model, readsImages) => {
    expect(quirksOf('http://localhost:11434/v1', model).readsImages).toBe(readsImages)
  })
})

describe('the demo model', () => {
  const python = { name: 'python', description: '', parameters: {} }
  async function ask(messages: readonly ModelMessage[], change: Partial<ModelRequest> = {}) {
    const request: ModelRequest = {
      model: 'demo',
      messages,
      tools: [python],
      toolChoice: 'auto',
      temperature: null,
      topP: null,
      maxOutputTokens: null,
      parallelToolCalls: true,
      responseFormat: null,
      reasoningEffort: null,
      verbosity: null,
      fencesCode: false,
      ...change,
    }
    let text = ''
    let args = ''
    let finish = ''
    for await (const delta of demoModel.stream(request, AbortSignal.timeout(5_000))) {
      if (delta.type === 'text') text += delta.text
      if (delta.type === 'tool_call') args += delta.arguments
      if (delta.type === 'finish') finish = delta.reason
    }
    return { text, args, finish }
  }
  const user: ModelMessage = { role: 'user', content: '```python\na = 1\n```\n\n~~~py\nprint(a)\n~~~' }
  const ran = (content: string): ModelMessage[] => [
    { role: 'assistant', content: '', toolCalls: [{ id: 'x', name: 'python', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'x', content },
  ]

  it('runs the blocks one after another, then answers', async () => {
    expect(await ask([user])).toMatchObject({ args: '{"code":"a = 1\\n"}', finish: 'tool_calls' })
    expect(await ask([user, ...ran('status: succeeded')])).toMatchObject({ args: '{"code":"print(a)\\n"}' })
    const answer = await ask([
      user,
      ...ran('status: succeeded'),
      ...ran('status: succeeded\nstdout:\n1\nfiles:\n- /mnt/data/p (1).png (12 bytes, new)'),
    ])
    expect(answer.finish).toBe('stop')
    expect(answer.text).toContain('[p (1).png](sandbox:/mnt/data/p (1).png)')
    expect(answer.text).not.toContain('- /mnt/data/p')
  })

  it('names the blocks that it did not run when it reaches a limit', async () => {
    expect((await ask([user, ...ran('status: failed')], { toolChoice: 'none' })).text).toContain('The other 1 of 2 blocks were not run')
    expect((await ask([user], { tools: [] })).text).toContain('"code_interpreter"')
  })

  it('reads only the last message', async () => {
    expect((await ask([user, ...ran('x'), { role: 'user', content: 'thanks' }])).text).toContain('"Run code" runs code without a model')
  })
})

describe('fencedPython', () => {
  it('finds only Python blocks', () => {
    expect(fencedPython('```python\na\n```\n```js\nb\n```\n  ```py\n  c\n  ```\n````python\n```\nd\n````')).toEqual([
      'a\n',
      '  c\n',
      '```\nd\n',
    ])
  })
})
