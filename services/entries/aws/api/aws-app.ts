import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { ImageCatalogue } from '../../../model/containers/images.ts'
import { DRIVERS } from '../../../adapters/drivers/registry.ts'
import { createFunctionPorts } from '../../../adapters/storage/function-ports.ts'
import { createLazyS3ObjectStore } from '../../../adapters/storage/s3/lazy-s3-object-store.ts'
import { createApp } from '../../api/app.ts'
import { networkPorts } from '../network-ports.ts'
import { apiConfigFromEnv } from './config.ts'
import { readinessOf } from '../../api/readiness.ts'
import { originConfigFromEnv, REFERENCE_KEY } from '../../../http/origin/config.ts'
import { requireOrigin } from '../../../http/origin/require-origin.ts'
import { deployedPage } from '../../../http/page/deployed-page.ts'
import type { ApiDeps, ModelEntry } from '../../../http/deps.ts'

/** The names of the models. The HTTP edge lists them; it does not have their keys. */
function namedModels(names: readonly string[], createdAt: number): ApiDeps['models'] {
  const entries: readonly ModelEntry[] = names.map((id) => ({ id, createdAt, ownedBy: 'cellblock', readsImages: null }))
  return { list: () => entries, has: (id) => names.includes(id) }
}

/** The API of a deployment, for the function and for the upload service. Throws a ZodError that names a wrong variable. */
export function createAwsApp(): ReturnType<typeof createApp> {
  const { env, ...config } = apiConfigFromEnv()
  const region = env.AWS_REGION
  const ports = createFunctionPorts(env)
  const { table, queue, objects, clock } = ports
  const { ORIGIN_SECRET_ARN, SITE_BUCKET, INGRESS } = originConfigFromEnv()
  const site = SITE_BUCKET === undefined ? null : createLazyS3ObjectStore({ region, bucket: SITE_BUCKET })
  const originSecret = ORIGIN_SECRET_ARN === undefined ? null : readSecret(region, ORIGIN_SECRET_ARN)
  const page =
    originSecret === null || site === null
      ? null
      : deployedPage({
          site,
          originSecret,
          objectOrigin: `https://${env.BUCKET_NAME}.s3.${region}.amazonaws.com`,
        })
  const app = createApp({
    ...ports,
    models: namedModels(config.models, clock.now()),
    toolTypes: config.toolTypes,
    images: new ImageCatalogue(Object.fromEntries(config.images.map((name) => [name, name])), config.images[0] ?? 'slim'),
    readiness: readinessOf({ table: () => table.check(), queue: () => queue.check(), store: () => objects.check() }),
    prices: DRIVERS[env.SANDBOX_DRIVER].prices,
    config: config.api,
    ...networkPorts(env, ports),
    ...(page === null ? {} : { page }),
    ...(site === null || INGRESS === 'distribution' ? {} : { readReference: () => site.get(REFERENCE_KEY) }),
  })
  if (originSecret !== null && INGRESS === 'distribution') app.fetch = requireOrigin(app.fetch, originSecret)
  return app
}

function readSecret(region: string, arn: string): () => Promise<string> {
  const secrets = new SecretsManagerClient({ region })
  return async () => {
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: arn }))
    if (SecretString === undefined || SecretString === '') throw new Error('The origin secret is empty. Deploy the service stack again.')
    return SecretString
  }
}
