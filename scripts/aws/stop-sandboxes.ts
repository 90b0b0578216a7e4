import { ECSClient, ListTasksCommand, StopTaskCommand } from '@aws-sdk/client-ecs'
import type { Deployment } from './deployment.ts'

/** Stops every sandbox of the deployment: CloudFormation cannot delete a cluster with tasks. */
export async function stopSandboxes({ config, sdk, progress }: Pick<Deployment, 'config' | 'sdk' | 'progress'>): Promise<void> {
  const ecs = new ECSClient(sdk)
  const cluster = `cellblock-${config.stage}`
  let stopped = 0
  let nextToken: string | undefined
  do {
    const page = await ecs
      .send(new ListTasksCommand({ cluster, ...(nextToken === undefined ? {} : { nextToken }) }))
      .catch((error: unknown) => {
        if (error instanceof Error && error.name === 'ClusterNotFoundException') return null
        throw error
      })
    for (const task of page?.taskArns ?? []) {
      await ecs.send(new StopTaskCommand({ cluster, task, reason: 'The deployment is being removed.' }))
      stopped += 1
    }
    nextToken = page?.nextToken
  } while (nextToken !== undefined)
  if (stopped > 0) progress(`${stopped} sandboxes stopped`)
}
