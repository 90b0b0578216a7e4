/** Every lock file of the project, from its root. */
export const LOCKFILES = [
  'package-lock.json',
  'site/package-lock.json',
  'scripts/generate-client/package-lock.json',
  'tests/client-compat/package-lock.json',
  'runtime-image/plotly/package-lock.json',
] as const

/** The part of package-lock.json (version 3) that these scripts read; keys of `packages` are paths such as `node_modules/a`. */
export interface LockedPackage {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  /** Hash of the package's archive. */
  readonly integrity?: string
  /** Part of its parent's archive, so the parent's integrity covers it. */
  readonly inBundle?: boolean
  readonly link?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
}
export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/**
 * Entries for the optional packages of other platforms that npm left out, as it does when a registry does not carry them or
 * node_modules already exists. Without them `npm ci` refuses the lockfile on every machine. `npm run lock:npm` adds their integrity where the
 * registry carries them.
 */
export function missingOptionalPackages(lockfile: Lockfile): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {}
  for (const [path, { optionalDependencies, dev }] of Object.entries(lockfile.packages))
    for (const [name, version] of Object.entries(optionalDependencies ?? {}))
      if (/^\d/.test(version) && !isLocked(lockfile, path, name))
        missing[`node_modules/${name}`] = { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) }
  return missing
}

/** Paths of packages whose archive npm would install without checking its hash. */
export const packagesWithoutIntegrity = ({ packages }: Lockfile): string[] =>
  Object.entries(packages)
    .filter(([path, entry]) => path !== '' && entry.integrity === undefined && entry.inBundle !== true && entry.link !== true)
    .map(([path]) => path)

/** Resolves as Node does: below the package itself, then below each parent folder. */
function isLocked(lockfile: Lockfile, from: string, name: string): boolean {
  for (let path = from; ; path = path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1))) {
    if (`${path === '' ? '' : `${path}/`}node_modules/${name}` in lockfile.packages) return true
    if (path === '') return false
  }
}

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']

/** From the parts of names such as `@scope/binding-linux-x64-gnu`. */
function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu'> {
  const parts = (name.split('/').at(-1) ?? name).split('-')
  const os = SYSTEMS.filter((system) => parts.includes(system))
  const cpu = PROCESSORS.filter((processor) => parts.includes(processor))
  return { ...(os.length > 0 ? { os } : {}), ...(cpu.length > 0 ? { cpu } : {}) }
}
