import { RemovalPolicy, SecretValue } from 'aws-cdk-lib'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'

/** Fixed, so that operators find it and an upgrade never replaces it. */
export const modelsSecretName = ({ models, stage }: Pick<Config, 'models' | 'stage'>): string =>
  models.secretName ?? `cellblock/${stage}/models`

/** The model keys, a JSON object such as {"OPENAI_API_KEY":"…"}. The operator fills it after the deployment, so no template contains a key. */
export const createModelsSecret = (scope: Construct, name: string, key: IKey): Secret =>
  new Secret(scope, 'ModelKeys', {
    secretName: name,
    description: 'Cellblock: keys of the language models, {"<keyName>": "<key>"}. Read by the chat worker only.',
    encryptionKey: key,
    secretStringValue: SecretValue.unsafePlainText('{}'),
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })

/** The keys of the network gateway, which it makes itself. A generated name: a gateway that was removed and added again gets another secret. */
export const createNetworkKeys = (scope: Construct, key: IKey): Secret =>
  new Secret(scope, 'NetworkKeys', {
    description: 'Cellblock: certificate authority and sealing key of the network gateway. Read by the gateway only.',
    encryptionKey: key,
    secretStringValue: SecretValue.unsafePlainText('{}'),
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })
