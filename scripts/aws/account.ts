import { CloudFormationClient, DescribeStacksCommand, UpdateTerminationProtectionCommand, type Stack } from '@aws-sdk/client-cloudformation'
import { SetupError } from '../setup/progress.ts'
import { CLOUDFRONT_REGION } from '../../infra/config.ts'
import { stackName, type Deployment, type StackId } from './deployment.ts'

export interface Account {
  readonly region: string
  readonly isBootstrapped: boolean
  /** Of the CDK's own bootstrap stack; null where the account has another or none. */
  readonly bootstrapVersion: number | null
}

/** Finds the SDK's Region and credentials and verifies them. Throws a SetupError that says what to set. */
export async function findAccount({ sdk, config }: Pick<Deployment, 'sdk' | 'config'>): Promise<Account> {
  const client = new CloudFormationClient(sdk)
  const region = await client.config.region().catch(() => {
    throw new SetupError('No AWS Region is set. Set AWS_REGION, for example AWS_REGION=eu-west-1, and run the command again.')
  })
  await client.config.credentials().catch(() => {
    throw new SetupError(
      'No AWS credentials were found. Run `aws configure sso` or set AWS_PROFILE (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), and run the command again.',
    )
  })
  try {
    const hasOwnBootstrap = config.deployment.bootstrapQualifier !== undefined
    const bootstrap = await readStack(client, 'CDKToolkit')
    const version = bootstrap?.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue
    return {
      region,
      isBootstrapped: bootstrap !== null || hasOwnBootstrap,
      bootstrapVersion: version === undefined || hasOwnBootstrap ? null : Number(version),
    }
  } catch (error) {
    throw toSetupError(error, region)
  }
}

/** Outputs of a stack by name; null if the stack does not exist. */
export async function outputsOf(deployment: Deployment, stack: StackId): Promise<Readonly<Record<string, string>> | null> {
  const client = new CloudFormationClient(stack === 'Firewall' ? { ...deployment.sdk, region: CLOUDFRONT_REGION } : deployment.sdk)
  const found = await readStack(client, stackName(deployment, stack))
  return found && Object.fromEntries((found.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]))
}

/** Whether a deletion of the stack began and failed. */
export async function hasFailedDeletion(deployment: Deployment, stack: StackId): Promise<boolean> {
  const found = await readStack(new CloudFormationClient(deployment.sdk), stackName(deployment, stack))
  return found?.StackStatus === 'DELETE_FAILED'
}

/** Not part of the template: the CDK would protect a stack before its first deployment has succeeded, and could not delete a failed one. */
export async function protectStack(deployment: Deployment, stack: StackId): Promise<void> {
  const client = new CloudFormationClient(deployment.sdk)
  await client.send(new UpdateTerminationProtectionCommand({ StackName: stackName(deployment, stack), EnableTerminationProtection: true }))
}

async function readStack(client: CloudFormationClient, name: string): Promise<Stack | null> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: name }))
    return Stacks[0] ?? null
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** CloudFormation's error for a missing stack. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message)

function toSetupError(error: unknown, region: string): SetupError {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const advice = /Expired/.test(name)
    ? 'The credentials have expired: log in again'
    : /InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch/.test(name)
      ? 'AWS does not know these credentials, or the Region is not enabled in the account: check AWS_PROFILE and AWS_REGION'
      : /AccessDenied|NotAuthorized/.test(name)
        ? 'These credentials have no permission to read CloudFormation: use those of an administrator of the account'
        : 'AWS gave an unexpected answer: check the network'
  return new SetupError(`${advice}, and run the command again. (${region}: ${message})`)
}
