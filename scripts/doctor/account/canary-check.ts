import { BatchGetDeploymentGroupsCommand, type CodeDeployClient } from '@aws-sdk/client-codedeploy'
import type { Config } from '../../../infra/config.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'

const WHAT = 'Canary'

/** Functions whose new versions CodeDeploy tries; tasks run the API behind private ingress. */
const releasedFunctions = ({ api }: Pick<Config, 'api'>): readonly string[] => [
  ...(api.privateIngress === undefined ? ['api'] : []),
  'chat',
  'run',
]

/** Whether CodeDeploy would withdraw a failing version: its groups exist, watch an alarm, and roll back. */
export async function checkCanary(client: CodeDeployClient, config: Pick<Config, 'api' | 'deployment' | 'stage'>): Promise<Finding> {
  const { canaryMinutes } = config.deployment
  if (canaryMinutes === 0) return ok(WHAT, 'off (deployment.canaryMinutes is 0): a new version serves everything at once')
  const wanted = releasedFunctions(config).map((name) => `cellblock-${config.stage}-${name}`)
  try {
    const { deploymentGroupsInfo: groups = [] } = await client.send(
      new BatchGetDeploymentGroupsCommand({ applicationName: `cellblock-${config.stage}`, deploymentGroupNames: wanted }),
    )
    const missing = wanted.filter((name) => !groups.some(({ deploymentGroupName }) => deploymentGroupName === name))
    if (missing.length > 0) return fail(WHAT, `CodeDeploy has no group ${missing.join(', ')}. Run npm run deploy again.`)
    const unwatched = groups.filter(
      ({ alarmConfiguration, autoRollbackConfiguration }) =>
        alarmConfiguration?.enabled !== true || autoRollbackConfiguration?.enabled !== true,
    )
    if (unwatched.length > 0)
      return fail(
        WHAT,
        `${unwatched.map(({ deploymentGroupName }) => deploymentGroupName).join(', ')}: no alarm or no roll-back. Run npm run deploy again.`,
      )
    const withdrawn = groups.filter(({ lastAttemptedDeployment }) => ['Failed', 'Stopped'].includes(lastAttemptedDeployment?.status ?? ''))
    if (withdrawn.length > 0)
      return warn(
        WHAT,
        `The last version of ${withdrawn.map(({ deploymentGroupName }) => deploymentGroupName).join(', ')} was withdrawn. docs/operations.md says what to check.`,
      )
    return ok(WHAT, `${wanted.length} functions try new versions for ${canaryMinutes} minutes, with an alarm and roll-back`)
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    return name === 'ApplicationDoesNotExistException'
      ? fail(WHAT, `CodeDeploy has no application cellblock-${config.stage}. Run npm run deploy again.`)
      : warn(WHAT, `could not be read (${name}: ${message}): these credentials need codedeploy:BatchGetDeploymentGroups.`)
  }
}
