import { Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'

/** Where alarms go. CloudWatch and Budgets of this account may write to it; a rule that does adds itself, without conditions, which EventBridge does not know. */
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
