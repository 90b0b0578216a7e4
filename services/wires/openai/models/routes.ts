import * as z from 'zod'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import type { ModelEntry } from '../../../http/deps.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { modelMissing } from '../../../operations/turns/prepare-turn.ts'

const Model = lazySchema(() =>
  z
    .object({
      id: z.string(),
      object: z.literal('model'),
      created: z.int(),
      owned_by: z.string(),
      x_cellblock: z.object({
        reads_images: z
          .boolean()
          .nullable()
          .openapi({ description: 'Whether it sees the pictures of messages and of code; null where the server does not know.' }),
      }),
    })
    .openapi('Model'),
)

const renderModel = (model: ModelEntry): Described<typeof Model> => ({
  id: model.id,
  object: 'model',
  created: Math.floor(model.createdAt / 1000),
  owned_by: model.ownedBy,
  x_cellblock: { reads_images: model.readsImages },
})

const listModelsRoute = defineRoute({
  method: 'get',
  path: '/v1/models',
  auth: 'session',
  scope: 'read',
  operationId: 'listModels',
  tag: 'Language models',
  summary: 'List the models',
  answers: { 200: { description: 'All models.', schema: () => z.object({ object: z.literal('list'), data: z.array(Model()) }) } },
  handle: ({ deps }) => json(200, { object: 'list', data: deps.models.list().map(renderModel) }),
})

const getModelRoute = defineRoute({
  method: 'get',
  path: '/v1/models/{model}',
  auth: 'session',
  scope: 'read',
  operationId: 'getModel',
  tag: 'Language models',
  summary: 'Get a model',
  answers: { 200: { description: 'The model.', schema: Model } },
  errors: ['model_not_found'],
  handle({ deps, param }) {
    const found = deps.models.list().find((model) => model.id === param('model'))
    if (found === undefined) throw modelMissing(param('model'), deps.models.list())
    return json(200, renderModel(found))
  },
})

export const modelRoutes: readonly AnyRoute[] = [listModelsRoute, getModelRoute]
