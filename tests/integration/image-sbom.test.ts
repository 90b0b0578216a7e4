import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { sbomOf, type Sbom } from '../../scripts/image-sbom.ts'

const LOCK = join(import.meta.dirname, '../../runtime-image/requirements/slim.lock')

let sbom: Sbom
beforeAll(async () => void (sbom = await sbomOf(inject('sandboxImage'))))
const purls = (prefix: string): string[] => sbom.components.flatMap(({ purl }) => (purl?.startsWith(prefix) === true ? [purl] : []))

describe('the bill of materials of the sandbox image', () => {
  it('lists every locked Python package with its version, except for the removed debugger, and no own package', async () => {
    const locked = [...(await readFile(LOCK, 'utf8')).matchAll(/^([a-z0-9][\w.-]*)==([^\s;\\]+)/gim)].map(
      ([, name = '', version = '']) => `pkg:pypi/${name.toLowerCase().replaceAll(/[-_.]+/g, '-')}@${version}`,
    )
    expect(locked.length).toBeGreaterThan(20)
    expect(purls('pkg:pypi/').toSorted()).toEqual(locked.filter((purl) => !purl.startsWith('pkg:pypi/debugpy@')).toSorted())
  })

  it('lists the installed Debian packages and no removed ones', () => {
    const names = purls('pkg:deb/').map((purl) => /^pkg:deb\/debian\/([^@]+)@/.exec(purl)?.[1])
    expect(names).toEqual(expect.arrayContaining(['python3.13-minimal', 'libc6', 'base-files']))
    expect(names).not.toEqual(expect.arrayContaining(['apt']))
    expect(names).not.toEqual(expect.arrayContaining(['perl-base']))
    for (const purl of purls('pkg:deb/')) expect(purl).toMatch(/^pkg:deb\/debian\/[^@]+@[^?]+\?arch=(amd64|arm64|all)&distro=debian-13$/)
  })

  it('is a CycloneDX 1.6 document about this image with a unique reference per component', () => {
    const [name, version] = inject('sandboxImage').split(':')
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component: { name, version } } })
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const refs = sbom.components.map((component) => component['bom-ref'])
    expect(new Set(refs).size).toBe(refs.length)
    for (const part of sbom.components)
      expect(part).toMatchObject({ name: expect.stringMatching(/./), version: expect.stringMatching(/./) })
  })
})
