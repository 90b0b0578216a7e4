import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { ServiceError } from '../../model/errors.ts'
import { hasEnded } from '../../model/executions/execution.ts'
import { EXECUTION_LANGUAGES, type ExecutionLanguage } from '../../model/executions/language.ts'
import { LIMITS } from '../../model/limits.ts'
import { runCode } from '../../operations/executions/run-code.ts'
import { osText } from '../../http/execution-scope.ts'
import { checkSource } from '../../operations/executions/source.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { sandboxPath } from './paths.ts'
import { bodyOf, e2bRoute } from './routing.ts'
import { useSandbox } from './open-sandbox.ts'
import { changeSession, type Session } from './session.ts'

/** A context of E2B: a language and a folder. Contexts of one language share its variables, because a container has one session per language. */
export type Context = Session['contexts'][number]

const MAX_CONTEXTS = 20
const HOME = '/home/user'
const RESTART_SECONDS = 20
const NAMES: Readonly<Record<string, ExecutionLanguage>> = {
  python3: 'python',
  py: 'python',
  js: 'javascript',
  node: 'javascript',
  ts: 'typescript',
  deno: 'typescript',
  sh: 'bash',
  shell: 'bash',
}
/** Code that ends the state of a language's session. */
const RESET: Readonly<Record<ExecutionLanguage, string>> = {
  python: 'get_ipython().run_line_magic("reset", "-f")',
  bash: 'exit 0',
  javascript: 'process.exit(0)',
  typescript: 'process.exit(0)',
  r: 'quit(save = "no")',
}

/** Throws ServiceError for a language that executions cannot have. */
export function languageOf(name: string): ExecutionLanguage {
  const known = NAMES[name.toLowerCase()] ?? EXECUTION_LANGUAGES.find((language) => language === name.toLowerCase())
  if (known !== undefined) return known
  throw new ServiceError(
    'unsupported_value',
    `The language ${JSON.stringify(name.slice(0, 40))} is not available. Use ${EXECUTION_LANGUAGES.join(', ')}.`,
  )
}

/** The context that exists for each language without being created. Its id is the language. */
const defaultContext = (language: ExecutionLanguage): Context => ({ id: language, language, cwd: HOME })

export function contextOf(session: Session, id: string): Context {
  const created = session.contexts.find((context) => context.id === id)
  const language = EXECUTION_LANGUAGES.find((name) => name === id)
  if (created === undefined && language === undefined)
    throw new ServiceError('not_found', `No context ${JSON.stringify(id.slice(0, 80))} exists in this sandbox. Create one.`)
  return created ?? defaultContext(language ?? 'python')
}

async function list(call: Call): Promise<Response> {
  const { session } = await useSandbox(call)
  return json(200, [defaultContext('python'), ...session.contexts])
}

const NewContext = lazySchema(() => openObject({ language: z.string().nullish(), cwd: osText(LIMITS.maxPathBytes).nullish() }))

async function create(call: Call): Promise<Response> {
  const { container } = await useSandbox(call)
  const body = await bodyOf(call, NewContext())
  const cwd = sandboxPath(body.cwd ?? HOME).shown
  const context: Context = { id: randomUUID(), language: languageOf(body.language ?? 'python'), cwd }
  await changeSession(call, container, (session) => {
    if (session === undefined) return undefined
    if (session.contexts.length >= MAX_CONTEXTS)
      throw new ServiceError('conflict', `The sandbox has ${MAX_CONTEXTS} contexts, the maximum. Remove one.`)
    return { ...session, contexts: [...session.contexts, context] }
  })
  return json(200, context)
}

async function remove(call: Call): Promise<Response> {
  const { container, session } = await useSandbox(call)
  const { id } = contextOf(session, call.param('context_id'))
  await changeSession(
    call,
    container,
    (present) => present && { ...present, contexts: present.contexts.filter((context) => context.id !== id) },
  )
  return new Response(null, { status: 204 })
}

/** Ends the state of the context's language. */
async function restart(call: Call): Promise<Response> {
  const { container, session, context } = await useSandbox(call)
  const { language } = contextOf(session, call.param('context_id'))
  const { execution } = await runCode(context, {
    containerId: container.id,
    source: checkSource({ code: RESET[language] }),
    ...(language !== 'python' && { language }),
    timeoutSeconds: RESTART_SECONDS,
    waitMs: RESTART_SECONDS * 1000,
  })
  if (!hasEnded(execution.status)) throw new ServiceError('conflict', 'The context is busy. Restart it when its code has ended.')
  return new Response(null, { status: 204 })
}

const data = { plane: 'data', scope: 'run' } as const

export const contextRoutes: readonly AnyRoute[] = [
  e2bRoute({ ...data, method: 'get', path: '/contexts', handle: list }),
  e2bRoute({ ...data, method: 'post', path: '/contexts', body: NewContext, handle: create }),
  e2bRoute({ ...data, method: 'delete', path: '/contexts/{context_id}', handle: remove }),
  e2bRoute({ ...data, method: 'post', path: '/contexts/{context_id}/restart', handle: restart }),
]
