import type { McpServer, Resource } from '@modelcontextprotocol/server'
import { skillEntry, SkillsExtension, type Skill as SkillEntry, type SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { ServiceError } from '../../model/errors.ts'
import { mimeOf } from '../../model/files/mime.ts'
import type { BundleFile } from '../../model/skills/bundle.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { defaultVersionOf, type Skill, type SkillVersion } from '../../model/skills/skill.ts'
import { skillOf, visibleTo } from '../../operations/access.ts'
import { collectPage } from '../../http/paging.ts'
import type { Call } from '../../http/route.ts'
import { readSkillFiles } from '../../operations/skills/zip-skill.ts'
import { guardedMethod, isScopeError } from './answers.ts'
import { textIn } from './file-tools.ts'

const SCHEME = 'skill://'
const MANIFEST = 'SKILL.md'
/** Every entry has digests of all files of a skill, so a page is small. */
const PER_PAGE = 10

/** Serves the default versions of the caller's skills by the extension `io.modelcontextprotocol/skills`, as `skill://<id>/<name>/…`. */
export const registerSkills = (server: McpServer, call: Call): void =>
  new SkillsExtension({ source: sourceOf(call), baseUri: SCHEME, cacheHint: { ttlMs: 0, cacheScope: 'private' } }).attach(server)

function sourceOf(call: Call): SkillSource {
  const page = async (after: string | null): Promise<{ readonly rows: readonly Skill[]; readonly hasMore: boolean }> => {
    // Only a server with the fixtures of the conformance suite accepts a request without a key.
    if (call.caller.keyId === '') return { rows: [], hasMore: false }
    const { deps, caller } = call
    return collectPage(
      { after, limit: PER_PAGE, order: 'asc' },
      (request) => deps.table.skills.list(caller.tenant, request),
      visibleTo(caller, 'read'),
    )
  }
  return {
    async list({ cursor }) {
      const { rows, hasMore } = await guardedMethod(() => page(cursor ?? null))
      const last = rows.at(-1)
      const skills: SkillEntry[] = []
      for (const skill of rows) {
        const entry = await entryOf(call, skill, defaultVersionOf(skill))
        if (entry !== undefined) skills.push(entry)
      }
      return { skills, ...(hasMore && last !== undefined && { nextCursor: last.id }) }
    },
    async get(uri) {
      const found = await guardedMethod(() => find(call, uri, 'read'))
      return found === null || found.path !== MANIFEST ? undefined : entryOf(call, found.skill, found.version)
    },
    async read(uri) {
      const found = await guardedMethod(() => find(call, uri, 'files'))
      if (found === null) return undefined
      return call.deps.results.hold(found.version.bytes, async () => {
        const file = (await readSkillFiles(call.deps, found.version))?.find(({ path }) => path === found.path)
        return file === undefined ? undefined : contentOf(file)
      })
    },
    // A client lists resources when it connects, with a key of any scope.
    listResources: async () => (call.caller.scopes.includes('read') ? (await page(null)).rows.map(resourceOf) : []),
  }
}

const uriOf = ({ id }: Skill, { name }: SkillVersion): string => `${SCHEME}${id}/${name}/${MANIFEST}`

/** The whole front matter, and the digest of every file. Undefined for a skill that was deleted meanwhile. */
function entryOf({ deps }: Call, skill: Skill, version: SkillVersion): Promise<SkillEntry | undefined> {
  return deps.results.hold(version.bytes, async () => {
    const files = await readSkillFiles(deps, version)
    if (files === null) return undefined
    const contents = Object.fromEntries(files.map(({ path, content }) => [path, content]))
    return skillEntry(`${skill.id}/${version.name}`, contents, { baseUri: SCHEME })
  })
}

function resourceOf(skill: Skill): Resource {
  const version = defaultVersionOf(skill)
  return { uri: uriOf(skill, version), name: version.name, description: version.description, mimeType: 'text/markdown' }
}

/** The default version of the skill that a URI names, and the path in it; null for what the caller does not have. */
async function find(
  call: Call,
  uri: string,
  scope: Scope,
): Promise<{ readonly skill: Skill; readonly version: SkillVersion; readonly path: string } | null> {
  const [id, name, ...path] = uri.slice(SCHEME.length).split('/').map(decoded)
  if (!uri.startsWith(SCHEME) || id === undefined || path.length === 0 || call.caller.keyId === '') return null
  try {
    const skill = await skillOf(call, id, scope)
    const version = defaultVersionOf(skill)
    return version.name === name ? { skill, version, path: path.join('/') } : null
  } catch (error) {
    if (!(error instanceof ServiceError) || isScopeError(error)) throw error
    return null
  }
}

/** A part that is not percent-encoded UTF-8 names nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

function contentOf({ path, content }: BundleFile): { text: string; mimeType: string } | { bytes: Uint8Array; mimeType: string } {
  const mimeType = path.endsWith('.md') ? 'text/markdown' : mimeOf(path)
  const text = textIn(Buffer.from(content))
  return text === null ? { bytes: content, mimeType } : { text, mimeType }
}
