import { CreateServiceLinkedRoleCommand, GetRoleCommand, IAMClient, waitUntilRoleExists } from '@aws-sdk/client-iam'
import { SetupError } from '../setup/progress.ts'
import type { Deployment } from './deployment.ts'

const ROLE_NAME = 'AWSServiceRoleForECS'
const SERVICE = 'ecs.amazonaws.com'

/**
 * Creates the service-linked role of ECS in a new account. A cluster with capacity providers fails without it, and CloudFormation cannot create
 * a role that may already exist. Later deployments of the same account only read it.
 */
export async function ensureEcsServiceLinkedRole({ sdk, progress }: Pick<Deployment, 'sdk' | 'progress'>): Promise<void> {
  const iam = new IAMClient(sdk)
  try {
    if (await roleExists(iam)) return
    progress(`creating the service-linked role of ECS (${ROLE_NAME})`)
    const roleName = await createRole(iam)
    if (roleName !== null) await waitUntilRoleExists({ client: iam, minDelay: 1, maxDelay: 5, maxWaitTime: 60 }, { RoleName: roleName })
  } catch (error) {
    if (!isNamed(error, 'AccessDenied')) throw error
    throw new SetupError(
      `These credentials have no permission to create the service-linked role of ECS. Ask an administrator to run \`aws iam create-service-linked-role --aws-service-name ${SERVICE}\`, and allow iam:GetRole on it. Then run the command again.`,
      { cause: error },
    )
  }
}

/** The name of the role to wait for; null when IAM answers that it exists, under a name that it does not tell. */
async function createRole(iam: IAMClient): Promise<string | null> {
  try {
    const { Role } = await iam.send(new CreateServiceLinkedRoleCommand({ AWSServiceName: SERVICE }))
    return Role?.RoleName ?? ROLE_NAME
  } catch (error) {
    // Another deployment created it at the same moment.
    if (isNamed(error, 'InvalidInputException')) return ROLE_NAME
    if (isNamed(error, 'EntityAlreadyExistsException')) return null
    throw error
  }
}

const roleExists = (iam: IAMClient): Promise<boolean> =>
  iam.send(new GetRoleCommand({ RoleName: ROLE_NAME })).then(
    () => true,
    (error: unknown) => {
      if (isNamed(error, 'NoSuchEntityException')) return false
      throw error
    },
  )

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name
