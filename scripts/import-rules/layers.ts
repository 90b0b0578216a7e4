import { matchesGlob } from 'node:path'

export interface Layer {
  readonly name: string
  /** Globs from the project's root. */
  readonly files: readonly string[]
  /** Names of layers and globs of single files, besides the layer itself. */
  readonly mayImport: readonly string[] | 'everything'
  /** Folders in this one are parts of the layer that never import one another. */
  readonly partsIn?: string
  /** The packages and modules of Node that it may import; absent: any. */
  readonly packages?: readonly string[]
}

/** The table of docs/architecture.md. A file belongs to the first layer that names it. */
export const LAYERS: readonly Layer[] = [
  {
    name: 'core',
    files: ['services/core/**'],
    mayImport: [],
    packages: ['node:async_hooks', 'node:crypto', 'node:timers/promises', 'ulid', 'zod'],
  },
  { name: 'jobs', files: ['services/jobs/**'], mayImport: ['core'] },
  {
    name: 'api entry',
    files: ['services/api/{lambda,aws-app,upload-server}.ts'],
    mayImport: ['api app', 'api', 'driver registry', 'orchestrator config', 'storage', 'core'],
  },
  {
    name: 'api app',
    files: ['services/api/app.ts', 'services/api/wires/routes.ts', 'services/api/meta/{docs,openapi}.ts'],
    mayImport: ['wires', 'api', 'core'],
  },
  { name: 'wires', files: ['services/api/wires/*/**'], partsIn: 'services/api/wires', mayImport: ['api', 'jobs', 'core'] },
  { name: 'api', files: ['services/api/**'], mayImport: ['jobs', 'core'] },
  {
    name: 'chat entry',
    files: ['services/chat/lambda.ts'],
    mayImport: ['chat', 'driver registry', 'orchestrator config', 'storage', 'jobs', 'core'],
  },
  { name: 'chat', files: ['services/chat/**'], mayImport: ['jobs', 'core'] },
  {
    name: 'orchestrator entry',
    files: ['services/orchestrator/*/lambda.ts'],
    mayImport: ['orchestrator', 'orchestrator config', 'driver registry', 'drivers', 'storage', 'core'],
  },
  { name: 'driver registry', files: ['services/orchestrator/drivers/{registry,deployments}.ts'], mayImport: ['drivers'] },
  { name: 'drivers', files: ['services/orchestrator/drivers/**'], partsIn: 'services/orchestrator/drivers', mayImport: ['core'] },
  {
    name: 'orchestrator config',
    files: ['services/orchestrator/config.ts'],
    mayImport: ['driver registry', 'services/orchestrator/drivers/driver-profile.ts', 'core'],
  },
  {
    name: 'orchestrator',
    files: ['services/orchestrator/**'],
    mayImport: ['orchestrator config', 'services/orchestrator/drivers/driver-profile.ts', 'jobs', 'core'],
  },
  { name: 'storage', files: ['services/storage/**'], mayImport: ['core'] },
  {
    name: 'local',
    files: ['services/local/**'],
    mayImport: ['api app', 'wires', 'api', 'chat', 'orchestrator', 'driver registry', 'drivers', 'storage', 'jobs', 'core'],
  },
  { name: 'cli', files: ['services/cli/**'], mayImport: ['local', 'packages', 'storage', 'core'] },
  { name: 'playground', files: ['services/playground/**'], mayImport: [] },
  { name: 'construct', files: ['packages/cdk/**'], mayImport: ['infra'] },
  { name: 'packages', files: ['packages/*/**'], partsIn: 'packages', mayImport: [] },
  {
    name: 'infra',
    files: ['infra/**'],
    mayImport: [
      'services/{api,api/origin,chat,orchestrator}/config.ts',
      'services/storage/{dynamodb/table-definition,sqs/queue-definitions,json-log}.ts',
      'services/chat/tools/{create,load}-tools.ts',
      'services/orchestrator/drivers/{docker/limits,fargate/config,fargate/sizes}.ts',
      'core',
    ],
  },
  { name: 'scripts', files: ['{scripts,tests,examples}/**'], mayImport: 'everything' },
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
