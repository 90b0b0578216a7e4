import { createHash } from 'node:crypto'
import { explainFailure, runCommand } from './setup/command.ts'

/** Lists installed packages inside the image: Debian's package database and the metadata of each Python package. */
const PROGRAM = `
import importlib.metadata, json, platform
release = dict(line.strip().split("=", 1) for line in open("/etc/os-release") if "=" in line)
system = []
for block in open("/var/lib/dpkg/status", encoding="utf-8").read().split("\\n\\n"):
    fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1].strip() and ": " in line)
    if fields.get("Status", "").endswith(" installed"):
        system.append({key: fields.get(key) for key in ("Package", "Version", "Architecture", "Source")})
python = []
for found in importlib.metadata.distributions():
    metadata = found.metadata
    licenses = [text.rsplit(" :: ", 1)[1] for text in metadata.get_all("Classifier") or () if text.startswith("License :: ")]
    python.append({"name": metadata["Name"], "version": found.version, "expression": metadata.get("License-Expression"),
                   "license": metadata.get("License"), "classifiers": licenses, "summary": metadata.get("Summary")})
print(json.dumps({"release": {key: value.strip('"') for key, value in release.items()}, "system": system, "python": python,
                  "interpreter": platform.python_version()}))
`

interface Installed {
  readonly release: Readonly<Record<string, string>>
  readonly system: readonly {
    readonly Package: string
    readonly Version: string
    readonly Architecture: string
    readonly Source: string | null
  }[]
  readonly python: readonly {
    readonly name: string
    readonly version: string
    readonly expression: string | null
    readonly license: string | null
    readonly classifiers: readonly string[]
    readonly summary: string | null
  }[]
}

/** The part of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/) that this module writes. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly serialNumber: string
  readonly version: 1
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
}
export interface Component {
  readonly type: 'container' | 'operating-system' | 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly description?: string
  readonly licenses?: readonly ({ readonly expression: string } | { readonly license: { readonly name: string } })[]
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

/**
 * The software bill of materials of a sandbox image: operating system, Debian packages and Python packages. The same image gives the same
 * document. Throws SetupError if the image cannot be run.
 */
export async function sbomOf(image: string): Promise<Sbom> {
  const result = await runCommand('docker', [
    'run',
    '--rm',
    '--network',
    'none',
    '--read-only',
    '--entrypoint',
    'python3',
    image,
    '-c',
    PROGRAM,
  ])
  if (result.code !== 0) throw explainFailure(`The image ${image} could not list its packages: the reason is above.`, result)
  const inspected = await runCommand('docker', ['image', 'inspect', '--format', '{{.Id}}', image])
  if (inspected.code !== 0) throw explainFailure(`The image ${image} could not be inspected: the reason is above.`, inspected)
  const installed = JSON.parse(result.stdout) as Installed
  const components = [systemOf(installed), ...debian(installed), ...python(installed)].toSorted((a, b) =>
    a['bom-ref'] < b['bom-ref'] ? -1 : 1,
  )
  const [name = image, version = ''] = image.split(/:(?=[^/]*$)/)
  const component: Component = {
    type: 'container',
    'bom-ref': `container:${name}`,
    name,
    version,
    properties: [{ name: 'docker:image:id', value: inspected.stdout.trim() }],
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([component, components]))
    .digest('hex')
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: uuidFrom(digest), version: 1, metadata: { component }, components }
}

const systemOf = ({ release }: Installed): Component => ({
  type: 'operating-system',
  'bom-ref': 'system',
  name: release['ID'] ?? 'linux',
  version: release['VERSION_ID'] ?? '',
  description: release['PRETTY_NAME'] ?? '',
})

function debian({ system, release }: Installed): Component[] {
  const distro = `${release['ID'] ?? 'debian'}-${release['VERSION_ID'] ?? ''}`
  return system.map(({ Package: name, Version: version, Architecture: arch, Source }) => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&distro=${distro}`
    const source = Source === null ? [] : [{ name: 'debian:source', value: Source }]
    return { type: 'library', 'bom-ref': purl, name, version, purl, ...(source.length === 0 ? {} : { properties: source }) }
  })
}

/** Part of this repository. PyPI does not have it, and another package could take its name there. */
const OWN_PACKAGES: readonly string[] = ['cellblock-notebooks']

function python({ python: packages }: Installed): Component[] {
  return packages
    .filter(({ name }) => !OWN_PACKAGES.includes(name))
    .map((found) => {
      const { name, version, summary } = found
      // PyPI's canonical form of a name: https://packaging.python.org/en/latest/specifications/name-normalization/
      const purl = `pkg:pypi/${name.toLowerCase().replaceAll(/[-_.]+/g, '-')}@${encodeURIComponent(version)}`
      const licenses = licensesOf(found)
      return {
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        purl,
        ...(summary === null ? {} : { description: summary }),
        ...(licenses.length === 0 ? {} : { licenses }),
      }
    })
}

/** Some packages put the whole licence text into the field for its name. */
const MAX_LICENSE_CHARACTERS = 100

function licensesOf({ expression, license, classifiers }: Installed['python'][number]): NonNullable<Component['licenses']> {
  if (expression !== null) return [{ expression }]
  if (classifiers.length > 0) return classifiers.map((name) => ({ license: { name } }))
  if (license === null || license === '' || license.length > MAX_LICENSE_CHARACTERS || license.includes('\n')) return []
  return [{ license: { name: license } }]
}

/** A UUID of version 8, whose content RFC 9562 leaves to the application. */
const uuidFrom = (hex: string): string =>
  `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
