import { matchesGlob } from 'node:path'

interface PythonLayer {
  readonly name: string
  /** Globs from the package `cellblock_supervisor`. */
  readonly files: readonly string[]
  /** Names of layers that stand above this one in the table, besides the layer itself. */
  readonly mayImport: readonly string[]
}

export const PACKAGE = 'runtime-image/supervisor/cellblock_supervisor'

/**
 * Each layer imports only those before it, so that they form no cycle. The lower half runs as the worker, the upper half as the supervisor, which
 * of the worker's code imports the isolation alone.
 */
export const PYTHON_LAYERS: readonly PythonLayer[] = [
  {
    name: 'base',
    files: [
      '{__init__,config,packets,tail,reserved_buffer,refusal_codes,signing,socket_stream,worker_identity,cgroup,network_probe}.py',
      'worker/__init__.py',
    ],
    mayImport: [],
  },
  { name: 'files', files: ['files/**'], mayImport: ['base'] },
  { name: 'live namespace', files: ['worker/live_namespace.py'], mayImport: [] },
  { name: 'channel', files: ['worker/channel/**'], mayImport: ['base'] },
  { name: 'isolation', files: ['worker/isolation/**'], mayImport: ['base'] },
  { name: 'languages', files: ['worker/languages/**'], mayImport: ['base', 'channel'] },
  { name: 'charts', files: ['worker/charts/**'], mayImport: [] },
  { name: 'displays', files: ['worker/displays/**'], mayImport: ['charts'] },
  { name: 'libraries', files: ['worker/libraries/**'], mayImport: ['base', 'live namespace', 'isolation', 'charts', 'displays'] },
  { name: 'snapshot', files: ['worker/snapshot/**'], mayImport: ['base', 'live namespace', 'channel', 'languages', 'libraries'] },
  {
    name: 'kernel',
    files: ['worker/kernel/**'],
    mayImport: ['base', 'channel', 'isolation', 'languages', 'displays', 'libraries', 'snapshot'],
  },
  { name: 'programs', files: ['worker/programs/**'], mayImport: ['base', 'libraries'] },
  { name: 'zygote', files: ['worker/*.py'], mayImport: ['base', 'files', 'channel', 'isolation', 'libraries', 'kernel'] },
  { name: 'execution', files: ['execution/**'], mayImport: ['base', 'files', 'isolation'] },
  { name: 'network', files: ['network/**'], mayImport: ['base', 'files', 'isolation'] },
  {
    name: 'sandbox',
    files: ['{sandbox,shutdown,skills,isolation_checks}.py'],
    mayImport: ['base', 'files', 'isolation', 'execution', 'network'],
  },
  { name: 'http', files: ['http/**'], mayImport: ['base', 'files', 'isolation', 'execution', 'network', 'sandbox'] },
  { name: 'entry', files: ['{__main__,serving}.py'], mayImport: ['base', 'isolation', 'execution', 'sandbox', 'http'] },
]

const layerOf = (file: string): PythonLayer | undefined =>
  PYTHON_LAYERS.find(({ files }) => files.some((glob) => matchesGlob(file.slice(PACKAGE.length + 1), glob)))

/** Why a file of the supervisor may not import another one; null if it may. Paths are from the project's root. */
export function refusePythonImport(from: string, to: string): string | null {
  if (!from.startsWith(`${PACKAGE}/`)) return null
  const layer = layerOf(from)
  if (layer === undefined) return `${from} belongs to no layer: add it to scripts/import-rules/python/python-layers.ts`
  const target = layerOf(to)
  if (target === layer || layer.mayImport.some((name) => name === target?.name)) return null
  return `${from} -> ${to} is not allowed: layer ${layer.name} may import ${layer.mayImport.length === 0 ? 'only itself' : layer.mayImport.join(', ')}`
}
