import * as z from 'zod'
import type { Scope } from '../../../model/tenants/tenant.ts'
import { createHash } from 'node:crypto'
import { visibleTo, skillOf } from '../../../operations/access.ts'
import { claimId } from '../../../http/claim-id.ts'
import { collectPage, pageOfList } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { deletedSchema, ListQuery, listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import { validate } from '../../../http/validate.ts'
import { receiveSkill } from './receive-skill.ts'
import { zipSkill } from '../../../operations/skills/zip-skill.ts'
import * as versions from '../../../operations/skills/skill-versions.ts'
import * as schema from './schema.ts'
import { ServiceError, type ErrorCode } from '../../../model/errors.ts'
import { defaultVersionOf, type Skill, type SkillVersion } from '../../../model/skills/skill.ts'

const TAG = 'Skills'
const ERROR_CODES: readonly ErrorCode[] = ['invalid_file_name', 'limit_exceeded']
const CONTENT = {
  200: {
    description: 'The files of the skill below one folder, as a zip archive.',
    contentType: 'application/zip',
    schema: () => z.string(),
  },
} as const

const createSkillRoute = defineRoute({
  method: 'post',
  path: '/v1/skills',
  auth: 'session',
  scope: 'files',
  operationId: 'createSkill',
  tag: TAG,
  summary: 'Create a skill',
  description:
    'A folder of files with `SKILL.md` at its top, whose front matter has a name and a description. Files that file managers add, such as `.DS_Store`, are left out.',
  streamed: { contentType: 'multipart/form-data', schema: schema.SkillForm, description: 'The files, or one zip archive.' },
  creates: 'skill',
  answers: { 200: { description: 'The skill with its first version.', schema: schema.Skill } },
  errors: ERROR_CODES,
  async handle(call) {
    const { deps, caller } = call
    const { skill: made } = await receiveSkill(call.request)
    const claimed = await claimId(call, 'skill', { body: made.sha256 })
    const earlier = claimed.isReplay ? await deps.table.skills.get(caller.tenant, claimed.id) : null
    const skill = earlier ?? (await versions.createSkill(call, made, claimed.id)) ?? (await skillOf(call, claimed.id, 'files'))
    call.note('skill_id', skill.id)
    return json(200, schema.renderSkill(skill))
  },
})

const listSkillsRoute = defineRoute({
  method: 'get',
  path: '/v1/skills',
  auth: 'session',
  scope: 'read',
  operationId: 'listSkills',
  tag: TAG,
  summary: 'List skills',
  query: ListQuery,
  answers: { 200: { description: 'A page of skills.', schema: listSchema(schema.Skill, 'SkillList') } },
  async handle({ deps, caller, query }) {
    const page = await collectPage(pageOf(query), (request) => deps.table.skills.list(caller.tenant, request), visibleTo(caller, 'read'))
    return json(200, listOf(page.rows.map(schema.renderSkill), page.hasMore))
  },
})

const getSkillRoute = defineRoute({
  method: 'get',
  path: '/v1/skills/{skill_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getSkill',
  tag: TAG,
  summary: 'Get a skill',
  answers: { 200: { description: 'The skill.', schema: schema.Skill } },
  errors: ['skill_not_found'],
  handle: async (call) => json(200, schema.renderSkill(await skillOf(call, call.param('skill_id'), 'read'))),
})

const updateSkillRoute = defineRoute({
  method: 'post',
  path: '/v1/skills/{skill_id}',
  auth: 'session',
  scope: 'files',
  operationId: 'updateSkill',
  tag: TAG,
  summary: 'Set the default version of a skill',
  body: schema.UpdateSkill,
  answers: { 200: { description: 'The skill.', schema: schema.Skill } },
  errors: ['skill_not_found', 'conflict'],
  async handle(call) {
    const skill = await skillOf(call, call.param('skill_id'), 'files')
    const { number } = versions.findVersion(skill, call.body.default_version, 'default_version')
    return json(200, schema.renderSkill(await versions.setDefaultVersion(call, skill, number)))
  },
})

const deleteSkillRoute = defineRoute({
  method: 'delete',
  path: '/v1/skills/{skill_id}',
  auth: 'session',
  scope: 'files',
  operationId: 'deleteSkill',
  tag: TAG,
  summary: 'Delete a skill',
  description: 'Deletes all its versions. Containers that have the skill keep it.',
  answers: { 200: { description: 'The skill is deleted.', schema: deletedSchema('skill.deleted') } },
  errors: ['skill_not_found'],
  async handle(call) {
    const skill = await skillOf(call, call.param('skill_id'), 'files')
    await versions.deleteSkill(call, skill)
    return json(200, { id: skill.id, object: 'skill.deleted', deleted: true })
  },
})

const skillContentRoute = defineRoute({
  method: 'get',
  path: '/v1/skills/{skill_id}/content',
  auth: 'session',
  scope: 'files',
  operationId: 'getSkillContent',
  tag: TAG,
  summary: 'Download the default version of a skill',
  answers: CONTENT,
  errors: ['skill_not_found'],
  async handle(call) {
    const skill = await skillOf(call, call.param('skill_id'), 'files')
    return contentOf(call, skill, defaultVersionOf(skill))
  },
})

const createVersionRoute = defineRoute({
  method: 'post',
  path: '/v1/skills/{skill_id}/versions',
  auth: 'session',
  scope: 'files',
  operationId: 'createSkillVersion',
  tag: TAG,
  summary: 'Add a version to a skill',
  description: 'A version never changes. Content that equals the latest version creates another version too.',
  streamed: { contentType: 'multipart/form-data', schema: schema.SkillVersionForm, description: 'The files, or one zip archive.' },
  creates: 'skill',
  answers: { 200: { description: 'The version.', schema: schema.SkillVersion } },
  errors: [...ERROR_CODES, 'skill_not_found', 'conflict'],
  async handle(call) {
    const row = await skillOf(call, call.param('skill_id'), 'files')
    const { skill: made, fields } = await receiveSkill(call.request)
    const { default: isDefault } = validate(schema.VersionFields(), fields, 'body')
    const { id: claim } = await claimId(call, 'skill', { body: made.sha256 })
    const { skill, version } = await versions.addVersion(call, row, { made, isDefault: isDefault === 'true', claim })
    return json(200, schema.renderVersion(skill, version))
  },
})

const listVersionsRoute = defineRoute({
  method: 'get',
  path: '/v1/skills/{skill_id}/versions',
  auth: 'session',
  scope: 'read',
  operationId: 'listSkillVersions',
  tag: TAG,
  summary: 'List the versions of a skill',
  query: ListQuery,
  answers: { 200: { description: 'A page of versions, by number.', schema: listSchema(schema.SkillVersion, 'SkillVersionList') } },
  errors: ['skill_not_found'],
  async handle(call) {
    const skill = await skillOf(call, call.param('skill_id'), 'read')
    const all = skill.versions.map((version) => schema.renderVersion(skill, version))
    const { rows, hasMore } = pageOfList(all, pageOf(call.query))
    return json(200, listOf(rows, hasMore))
  },
})

const getVersionRoute = defineRoute({
  method: 'get',
  path: '/v1/skills/{skill_id}/versions/{version}',
  auth: 'session',
  scope: 'read',
  operationId: 'getSkillVersion',
  tag: TAG,
  summary: 'Get a version of a skill',
  answers: { 200: { description: 'The version.', schema: schema.SkillVersion } },
  errors: ['skill_not_found'],
  async handle(call) {
    const { skill, version } = await named(call, 'read')
    return json(200, schema.renderVersion(skill, version))
  },
})

const versionContentRoute = defineRoute({
  method: 'get',
  path: '/v1/skills/{skill_id}/versions/{version}/content',
  auth: 'session',
  scope: 'files',
  operationId: 'getSkillVersionContent',
  tag: TAG,
  summary: 'Download a version of a skill',
  answers: CONTENT,
  errors: ['skill_not_found'],
  async handle(call) {
    const { skill, version } = await named(call, 'files')
    return contentOf(call, skill, version)
  },
})

const deleteVersionRoute = defineRoute({
  method: 'delete',
  path: '/v1/skills/{skill_id}/versions/{version}',
  auth: 'session',
  scope: 'files',
  operationId: 'deleteSkillVersion',
  tag: TAG,
  summary: 'Delete a version of a skill',
  description: 'The default version cannot be deleted: set another one first, or delete the skill.',
  answers: { 200: { description: 'The version is deleted.', schema: schema.DeletedSkillVersion } },
  errors: ['skill_not_found', 'conflict'],
  async handle(call) {
    const { skill, version } = await named(call, 'files')
    await versions.deleteVersion(call, skill, version.number)
    const id = schema.versionId(skill.id, version.number)
    return json(200, { id, object: 'skill.version.deleted', deleted: true, version: String(version.number) })
  },
})

async function named(call: Call, scope: Scope): Promise<{ readonly skill: Skill; readonly version: SkillVersion }> {
  const skill = await skillOf(call, call.param('skill_id'), scope)
  return { skill, version: versions.findVersion(skill, call.param('version')) }
}

async function contentOf({ deps, request }: Call, skill: Skill, version: SkillVersion): Promise<Response> {
  const headers = {
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="${version.name}-v${version.number}.zip"`,
    'cache-control': 'no-store',
  }
  if (request.method === 'HEAD') return new Response(null, { headers })
  const archive = await zipSkill(deps, version)
  if (archive === null)
    throw new ServiceError('skill_not_found', `The skill ${skill.id} was deleted while it was read. List the skills, or create it again.`)
  return new Response(archive, { headers: { ...headers, etag: `"${createHash('sha256').update(archive).digest('hex').slice(0, 32)}"` } })
}

export const skillRoutes: readonly AnyRoute[] = [
  createSkillRoute,
  listSkillsRoute,
  getSkillRoute,
  updateSkillRoute,
  deleteSkillRoute,
  skillContentRoute,
  createVersionRoute,
  listVersionsRoute,
  getVersionRoute,
  deleteVersionRoute,
  versionContentRoute,
]
