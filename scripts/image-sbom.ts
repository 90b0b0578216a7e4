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

/** The same for the image of the server: Debian's package database and npm's record of what it installed. */
const SERVER_PROGRAM = `
const { readFileSync } = require('node:fs')
const release = Object.fromEntries([...readFileSync('/etc/os-release', 'utf8').matchAll(/^(\\w+)="?(.*?)"?$/gm)].map(([, name, value]) => [name, value]))
const system = readFileSync('/var/lib/dpkg/status', 'utf8').split('\\n\\n').flatMap((block) => {
  const field = (name) => block.match(new RegExp('^' + name + ': (.*)$', 'm'))?.[1] ?? null
  const fields = ['Package', 'Version', 'Architecture', 'Source'].map((name) => [name, field(name)])
  return field('Status')?.endsWith(' installed') ? [Object.fromEntries(fields)] : []
})
const { packages } = JSON.parse(readFileSync('/opt/cellblock/node_modules/.package-lock.json', 'utf8'))
const npm = Object.entries(packages).map(([path, { version, license }]) => ({ name: path.slice(path.lastIndexOf('node_modules/') + 13), version, license }))
npm.push({ name: 'node', version: process.versions.node, license: 'MIT' })
console.log(JSON.stringify({ release, system, npm }))
`

interface InstalledSystem {
  readonly release: Readonly<Record<string, string>>
  readonly system: readonly {
    readonly Package: string
    readonly Version: string
    readonly Architecture: string
    readonly Source: string | null
  }[]
}
interface InstalledOnServer extends InstalledSystem {
  readonly npm: readonly { readonly name: string; readonly version: string; readonly license?: string }[]
}
interface Installed extends InstalledSystem {
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
  const installed = (await listInImage(image, ['python3', '-c', PROGRAM])) as Installed
  return documentOf(image, [systemOf(installed), ...debian(installed), ...python(installed)])
}

/** That of the server's image: operating system, Debian packages and npm packages. */
export async function serverSbomOf(image: string): Promise<Sbom> {
  const installed = (await listInImage(image, ['node', '-e', SERVER_PROGRAM])) as InstalledOnServer
  return documentOf(image, [systemOf(installed), ...debian(installed), ...npm(installed)])
}

async function listInImage(image: string, [program, ...args]: readonly [string, ...string[]]): Promise<unknown> {
  const flags = ['--rm', '--network', 'none', '--read-only', '--entrypoint', program]
  const result = await runCommand('docker', ['run', ...flags, image, ...args])
  if (result.code !== 0) throw explainFailure(`The image ${image} could not list its packages: the reason is above.`, result)
  return JSON.parse(result.stdout)
}

async function documentOf(image: string, parts: readonly Component[]): Promise<Sbom> {
  const inspected = await runCommand('docker', ['image', 'inspect', '--format', '{{.Id}}', image])
  if (inspected.code !== 0) throw explainFailure(`The image ${image} could not be inspected: the reason is above.`, inspected)
  const components = parts.toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1))
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

const systemOf = ({ release }: InstalledSystem): Component => ({
  type: 'operating-system',
  'bom-ref': 'system',
  name: release['ID'] ?? 'linux',
  version: release['VERSION_ID'] ?? '',
  description: release['PRETTY_NAME'] ?? '',
})

function debian({ system, release }: InstalledSystem): Component[] {
  const distro = `${release['ID'] ?? 'debian'}-${release['VERSION_ID'] ?? ''}`
  return system.map(({ Package: name, Version: version, Architecture: arch, Source }) => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&distro=${distro}`
    const source = Source === null ? [] : [{ name: 'debian:source', value: Source }]
    return { type: 'library', 'bom-ref': purl, name, version, purl, ...(source.length === 0 ? {} : { properties: source }) }
  })
}

/** One package can be installed several times, in one version or in several. */
function npm({ npm: packages }: InstalledOnServer): Component[] {
  const found = packages.map(({ name, version, license }): Component => {
    const purl = name === 'node' ? `pkg:generic/node@${version}` : `pkg:npm/${name.replace('@', '%40')}@${version}`
    return { type: 'library', 'bom-ref': purl, name, version, purl, ...(license !== undefined && { licenses: [{ expression: license }] }) }
  })
  return [...new Map(found.map((part) => [part['bom-ref'], part])).values()]
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
