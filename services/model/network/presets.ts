import type { NetworkRule } from './rule.ts'

interface Preset {
  /** When the list was last compared with what the tools request. */
  readonly checked: string
  readonly reason: string
  readonly rules: readonly NetworkRule[]
}

const READ = ['GET', 'HEAD'] as const

const read = (host: string, ...paths: readonly string[]): NetworkRule => ({ host, methods: READ, ...(paths.length > 0 && { paths }) })
/** Git over HTTPS without pushing: the list of references and the packs. A push needs `git-receive-pack`. */
const clone = (host: string): readonly NetworkRule[] => [
  read(host, '/**/info/refs'),
  { host, methods: ['POST'], paths: ['/**/git-upload-pack'] },
]

/** Lists of hosts that a policy names. Each can be read from only: no package is published and nothing is pushed. */
export const PRESETS = {
  pypi: {
    checked: '2026-11-26',
    reason: 'pip and uv read the index and the packages.',
    rules: [read('pypi.org', '/simple/**', '/pypi/**'), read('files.pythonhosted.org', '/packages/**')],
  },
  npm: {
    checked: '2026-11-26',
    reason: 'npm, pnpm and yarn read metadata and packages of one registry; its other name is the one of yarn 1.',
    rules: [read('registry.npmjs.org'), read('registry.yarnpkg.com')],
  },
  cran: {
    checked: '2026-11-26',
    reason: 'install.packages() reads one of these mirrors.',
    rules: [read('cran.r-project.org'), read('cloud.r-project.org'), read('packagemanager.posit.co')],
  },
  'github-read': {
    checked: '2026-11-26',
    reason: 'Reading of repositories, releases and raw files. GitHub redirects downloads to the other names.',
    rules: [
      read('github.com'),
      read('api.github.com'),
      read('raw.githubusercontent.com'),
      read('codeload.github.com'),
      read('objects.githubusercontent.com'),
      read('release-assets.githubusercontent.com'),
      { host: 'github.com', methods: ['POST'], paths: ['/**/git-upload-pack'] },
    ],
  },
  git: {
    checked: '2026-11-26',
    reason: 'git clone and git fetch over HTTPS from the large public services.',
    rules: ['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'].flatMap(clone),
  },
} as const satisfies Record<string, Preset>

export type PresetName = keyof typeof PRESETS
export const PRESET_NAMES = Object.keys(PRESETS) as readonly PresetName[] as readonly [PresetName, ...PresetName[]]
