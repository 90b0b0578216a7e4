import { ServiceError } from '../../../model/errors.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { deletedSchema, StrictListQuery, listOf, listSchema, pageOf } from '../../../http/schemas.ts'
import { pageOfList } from '../../../http/paging.ts'
import { patchLimits, PLAN_NAME, PlanObject, PutPlan, renderPlan } from './schema.ts'

export const planMissing = (name: string): ServiceError =>
  new ServiceError('plan_not_found', `No plan ${JSON.stringify(name.slice(0, 80))} exists. List them with GET /v1/admin/plans.`)

const putPlanRoute = defineRoute({
  method: 'put',
  path: '/v1/admin/plans/{plan}',
  auth: 'session',
  scope: 'admin',
  operationId: 'putPlan',
  tag: 'Administration',
  summary: 'Create or replace a plan',
  description:
    'A plan is a named set of limits. Tenants of the plan get changed limits within ten seconds; limits that it does not set have the default.',
  body: PutPlan,
  answers: { 200: { description: 'The plan.', schema: PlanObject } },
  async handle({ deps, param, body }) {
    const name = param('plan')
    if (!PLAN_NAME.test(name))
      throw new ServiceError('invalid_request', 'The name of the plan is not valid. Use 1 to 50 lower-case letters, digits and hyphens.', {
        param: 'plan',
      })
    const { tenants } = deps.table
    const createdAt = (await tenants.getPlan(name))?.createdAt ?? deps.clock.now()
    const plan = { v: 1 as const, name, limits: patchLimits({}, body.limits), createdAt }
    await tenants.putPlan(plan)
    return json(200, renderPlan(plan))
  },
})

const listPlansRoute = defineRoute({
  method: 'get',
  path: '/v1/admin/plans',
  auth: 'session',
  scope: 'admin',
  operationId: 'listPlans',
  tag: 'Administration',
  summary: 'List plans',
  query: StrictListQuery,
  answers: { 200: { description: 'A page of plans.', schema: listSchema(PlanObject, 'PlanList') } },
  async handle({ deps, query }) {
    const plans = (await deps.table.tenants.listPlans()).map(renderPlan)
    const page = pageOfList(plans, pageOf(query))
    return json(200, listOf(page.rows, page.hasMore))
  },
})

const deletePlanRoute = defineRoute({
  method: 'delete',
  path: '/v1/admin/plans/{plan}',
  auth: 'session',
  scope: 'admin',
  operationId: 'deletePlan',
  tag: 'Administration',
  summary: 'Delete a plan',
  description: 'Tenants of the plan keep their individual limits; the other limits return to the default.',
  answers: { 200: { description: 'The plan is deleted.', schema: deletedSchema('plan') } },
  errors: ['plan_not_found'],
  async handle({ deps, param }) {
    const name = param('plan')
    if ((await deps.table.tenants.getPlan(name)) === null) throw planMissing(name)
    await deps.table.tenants.removePlan(name)
    return json(200, { id: name, object: 'plan', deleted: true })
  },
})

export const planRoutes: readonly AnyRoute[] = [putPlanRoute, listPlansRoute, deletePlanRoute]
