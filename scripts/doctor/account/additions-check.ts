import { DescribeTasksCommand, ListTasksCommand, type ECSClient } from '@aws-sdk/client-ecs'
import { SANDBOX_CONTAINER } from '../../../services/adapters/drivers/fargate/config.ts'
import { ok, warn, type Finding } from '../finding.ts'
import type { Deployed } from './deployed.ts'
import type { Ec2Api } from './ec2-api.ts'

const ADVICE = 'GuardDuty Runtime Monitoring adds such parts (docs/deploy.md): exclude this cluster there.'

/** Endpoints that the stacks did not make: sandboxes may reach them, and CloudFormation cannot delete their network. */
export async function checkOtherEndpoints(
  ec2: Pick<Ec2Api, 'endpoints'>,
  { vpc, endpoints }: Pick<Deployed, 'vpc' | 'endpoints'>,
): Promise<Finding> {
  const what = 'Other endpoints'
  if (vpc === null) return ok(what, 'not checked: the network belongs to another stack')
  try {
    const own = new Set(endpoints.map(({ id }) => id))
    const others = (await ec2.endpoints(vpc)).filter(({ id }) => !own.has(id))
    return others.length === 0
      ? ok(what, `none in the network of the sandboxes`)
      : warn(
          what,
          `${vpc} has ${others.map(({ id, service }) => `${id} (${service})`).join(', ')}, which the stacks did not create. Sandboxes may reach them, and the network cannot be deleted. ${ADVICE}`,
        )
  } catch (error) {
    return warn(what, `could not be read (${String(error)}): these credentials need ec2:DescribeVpcEndpoints.`)
  }
}

/** Containers beside the sandbox in its task: they share its network and memory. Up to 100 running tasks are read. */
export async function checkOtherContainers(ecs: ECSClient, { cluster }: Pick<Deployed, 'cluster'>): Promise<Finding> {
  const what = 'Other containers'
  try {
    const { taskArns = [] } = await ecs.send(new ListTasksCommand({ cluster }))
    const { tasks = [] } = taskArns.length === 0 ? {} : await ecs.send(new DescribeTasksCommand({ cluster, tasks: taskArns }))
    const names = tasks.flatMap(({ containers = [] }) => containers.flatMap(({ name }) => name ?? []))
    const others = [...new Set(names)].filter((name) => name !== SANDBOX_CONTAINER)
    return others.length === 0
      ? ok(what, `none in ${tasks.length} running tasks`)
      : warn(what, `${others.join(', ')} run beside sandboxes and share their memory and network. ${ADVICE}`)
  } catch (error) {
    return warn(what, `could not be read (${String(error)}): these credentials need ecs:ListTasks and ecs:DescribeTasks.`)
  }
}
