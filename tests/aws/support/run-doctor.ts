import { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { CodeDeployClient } from '@aws-sdk/client-codedeploy'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { ECRClient } from '@aws-sdk/client-ecr'
import { ECSClient } from '@aws-sdk/client-ecs'
import { IAMClient } from '@aws-sdk/client-iam'
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import { createEc2Api } from '../../../scripts/doctor/account/ec2-api.ts'
import { checkAccount } from '../../../scripts/doctor/account/account-checks.ts'
import type { Account } from './emulated-account.ts'

/** What `npm run doctor -- --aws` finds in the emulated account: outcomes and sentences by their subject. */
export async function examine(account: Account, image: string, key: string): Promise<Readonly<Record<string, string>>> {
  const { sdk } = account
  const findings = await checkAccount({
    config: account.config(),
    region: sdk.region ?? '',
    clients: {
      stacks: new CloudFormationClient(sdk),
      ecs: new ECSClient(sdk),
      images: new ECRClient(sdk),
      quotas: new ServiceQuotasClient({ ...sdk, maxAttempts: 1 }),
      tables: new DynamoDBClient(sdk),
      roles: new IAMClient(sdk),
      releases: new CodeDeployClient({ ...sdk, maxAttempts: 1 }),
      // The stack Guard is not deployed in the emulated account, so nothing is asked.
      resolver: async () => ({}),
      ec2: createEc2Api({
        region: sdk.region ?? '',
        credentials: sdk.credentials ?? { accessKeyId: '', secretAccessKey: '' },
        endpoint: sdk.endpoint,
      }),
    },
    upload: { link: async (bucket) => `${sdk.endpoint}/${bucket}/doctor`, remove: async () => undefined },
    image,
    api: { url: account.url(), key },
    isLong: false,
    poll: { now: Date.now, pollMs: 500, settleMs: 3_000 },
    onFinding: () => undefined,
  })
  return Object.fromEntries(findings.map(({ check, outcome, message }) => [check, `${outcome}: ${message}`]))
}
