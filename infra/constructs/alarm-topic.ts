import { Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'

/** The topic of all alarms. CloudWatch and Budgets of this account may publish; an EventBridge rule adds its own statement, without conditions. */
export function createAlarmTopic(scope: Construct, stage: string, email: string | undefined): Topic {
  const topic = new Topic(scope, 'Alarms', { displayName: `Cellblock ${stage}`, enforceSSL: true })
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email))
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AlarmsOfThisAccount',
      principals: ['cloudwatch', 'budgets'].map((service) => new ServicePrincipal(`${service}.amazonaws.com`)),
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  )
  return topic
}
