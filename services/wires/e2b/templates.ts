import { TIERS } from '../../model/limits.ts'
import { ServiceError } from '../../model/errors.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { e2bRoute } from './routing.ts'
import { ENVD_VERSION } from './sandbox-info.ts'
import { aliasesOf } from './settings.ts'

/** Names of E2B's own templates, which select the default image. */
const DEFAULT_TEMPLATES: readonly string[] = ['base', 'code-interpreter-v1', 'code-interpreter-beta', 'desktop']
const MAX_NAME_CHARACTERS = 200

const nameOf = ({ deps }: Pick<Call, 'deps'>, template: string): string => aliasesOf(deps.config).get(template) ?? template

export const isImage = (call: Pick<Call, 'deps'>, template: string): boolean =>
  call.deps.images.has(nameOf(call, template)) || DEFAULT_TEMPLATES.includes(nameOf(call, template))

/**
 * The image of a template: an alias of the operator, an image, or undefined for the default image. Throws ServiceError `not_found` for any other
 * name, and for an alias of an image that this server does not offer.
 */
export function imageOf(call: Pick<Call, 'deps'>, template: string): string | undefined {
  const { deps } = call
  const image = nameOf(call, template)
  if (deps.images.has(image)) return image
  if (DEFAULT_TEMPLATES.includes(image)) return undefined
  const name = JSON.stringify(template.slice(0, MAX_NAME_CHARACTERS))
  throw new ServiceError(
    'not_found',
    image === template
      ? `No template ${name} exists. Templates are the images of this server: ${deps.images.names.join(', ')}. Its operator can give an image more names (CELLBLOCK_E2B_TEMPLATES).`
      : `The template ${name} is an alias of the image ${image}, which this server does not offer. It offers ${deps.images.names.join(', ')}.`,
  )
}

/** The images as E2B lists templates, each with the other names that select it. Nothing records when they were built. */
function list({ deps }: Call): Response {
  const aliases = [...aliasesOf(deps.config), ...DEFAULT_TEMPLATES.map((name) => [name, deps.images.defaultName] as const)]
  const unknownTime = new Date(0).toISOString()
  const memoryMB = TIERS['1g'].memoryBytes / 1024 ** 2
  return json(
    200,
    deps.images.names.map((image) => {
      const names = [image, ...aliases.flatMap(([alias, target]) => (target === image && alias !== image ? [alias] : []))]
      return {
        templateID: image,
        buildID: image,
        aliases: names,
        names,
        cpuCount: 1,
        memoryMB,
        diskSizeMB: memoryMB,
        public: true,
        createdAt: unknownTime,
        updatedAt: unknownTime,
        createdBy: null,
        lastSpawnedAt: null,
        spawnCount: 0,
        buildCount: 1,
        buildStatus: 'ready',
        envdVersion: ENVD_VERSION,
      }
    }),
  )
}

/** Clients ask whether a template exists before they build it. */
function findAlias(call: Call): Response {
  return json(200, { templateID: imageOf(call, call.param('alias')) ?? call.deps.images.defaultName, public: true })
}

const read = { plane: 'control', scope: 'read', method: 'get' } as const

export const templateRoutes: readonly AnyRoute[] = [
  ...['/templates', '/v2/templates'].map((path) => e2bRoute({ ...read, path, handle: list })),
  e2bRoute({ ...read, path: '/templates/aliases/{alias}', handle: findAlias }),
]
