import { matchesGlob } from 'node:path'

export interface Layer {
  readonly name: string
  /** Globs from the project's root. */
  readonly files: readonly string[]
  /** What the layer contains, in a few words. */
  readonly contents: string
  /** Names of layers and globs of single files, besides the layer itself. */
  readonly mayImport: readonly string[] | 'everything'
  /** Folders in this one are parts of the layer that never import one another. */
  readonly partsIn?: string
  /** The packages and modules of Node that it may import; absent: any. */
  readonly packages?: readonly string[]
}

/** The folders of `services` in the order of their imports. A file belongs to the first layer that names it. */
export const LAYERS: readonly Layer[] = [
  {
    name: 'model',
    files: ['services/model/**'],
    contents: 'rows and pure rules of resources: containers, executions, responses, files, tenants; ids, errors, limits',
    mayImport: [],
    packages: ['node:async_hooks', 'node:crypto', 'node:timers/promises', 'ulid', 'zod', 'zod/v4/core'],
  },
  { name: 'ports', files: ['services/ports/**'], contents: 'interfaces of storage, drivers, models and tools', mayImport: ['model'] },
  {
    name: 'jobs',
    files: ['services/jobs/**'],
    contents: 'the job engine: lease with heartbeat, fenced event log, rescheduling with back-off, dead letters, waiting for a row',
    mayImport: ['model', 'ports'],
  },
  {
    name: 'operations',
    files: ['services/operations/**'],
    contents: 'what the service can do, a folder per resource; shared by wires and workers',
    mayImport: ['model', 'ports', 'jobs'],
  },
  {
    name: 'http',
    files: ['services/http/**'],
    contents: 'routes as data, authentication, bodies, streams, the page; knows no wire',
    mayImport: ['model', 'ports', 'jobs', 'operations'],
  },
  {
    name: 'wires',
    files: ['services/wires/*/**'],
    contents: 'routes, schemas and rendering of one wire; never imports another wire',
    partsIn: 'services/wires',
    mayImport: ['model', 'ports', 'jobs', 'operations', 'http'],
  },
  {
    name: 'list of wires',
    files: ['services/wires/*'],
    contents: 'the routes, host names, WebSockets and settings of all wires',
    mayImport: ['wires', 'http'],
  },
  {
    name: 'workers',
    files: ['services/workers/**'],
    contents: 'turn steps, run steps, placement, reconciler, webhook deliveries',
    mayImport: ['model', 'ports', 'jobs', 'operations'],
  },
  {
    name: 'registries',
    files: ['services/adapters/drivers/{registry,deployments}.ts'],
    contents: 'the drivers by their names; how a deployment creates its driver',
    mayImport: ['drivers', 'model', 'ports'],
  },
  {
    name: 'drivers',
    files: ['services/adapters/drivers/**'],
    contents: 'adapters of the port for sandboxes; never imports another driver',
    partsIn: 'services/adapters/drivers',
    mayImport: ['model', 'ports'],
  },
  {
    name: 'adapters',
    files: ['services/adapters/*/**'],
    contents: 'adapters of the other ports: storage, link, supervisor client, models, tools; never imports another one',
    partsIn: 'services/adapters',
    mayImport: ['model', 'ports'],
  },
  {
    name: 'entries',
    files: ['services/entries/**'],
    contents: 'the functions in AWS, the server for one machine: the only places that connect parts',
    mayImport: ['model', 'ports', 'jobs', 'operations', 'http', 'list of wires', 'workers', 'registries', 'drivers', 'adapters'],
  },
  {
    name: 'construct',
    files: ['packages/cdk/**'],
    contents: 'the published construct, which contains that of the CDK app',
    mayImport: ['infra'],
  },
  {
    name: 'packages',
    files: ['packages/*/**'],
    contents: 'clients of the public API: library, command line, web page',
    partsIn: 'packages',
    mayImport: [],
  },
  {
    name: 'infra',
    files: ['infra/**'],
    contents: 'the CDK app; takes configuration schemas and definitions of the services',
    mayImport: [
      'services/entries/aws/{,api/,chat/,gateway/}config.ts',
      'services/http/origin/config.ts',
      'services/adapters/storage/{dynamodb/table-definition,sqs/queue-definitions,json-log}.ts',
      'services/adapters/tools/{create,load}-tools.ts',
      'services/adapters/drivers/{docker/limits,fargate/config,fargate/sizes}.ts',
      'services/ports/telemetry.ts',
      'model',
    ],
  },
  { name: 'scripts', files: ['{scripts,examples}/**'], contents: 'project commands and examples', mayImport: 'everything' },
  { name: 'tests', files: ['tests/**'], contents: 'every suite', mayImport: 'everything' },
]

const layerOf = (file: string): Layer | undefined => LAYERS.find(({ files }) => files.some((glob) => matchesGlob(file, glob)))

/** The folder of `file` among the layer's parts; null for a file that all parts share. */
function partOf(file: string, folder: string): string | null {
  const [part, ...rest] = file.slice(folder.length + 1).split('/')
  return rest.length === 0 ? null : (part ?? null)
}

const isOwnPart = (from: string, to: string, folder: string): boolean => [null, partOf(from, folder)].includes(partOf(to, folder))

/** Why `from`, a file, may not import `to`, a file or a package; null if it may. Paths are from the project's root. */
export function refuseImport(from: string, to: string, isPackage: boolean): string | null {
  const layer = layerOf(from)
  if (layer === undefined) return `${from} belongs to no layer: add its folder to scripts/import-rules/layers.ts`
  const { name, mayImport, partsIn, packages } = layer
  if (mayImport === 'everything') return null
  if (isPackage) {
    if (packages === undefined || packages.includes(to)) return null
    return `${from} -> ${to} is not allowed: layer ${name} may import only the packages ${packages.join(', ')}`
  }
  const target = layerOf(to)
  if (target === layer) {
    if (partsIn === undefined || isOwnPart(from, to, partsIn)) return null
    return `${from} -> ${to} is not allowed: folders of ${partsIn} never import one another`
  }
  if (mayImport.some((allowed) => allowed === target?.name || matchesGlob(to, allowed))) return null
  return `${from} -> ${to} is not allowed: layer ${name} may import ${mayImport.length === 0 ? 'only itself' : mayImport.join(', ')}`
}
