import { RemovalPolicy, SecretValue } from 'aws-cdk-lib'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'

/** The models' keys, a JSON object such as {"OPENAI_API_KEY":"…"}. It starts empty: the operator fills it, so no key passes through a template. */
export const createModelsSecret = (scope: Construct, name: string, key: IKey): Secret =>
  new Secret(scope, 'ModelKeys', {
    secretName: name,
    description: 'Cellblock: keys of the language models, {"<keyName>": "<key>"}. Read by the chat worker only.',
    encryptionKey: key,
    secretStringValue: SecretValue.unsafePlainText('{}'),
    removalPolicy: RemovalPolicy.RETAIN,
  })
