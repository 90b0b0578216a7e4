import { CfnSubnet, type ISubnet } from 'aws-cdk-lib/aws-ec2'

/** Places each subnet in the availability zone of that id. Without ids the subnets keep the zones that the CDK selected by name. */
export function pinZones(subnets: readonly ISubnet[], zoneIds: readonly string[] | undefined): void {
  for (const [index, zoneId] of (zoneIds ?? []).entries()) {
    const subnet = subnets[index]?.node.defaultChild
    if (!(subnet instanceof CfnSubnet)) throw new Error(`There is no subnet for the availability zone ${zoneId}.`)
    subnet.addPropertyDeletionOverride('AvailabilityZone')
    subnet.addPropertyOverride('AvailabilityZoneId', zoneId)
  }
}
