import { signedService, type SignedServiceOptions } from './signed-request.ts'

export interface Zone {
  readonly name: string
  /** Names the same zone in every account. */
  readonly id: string
}

export interface VpcEndpoint {
  readonly id: string
  /** Such as `com.amazonaws.eu-west-1.sqs`. */
  readonly service: string
}

/** What the commands ask EC2. Each call throws an Error with EC2's answer. */
export interface Ec2Api {
  /** Availability zones of the Region in the order of their names, as CloudFormation takes them. */
  zones(): Promise<readonly Zone[]>
  vpcCount(): Promise<number>
  endpoints(vpc: string): Promise<readonly VpcEndpoint[]>
  /** Ids of the connections to other networks that packets can take. */
  peers(vpc: string): Promise<readonly string[]>
}

const VERSION = '2016-11-15'

export function createEc2Api(options: SignedServiceOptions): Ec2Api {
  const post = signedService('ec2', options)
  const call = async (action: string, input: Readonly<Record<string, string>> = {}): Promise<string> => {
    const body = new URLSearchParams({ Action: action, Version: VERSION, ...input }).toString()
    const answer = await post(body, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${action}: ${/<Code>([^<]*)/.exec(text)?.[1] ?? answer.status}`)
    return text
  }
  return {
    async zones() {
      const said = await call('DescribeAvailabilityZones', {
        'Filter.1.Name': 'zone-type',
        'Filter.1.Value.1': 'availability-zone',
        'Filter.2.Name': 'state',
        'Filter.2.Value.1': 'available',
      })
      const ids = valuesOf(said, 'zoneId')
      return valuesOf(said, 'zoneName')
        .map((name, place) => ({ name, id: ids[place] ?? '' }))
        .toSorted((one, other) => one.name.localeCompare(other.name))
    },
    vpcCount: async () => valuesOf(await call('DescribeVpcs'), 'vpcId').length,
    async endpoints(vpc) {
      const said = await call('DescribeVpcEndpoints', { 'Filter.1.Name': 'vpc-id', 'Filter.1.Value.1': vpc })
      const services = valuesOf(said, 'serviceName')
      return valuesOf(said, 'vpcEndpointId').map((id, place) => ({ id, service: services[place] ?? '' }))
    },
    async peers(vpc) {
      const on = (side: 'accepter' | 'requester') =>
        call('DescribeVpcPeeringConnections', {
          'Filter.1.Name': `${side}-vpc-info.vpc-id`,
          'Filter.1.Value.1': vpc,
          'Filter.2.Name': 'status-code',
          'Filter.2.Value.1': 'active',
        })
      return [...valuesOf(await on('accepter'), 'vpcPeeringConnectionId'), ...valuesOf(await on('requester'), 'vpcPeeringConnectionId')]
    },
  }
}

const valuesOf = (xml: string, element: string): string[] =>
  [...xml.matchAll(new RegExp(`<${element}>([^<]*)<`, 'g'))].map(([, value = '']) => value)
