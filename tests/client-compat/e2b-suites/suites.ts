/** One of E2B's own suites at a pinned commit of its repository. Nothing of it is part of this repository. */
export interface E2bSuite {
  readonly name: string
  /** The checkout below the folder that the caller names. */
  readonly repository: 'E2B' | 'code-interpreter'
  readonly commit: string
  /** The package in the repository. */
  readonly folder: string
  readonly runner: 'vitest' | 'pytest'
  /** Files that use a sandbox. The others test the client alone, on a mocked network, or what no template of this server has. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

const SDK_COMMIT = 'b8029973aa7da5f741f7bb1a9f833b38a0885438'
const INTERPRETER_COMMIT = '7df1757bfd5baa037f909ce97c2dbe014da973c0'
/** Rules of a network, workload identities, forks and snapshots, and requests to a mocked server. */
const NOT_TRIED =
  'iam,networkTransform,configPropagation,abortSignal,rpcHeaders,lifecycleRequest,lifecyclePayload,egressProxy,fork,snapshot-api,network,urls'
const NOT_TRIED_PYTHON = ['network', 'fork', 'snapshot_api', 'config_propagation', 'sync_client_lifecycle']

const pythonFiles = (kind: 'sync' | 'async'): Pick<E2bSuite, 'include' | 'exclude'> => ({
  include: [`tests/${kind}/sandbox_${kind}`, ...['info', 'kill', 'list'].map((name) => `tests/${kind}/api_${kind}/test_sbx_${name}.py`)],
  exclude: NOT_TRIED_PYTHON.map((name) => `tests/${kind}/sandbox_${kind}/test_${name}.py`),
})

export const E2B_SUITES: readonly E2bSuite[] = [
  {
    name: 'E2B JavaScript SDK 2.45.0',
    repository: 'E2B',
    commit: SDK_COMMIT,
    folder: 'packages/js-sdk',
    runner: 'vitest',
    include: ['tests/sandbox/**/*.test.ts', 'tests/api/{info,kill,list}.test.ts'],
    exclude: [`tests/sandbox/{${NOT_TRIED}}.test.ts`],
  },
  ...(['sync', 'async'] as const).map((kind): E2bSuite => ({
    name: `E2B Python SDK 2.45.1, ${kind}`,
    repository: 'E2B',
    commit: SDK_COMMIT,
    folder: 'packages/python-sdk',
    runner: 'pytest',
    ...pythonFiles(kind),
  })),
  {
    name: 'E2B code interpreter, JavaScript 2.7.1',
    repository: 'code-interpreter',
    commit: INTERPRETER_COMMIT,
    folder: 'js',
    runner: 'vitest',
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/runtimes/**'],
  },
  {
    name: 'E2B code interpreter, Python 2.9.1',
    repository: 'code-interpreter',
    commit: INTERPRETER_COMMIT,
    folder: 'python',
    runner: 'pytest',
    include: ['tests'],
    exclude: ['tests/performance.py'],
  },
]
