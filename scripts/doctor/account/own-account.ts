import { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { CodeDeployClient } from '@aws-sdk/client-codedeploy'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { ECRClient } from '@aws-sdk/client-ecr'
import { ECSClient } from '@aws-sdk/client-ecs'
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { IAMClient } from '@aws-sdk/client-iam'
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { join } from 'node:path'
import { Config, readConfig } from '../../../infra/config.ts'
import { newId } from '../../../services/model/ids.ts'
import { readCdkConfig } from '../../operate/cdk-config.ts'
import { imageTag } from '../../../infra/build/image-inputs.ts'
import type { DoctorConfig } from '../config.ts'
import { fail, type Finding } from '../finding.ts'
import { checkAccount, defaultImageOf } from './account-checks.ts'
import { createEc2Api } from './ec2-api.ts'
import { createResolverApi } from './resolver-api.ts'

const FOLDER = join(import.meta.dirname, '../../../runtime-image')
/** The bucket refuses signatures that are older than its limit. */
const LINK_SECONDS = 240

/** Checks the deployment of cdk.json, or of another stage, in the account of the caller's credentials. */
export async function checkOwnAccount(
  { url, apiKey }: DoctorConfig,
  { stage, isLong }: { readonly stage: string | undefined; readonly isLong: boolean },
  onFinding: (finding: Finding) => void,
): Promise<{ readonly findings: readonly Finding[]; readonly environment: Readonly<Record<string, string>> }> {
  const configured = readConfig(await readCdkConfig())
  const config = stage === undefined ? configured : Config.parse({ ...configured, stage })
  const stacks = new CloudFormationClient({})
  const region = await stacks.config.region().catch(() => null)
  const missing =
    region === null
      ? 'No AWS Region is set. Set AWS_REGION, for example AWS_REGION=eu-west-1.'
      : (await stacks.config.credentials().catch(() => null)) === null
        ? 'No AWS credentials were found. Run aws configure sso, or set AWS_PROFILE.'
        : null
  if (region === null || missing !== null) {
    const finding = fail('Account', missing ?? '')
    onFinding(finding)
    return { findings: [finding], environment: {} }
  }
  const s3 = new S3Client({})
  const key = `doctor/${newId('sandbox')}`
  const image = await imageTag(FOLDER, { variant: defaultImageOf(config) })
  const findings = await checkAccount({
    config,
    region,
    clients: {
      stacks,
      ecs: new ECSClient({}),
      images: new ECRClient({}),
      quotas: new ServiceQuotasClient({}),
      tables: new DynamoDBClient({}),
      roles: new IAMClient({}),
      releases: new CodeDeployClient({}),
      resolver: createResolverApi({ region, credentials: stacks.config.credentials }),
      ec2: createEc2Api({ region, credentials: stacks.config.credentials }),
    },
    upload: {
      link: (Bucket) => getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: key }), { expiresIn: LINK_SECONDS }),
      remove: async (Bucket) => void (await s3.send(new DeleteObjectCommand({ Bucket, Key: key }))),
    },
    image,
    api: url === null || apiKey === null ? null : { url, key: apiKey },
    isLong,
    poll: { now: Date.now, pollMs: 2_000, settleMs: 20_000 },
    onFinding,
  })
  return { findings, environment: environmentOf(config, { region, image, url }) }
}

/** What a reader of the transcript has to know. Settings hold names of secrets and no secret. */
const environmentOf = (
  config: Config,
  { region, image, url }: { readonly region: string; readonly image: string; readonly url: string | null },
): Readonly<Record<string, string>> => ({
  time: new Date().toISOString(),
  'image of this clone': image,
  node: `${process.version} on ${process.platform}-${process.arch}`,
  region,
  address: url ?? 'not given (CELLBLOCK_URL)',
  settings: JSON.stringify(config),
})
