import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Container } from '../../model/containers/container.ts'
import { hasEnded, type ExecutionScope } from '../../model/executions/execution.ts'
import { EXECUTION_LANGUAGES, type ExecutionLanguage } from '../../model/executions/language.ts'
import { LIMITS } from '../../model/limits.ts'
import { runCode, type RunContext } from '../../operations/executions/run-code.ts'
import { osText } from '../../http/execution-scope.ts'
import { checkSource } from '../../operations/executions/source.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { HOME, sandboxPath } from '../../operations/files/sandbox-path.ts'
import { scopeOf } from './scope.ts'
import { bodyOf, e2bRoute } from './routing.ts'
import { useSandbox } from './open-sandbox.ts'
import { changeSession, type Session } from './session.ts'

/** A context of E2B: a language, a folder in which it begins, and its own variables. */
export type Context = Session['contexts'][number]

const MAX_CONTEXTS = 20
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

/** E2B lists these contexts before a client creates one. */
const DEFAULT_LANGUAGES = ['python', 'javascript'] as const satisfies readonly ExecutionLanguage[]

/** The scope of code in a context. A default context is the container's own namespace, which keeps the folder that code enters. */
export function kernelScope(
  session: Session,
  { id, language, cwd }: Context,
  env: Readonly<Record<string, string>> | null | undefined,
): ExecutionScope {
  const { cwd: folder, env: variables } = scopeOf(session, { env, cwd })
  return { env: variables, ...(id !== language && { context: id, cwd: folder }) }
}

/** The context that exists for each language without being created. Its id is the language. */
export const defaultContext = (language: ExecutionLanguage): Context => ({ id: language, language, cwd: HOME })

export function contextOf(session: Session, id: string): Context {
  const created = session.contexts.find((context) => context.id === id)
  const language = EXECUTION_LANGUAGES.find((name) => name === id)
  if (created === undefined && language === undefined)
    throw new ServiceError('not_found', `No context ${JSON.stringify(id.slice(0, 80))} exists in this sandbox. Create one.`)
  return created ?? defaultContext(language ?? 'python')
}

async function list(call: Call): Promise<Response> {
  const { session } = await useSandbox(call)
  return json(200, [...DEFAULT_LANGUAGES.map(defaultContext), ...session.contexts])
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
  const { container, session, context: runContext } = await useSandbox(call)
  const chosen = contextOf(session, call.param('context_id'))
  const { id } = chosen
  if (id === chosen.language) throw new ServiceError('conflict', `The default context ${id} cannot be removed. Restart it instead.`)
  // The kernel keeps its variables until then.
  if (container.sandboxId !== null) await reset(runContext, container, { session, chosen })
  await changeSession(
    call,
    container,
    (present) => present && { ...present, contexts: present.contexts.filter((context) => context.id !== id) },
  )
  return new Response(null, { status: 204 })
}

async function restart(call: Call): Promise<Response> {
  const { container, session, context } = await useSandbox(call)
  const chosen = contextOf(session, call.param('context_id'))
  await reset(context, container, { session, chosen })
  return new Response(null, { status: 204 })
}

/** Ends the variables of a context. Throws ServiceError `conflict` when code still runs there. */
async function reset(
  context: RunContext,
  container: Container,
  { session, chosen }: { readonly session: Session; readonly chosen: Context },
): Promise<void> {
  const { language } = chosen
  const { execution } = await runCode(context, {
    containerId: container.id,
    source: checkSource({ code: RESET[language] }),
    ...(language !== 'python' && { language }),
    scope: kernelScope(session, chosen, undefined),
    timeoutSeconds: RESTART_SECONDS,
    waitMs: RESTART_SECONDS * 1000,
  })
  if (!hasEnded(execution.status)) throw new ServiceError('conflict', 'The context is busy. Restart it when its code has ended.')
}

const data = { plane: 'data', scope: 'run' } as const

export const contextRoutes: readonly AnyRoute[] = [
  e2bRoute({ ...data, scope: 'read', method: 'get', path: '/contexts', handle: list }),
  e2bRoute({ ...data, method: 'post', path: '/contexts', body: NewContext, handle: create }),
  e2bRoute({ ...data, method: 'delete', path: '/contexts/{context_id}', handle: remove }),
  e2bRoute({ ...data, method: 'post', path: '/contexts/{context_id}/restart', handle: restart }),
]
