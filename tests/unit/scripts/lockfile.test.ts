import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  LOCKFILES,
  missingOptionalPackages,
  packagesWithoutIntegrity,
  type LockedPackage,
  type Lockfile,
} from '../../../scripts/lockfile.ts'
import { matches } from '../../../scripts/setup/dependencies.ts'

/** The registry of the last `npm run lock:npm` did not carry every package of other platforms. npm checks those that a machine installs by HTTPS only. */
const isForOtherPlatform = (name: string, entry: LockedPackage = {}): boolean =>
  entry.optional === true &&
  (!(entry.os ?? ['linux']).includes('linux') || !(entry.cpu ?? ['x64']).includes('x64') || name.endsWith('-musl'))

describe('missingOptionalPackages', () => {
  it('adds a platform that npm left out', () => {
    const lockfile: Lockfile = {
      packages: {
        'node_modules/tool': {
          version: '1.0.0',
          dev: true,
          optionalDependencies: { '@tool/linux-x64': '1.0.0', '@tool/darwin-arm64': '1.0.0' },
        },
        'node_modules/@tool/linux-x64': { version: '1.0.0', optional: true },
      },
    }
    expect(missingOptionalPackages(lockfile)).toEqual({
      'node_modules/@tool/darwin-arm64': { version: '1.0.0', dev: true, optional: true, os: ['darwin'], cpu: ['arm64'] },
    })
  })

  it('finds packages nested where Node would find them', () => {
    const lockfile: Lockfile = {
      packages: {
        'node_modules/a/node_modules/tool': { version: '2.0.0', optionalDependencies: { inner: '2.0.0', outer: '1.0.0' } },
        'node_modules/a/node_modules/inner': { version: '2.0.0' },
        'node_modules/outer': { version: '1.0.0' },
      },
    }
    expect(missingOptionalPackages(lockfile)).toEqual({})
  })

  it.each(LOCKFILES)('leaves nothing out of %s (run `npm run lock:npm` after npm install)', async (path) => {
    expect(missingOptionalPackages(JSON.parse(await readFile(path, 'utf8')) as Lockfile)).toEqual({})
  })
})

describe('packagesWithoutIntegrity', () => {
  it('names a package without a hash, unless its parent bundles it', () => {
    const lockfile: Lockfile = {
      packages: {
        '': {},
        'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
        'node_modules/a/node_modules/bundled': { version: '1.0.0', inBundle: true },
        'node_modules/b': { version: '1.0.0' },
      },
    }
    expect(packagesWithoutIntegrity(lockfile)).toEqual(['node_modules/b'])
  })

  it.each(LOCKFILES)('finds a hash for every package that Linux on x64 installs from %s', async (path) => {
    const lockfile = JSON.parse(await readFile(path, 'utf8')) as Lockfile
    const unchecked = packagesWithoutIntegrity(lockfile).filter((name) => !isForOtherPlatform(name, lockfile.packages[name]))
    expect(unchecked).toEqual([])
  })
})

describe('matches', () => {
  const wanted: Lockfile = {
    packages: { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/b-win32': { version: '1.0.0', optional: true } },
  }

  it('is satisfied without the optional packages of other platforms', () => {
    expect(matches(wanted, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true)
  })

  it('sees another version and a missing package', () => {
    expect(matches(wanted, { packages: { 'node_modules/a': { version: '1.0.1' } } })).toBe(false)
    expect(matches(wanted, { packages: {} })).toBe(false)
  })
})
