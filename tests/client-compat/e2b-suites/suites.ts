/** A suite that others wrote for E2B's wire. Nothing of it is part of this repository. */
export interface E2bSuite {
  readonly name: string
  /** Null: packages have the tests, and a program beside this file calls them. */
  readonly source: SuiteSource | null
  readonly runner: 'vitest' | 'pytest'
  /** What pytest imports: a file of `requirements`, without its ending. */
  readonly python?: 'e2b' | 'langchain' | 'openai-agents' | 'inspect'
  /** Packages that vitest finds elsewhere in the checkout. */
  readonly alias?: Readonly<Record<string, string>>
  /** Only tests whose file or title contains one of these. */
  readonly only?: readonly string[]
  /** `standard` without it. */
  readonly image?: 'full'
  /** A test passes when it passes so many times, without a second try. */
  readonly repeats?: number
  /** It runs on a server with the network gateway, whose tenant may reach every host, and with host names of sandboxes. */
  readonly hasNetwork?: boolean
  /** On such a server: its client finds sandboxes by their host names, over HTTPS. E2B's Python client cannot, because it resolves names itself. */
  readonly usesHostNames?: boolean
  /** Files that use a sandbox. The others test the client alone, on a mocked network, or what no template of this server has. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

export interface SuiteSource {
  /** The checkout below the folder that the caller names, and its name at GitHub. */
  readonly repository: string
  readonly owner: string
  readonly commit: string
  /** The package in the repository. */
  readonly folder: string
}

const SDK_COMMIT = 'b8029973aa7da5f741f7bb1a9f833b38a0885438'
const INTERPRETER_COMMIT = '7df1757bfd5baa037f909ce97c2dbe014da973c0'
/** Networks, ports and signed URLs, which have separate suites, workload identities, and requests to a mocked server. */
const NOT_TRIED =
  'iam,networkTransform,configPropagation,abortSignal,rpcHeaders,lifecycleRequest,lifecyclePayload,egressProxy,network,internetAccess,host,urls,secure,files/signing'
const NOT_TRIED_PYTHON = ['network', 'internet_access', 'host', 'config_propagation', 'sync_client_lifecycle']

const sdk = (folder: string): SuiteSource => ({ owner: 'e2b-dev', repository: 'E2B', commit: SDK_COMMIT, folder })
const interpreter = (folder: string): SuiteSource => ({
  owner: 'e2b-dev',
  repository: 'code-interpreter',
  commit: INTERPRETER_COMMIT,
  folder,
})

/** The tests of rules, of the access to the internet, of ports over HTTPS and of signed URLs. */
const NETWORK_SUITES: readonly E2bSuite[] = [
  {
    name: 'E2B JavaScript SDK 2.45.0, network and ports',
    source: sdk('packages/js-sdk'),
    runner: 'vitest',
    hasNetwork: true,
    usesHostNames: true,
    include: ['tests/sandbox/{network,internetAccess,host,secure,files/signing}.test.ts'],
    exclude: [],
  },
  ...(['sync', 'async'] as const).map((kind): E2bSuite => ({
    name: `E2B Python SDK 2.45.1, ${kind}, network and ports`,
    source: sdk('packages/python-sdk'),
    runner: 'pytest',
    python: 'e2b',
    hasNetwork: true,
    include: ['network', 'internet_access', 'host'].map((name) => `tests/${kind}/sandbox_${kind}/test_${name}.py`),
    exclude: [],
  })),
]

const pythonFiles = (kind: 'sync' | 'async'): Pick<E2bSuite, 'include' | 'exclude'> => ({
  include: [`tests/${kind}/sandbox_${kind}`, ...['info', 'kill', 'list'].map((name) => `tests/${kind}/api_${kind}/test_sbx_${name}.py`)],
  exclude: NOT_TRIED_PYTHON.map((name) => `tests/${kind}/sandbox_${kind}/test_${name}.py`),
})

export const E2B_SUITES: readonly E2bSuite[] = [
  ...NETWORK_SUITES,
  {
    name: 'E2B JavaScript SDK 2.45.0',
    source: sdk('packages/js-sdk'),
    runner: 'vitest',
    include: ['tests/sandbox/**/*.test.ts', 'tests/api/{info,kill,list}.test.ts'],
    exclude: [`tests/sandbox/{${NOT_TRIED}}.test.ts`],
  },
  ...(['sync', 'async'] as const).map((kind): E2bSuite => ({
    name: `E2B Python SDK 2.45.1, ${kind}`,
    source: sdk('packages/python-sdk'),
    runner: 'pytest',
    python: 'e2b',
    ...pythonFiles(kind),
  })),
  {
    name: 'E2B code interpreter, JavaScript 2.7.1',
    source: interpreter('js'),
    runner: 'vitest',
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/runtimes/**'],
  },
  {
    name: 'E2B code interpreter, Python 2.9.1',
    source: interpreter('python'),
    runner: 'pytest',
    python: 'e2b',
    include: ['tests'],
    exclude: ['tests/performance.py'],
  },
  {
    name: 'E2B code interpreter, JavaScript 2.7.1, R in `full`',
    source: interpreter('js'),
    runner: 'vitest',
    image: 'full',
    only: ['cwd r', 'env vars'],
    include: ['tests/cwd.test.ts', 'tests/env_vars/r.test.ts'],
    exclude: [],
  },
  {
    name: 'E2B code interpreter, Python 2.9.1, R in `full`',
    source: interpreter('python'),
    runner: 'pytest',
    python: 'e2b',
    image: 'full',
    only: ['env_vars', 'cwd_r', 'r_kernel'],
    include: [
      ...['async', 'sync'].map((kind) => `tests/${kind}/env_vars/test_r.py`),
      ...['async/test_async_cwd.py', 'sync/test_cwd.py', 'sync/test_default_kernels.py'].map((name) => `tests/${name}`),
    ],
    exclude: [],
  },
  {
    name: 'ComputeSDK, provider suite, E2B provider',
    source: {
      owner: 'computesdk',
      repository: 'computesdk',
      commit: 'afaf03b7ccf2b5b2fff611110d8b24c7df4cc8c5',
      folder: 'packages/e2b',
    },
    runner: 'vitest',
    alias: { '@computesdk/test-utils': '../test-utils/src/index.ts' },
    include: ['src/__tests__/*.test.ts'],
    exclude: [],
  },
  ...(
    [
      { name: 'LangChain 1.1.9, sandbox tests, `langchain-e2b` 0.0.6', python: 'langchain', repeats: 20 },
      { name: 'OpenAI Agents 0.24.0, E2B sandbox', python: 'openai-agents' },
      { name: 'Inspect 0.3.285, self-check, `inspect-sandboxes` 0.6.1', python: 'inspect' },
    ] as const
  ).map((suite): E2bSuite => ({
    ...suite,
    source: null,
    runner: 'pytest',
    include: [`test_${suite.python.replace('-', '_')}.py`],
    exclude: [],
  })),
]
