import * as z from 'zod'
import { WORKER_UID_LABEL } from '../../adapters/drivers/docker/container-options.ts'

/** What the driver may ask of the engine. Anything else is refused. */
export type EngineCall =
  | { readonly kind: 'ping' | 'info' }
  | { readonly kind: 'image'; readonly image: string }
  /** `isWhole`: also containers of other servers, of which only the number is answered. */
  | { readonly kind: 'list'; readonly labels: readonly string[]; readonly isWhole: boolean }
  | { readonly kind: 'create' }
  | { readonly kind: 'inspect' | 'start' | 'remove' | 'update'; readonly container: string }
  | { readonly kind: 'wait'; readonly container: string; readonly condition: 'removed' | null }

const NAME = /^[a-zA-Z0-9][\w.-]{0,127}$/
const Filters = z.strictObject({ label: z.array(z.string().regex(/^cellblock\.[a-z-]+(?:=[\w-]{1,100})?$/)).min(1) })

/** Null for a call that the driver never makes. */
export function readCall(method: string, target: string): EngineCall | null {
  const url = URL.canParse(target, 'http://engine') ? new URL(target, 'http://engine') : null
  if (url === null) return null
  const [first = '', second = '', third = '', ...more] = url.pathname
    .replace(/^\/v1\.\d+(?=\/)/, '')
    .slice(1)
    .split('/')
  const isGet = method === 'GET'
  if (first === '_ping' && second === '') return isGet ? { kind: 'ping' } : null
  if (first === 'info' && second === '') return isGet ? { kind: 'info' } : null
  if (first === 'images') return isGet ? imageCall(url.pathname) : null
  if (first !== 'containers' || more.length > 0) return null
  if (second === 'json' && third === '') return isGet ? listCall(url.searchParams) : null
  if (second === 'create' && third === '') return method === 'POST' ? { kind: 'create' } : null
  return NAME.test(second) ? containerCall(method, { container: second, verb: third, query: url.searchParams }) : null
}

function imageCall(path: string): EngineCall | null {
  const [, image] = /\/images\/(.+)\/json$/.exec(path) ?? []
  return image === undefined ? null : { kind: 'image', image: decodeURIComponent(image) }
}

function listCall(query: URLSearchParams): EngineCall | null {
  const filters = Filters.safeParse(jsonOf(query.get('filters')))
  if (!filters.success) return null
  const labels = filters.data.label
  return { kind: 'list', labels, isWhole: labels.every((label) => label.startsWith(`${WORKER_UID_LABEL}=`)) }
}

function containerCall(
  method: string,
  { container, verb, query }: { readonly container: string; readonly verb: string; readonly query: URLSearchParams },
): EngineCall | null {
  const condition = query.get('condition')
  switch (`${method} ${verb}`) {
    case 'GET json':
      return { kind: 'inspect', container }
    case 'POST start':
      return { kind: 'start', container }
    case 'POST update':
      return { kind: 'update', container }
    case 'POST wait':
      return condition === null || condition === 'removed' ? { kind: 'wait', container, condition } : null
    case 'DELETE ':
      return { kind: 'remove', container }
    default:
      return null
  }
}

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return null
  }
}
