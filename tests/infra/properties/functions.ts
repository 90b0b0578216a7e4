import {
  actions,
  all,
  at,
  first,
  isAbsent,
  list,
  named,
  only,
  same,
  says,
  set,
  statements,
  type Property,
  type Statement,
} from '../property.ts'
import { FUNCTIONS, type FunctionId } from '../../../infra/function-name.ts'
import type { Resource, Templates } from '../synthesise.ts'

const lambdas = (t: Templates): Resource[] => all(t, 'AWS::Lambda::Function')
const lambda = (t: Templates, name: FunctionId): Resource =>
  first(lambdas(t).filter((f) => f.Properties.FunctionName === `cellblock-prod-${name}`))
const mappings = (t: Templates): Resource[] => all(t, 'AWS::Lambda::EventSourceMapping')
export const roleOf = (t: Templates, name: FunctionId): Resource =>
  name === 'run' ? named(t, 'network', 'RunRole', 'AWS::IAM::Role') : named(t, 'service', `${name}role`, 'AWS::IAM::Role')
export const rights = (t: Templates, name: FunctionId): Statement[] =>
  list(roleOf(t, name).Properties.Policies).flatMap((policy) => statements(at(policy, 'PolicyDocument')))
const may = (t: Templates, name: FunctionId, test: (action: string) => boolean): boolean =>
  rights(t, name).some((s) => s.Effect === 'Allow' && actions(s).some(test))
const whoMay = (t: Templates, test: (action: string) => boolean): FunctionId[] => FUNCTIONS.filter((name) => may(t, name, test))
const give = (name: FunctionId, Action: string) => (t: Templates) =>
  void list(at(roleOf(t, name), 'Properties.Policies.0.PolicyDocument.Statement')).push({ Effect: 'Allow', Action, Resource: '*' })
const everyFunction = (title: string, holds: (f: Resource) => boolean, path: string, wrong: unknown): Property => ({
  title,
  holds: (t) => lambdas(t).length === FUNCTIONS.length && lambdas(t).every(holds),
  break: (t) => set(lambda(t, 'place'), path, wrong),
})
const onlyThese = (
  title: string,
  wanted: FunctionId[],
  test: (action: string) => boolean,
  intruder: FunctionId,
  action: string,
): Property => ({ title, holds: (t) => same(whoMay(t, test), wanted), break: give(intruder, action) })
const statementFor = (t: Templates, name: FunctionId, action: string): Statement =>
  first(rights(t, name).filter((s) => actions(s).includes(action)))

/** It shifts aliases and runs none of our code: AWS's own policy is what CodeDeploy documents for it. */
const isRoleOfCodeDeploy = ({ Properties }: Resource): boolean =>
  says(Properties.AssumeRolePolicyDocument, 'codedeploy.amazonaws.com') &&
  list(Properties.ManagedPolicyArns).every((policy) => says(policy, 'AWSCodeDeployRoleForLambdaLimited'))

export const functionProperties: readonly Property[] = [
  everyFunction('functions run on Node 24', (f) => f.Properties.Runtime === 'nodejs24.x', 'Properties.Runtime', 'nodejs20.x'),
  everyFunction('functions run on arm64', (f) => same(f.Properties.Architectures, ['arm64']), 'Properties.Architectures', ['x86_64']),
  everyFunction(
    'no function reserves concurrency',
    (f) => isAbsent(f.Properties.ReservedConcurrentExecutions),
    'Properties.ReservedConcurrentExecutions',
    5,
  ),
  everyFunction(
    'a long chain of messages is no loop',
    (f) => f.Properties.RecursiveLoop === 'Allow',
    'Properties.RecursiveLoop',
    'Terminate',
  ),
  everyFunction(
    'logs are JSON, in a separate log group',
    (f) => at(f, 'Properties.LoggingConfig.LogFormat') === 'JSON' && at(f, 'Properties.LoggingConfig.LogGroup') !== undefined,
    'Properties.LoggingConfig.LogFormat',
    'Text',
  ),
  everyFunction(
    'no secret is in an environment',
    (f) => !says(f.Properties.Environment, 'resolve:') && !/"sk-|AKIA|SecretString/.test(JSON.stringify(f.Properties.Environment)),
    'Properties.Environment.Variables.OPENAI_API_KEY',
    '{{resolve:secretsmanager:x}}',
  ),
  {
    title: 'logs end after the agreed days',
    holds: (t) =>
      all(t, 'AWS::Logs::LogGroup').length === FUNCTIONS.length &&
      all(t, 'AWS::Logs::LogGroup').every((group) => group.Properties.RetentionInDays === 30),
    break: (t) => set(first(all(t, 'AWS::Logs::LogGroup')), 'Properties.RetentionInDays', undefined),
  },
  {
    title: 'only the run worker is in the network of the sandboxes',
    holds: (t) =>
      same(
        lambdas(t)
          .filter((f) => f.Properties.VpcConfig !== undefined)
          .map((f) => f.Properties.FunctionName),
        ['cellblock-prod-run'],
      ),
    break: (t) => set(lambda(t, 'chat'), 'Properties.VpcConfig', lambda(t, 'run').Properties.VpcConfig),
  },
  {
    title: 'the run worker stands in its own subnets, under its own group',
    holds: (t) =>
      says(lambda(t, 'run').Properties.VpcConfig, 'runSubnet') &&
      !says(lambda(t, 'run').Properties.VpcConfig, 'Sandbox') &&
      says(at(lambda(t, 'run'), 'Properties.VpcConfig.SecurityGroupIds'), 'WallsRun'),
    break: (t) => set(lambda(t, 'run'), 'Properties.VpcConfig.SecurityGroupIds', [{ 'Fn::ImportValue': 'WallsSandbox' }]),
  },
  {
    title: 'place starts sandboxes in their subnets, under their group',
    holds: (t) =>
      says(at(lambda(t, 'place'), 'Properties.Environment.Variables.SUBNET_IDS'), 'sandboxSubnet') &&
      !says(at(lambda(t, 'place'), 'Properties.Environment.Variables.SUBNET_IDS'), 'runSubnet') &&
      says(at(lambda(t, 'place'), 'Properties.Environment.Variables.SECURITY_GROUP_IDS'), 'WallsSandbox'),
    break: (t) => set(lambda(t, 'place'), 'Properties.Environment.Variables.SECURITY_GROUP_IDS', 'WallsRun'),
  },
  onlyThese(
    'only chat reads the model keys; the API reads its origin secret',
    ['api', 'chat'],
    (action) => action.startsWith('secretsmanager:'),
    'run',
    'secretsmanager:GetSecretValue',
  ),
  {
    title: "the API's right to a secret ends at the origin secret",
    holds: (t) =>
      says(statementFor(t, 'api', 'secretsmanager:GetSecretValue').Resource, 'OriginSecret') &&
      says(statementFor(t, 'chat', 'secretsmanager:GetSecretValue').Resource, 'ModelKeys'),
    break: (t) => void (statementFor(t, 'api', 'secretsmanager:GetSecretValue').Resource = '*'),
  },
  {
    title: 'only chat knows the ARN of the model keys',
    holds: (t) => FUNCTIONS.every((name) => says(lambda(t, name).Properties.Environment, 'ModelKeys') === (name === 'chat')),
    break: (t) => set(lambda(t, 'api'), 'Properties.Environment.Variables.MODELS_SECRET_ARN', { 'Fn::ImportValue': 'ModelKeys' }),
  },
  onlyThese(
    'only place and the reconciler call ECS',
    ['place', 'reconciler'],
    (action) => action.startsWith('ecs:'),
    'run',
    'ecs:StopTask',
  ),
  onlyThese('only place starts sandboxes', ['place'], (action) => action === 'ecs:RunTask', 'reconciler', 'ecs:RunTask'),
  onlyThese('only place passes a role on', ['place'], (action) => action.startsWith('iam:'), 'api', 'iam:PassRole'),
  onlyThese(
    'no function opens a shell in a sandbox',
    [],
    (action) => action === 'ecs:ExecuteCommand' || action.startsWith('ssm'),
    'place',
    'ecs:ExecuteCommand',
  ),
  onlyThese(
    'no function changes a task definition',
    [],
    (action) => /^ecs:(Register|Update|Create|Put)/.test(action),
    'place',
    'ecs:RegisterTaskDefinition',
  ),
  onlyThese(
    'only the run worker gets network interfaces',
    ['run'],
    (action) => action.startsWith('ec2:'),
    'chat',
    'ec2:CreateNetworkInterface',
  ),
  onlyThese('place sees no object', ['api', 'chat', 'run', 'reconciler'], (action) => action.startsWith('s3:'), 'place', 's3:GetObject'),
  onlyThese(
    'only the API and the reconciler scan the table, to export and to delete a tenant',
    ['api', 'reconciler'],
    (action) => action === 'dynamodb:Scan',
    'run',
    'dynamodb:Scan',
  ),
  onlyThese(
    'no function administers the table',
    [],
    (action) => /^dynamodb:(PartiQL|CreateTable|DeleteTable|UpdateTable|Export|\*)/.test(action),
    'api',
    'dynamodb:DeleteTable',
  ),
  onlyThese('no right is a wildcard', [], (action) => action.includes('*'), 'reconciler', 's3:*'),
  {
    title: 'place passes the pull role on, to ECS tasks only',
    holds: (t) =>
      says(statementFor(t, 'place', 'iam:PassRole').Resource, 'PullRole') &&
      same(statementFor(t, 'place', 'iam:PassRole').Condition, { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } }),
    break: (t) => void (statementFor(t, 'place', 'iam:PassRole').Resource = '*'),
  },
  {
    title: 'place starts the task definitions of this deployment only, in its cluster, never with exec',
    holds: (t) => {
      const run = statementFor(t, 'place', 'ecs:RunTask')
      return (
        list(run.Resource).length === all(t, 'AWS::ECS::TaskDefinition').length &&
        list(run.Resource).every((r) => says(r, 'SandboxesTier')) &&
        says(run.Condition?.ArnEquals, 'Cluster') &&
        same(run.Condition?.StringNotEqualsIfExists, { 'ecs:enable-execute-command': 'true' })
      )
    },
    break: (t) => void (statementFor(t, 'place', 'ecs:RunTask').Condition = {}),
  },
  {
    title: "the run worker's code cannot use the rights that Lambda needs for its interfaces",
    holds: (t) =>
      rights(t, 'run').some(
        (s) =>
          s.Effect === 'Deny' &&
          actions(s).includes('ec2:CreateNetworkInterface') &&
          says(s.Condition?.ArnEquals?.['lambda:SourceFunctionArn'], 'cellblock-prod-run'),
      ),
    break: (t) =>
      set(
        roleOf(t, 'run'),
        'Properties.Policies.0.PolicyDocument.Statement',
        rights(t, 'run').filter((s) => s.Effect === 'Allow'),
      ),
  },
  {
    title: 'the key decrypts only through table, objects and secrets',
    holds: (t) =>
      FUNCTIONS.every((name) =>
        rights(t, name)
          .filter((s) => actions(s).some((action) => action.startsWith('kms:')))
          .every((s) => list(s.Condition?.StringEquals?.['kms:ViaService']).length > 0),
      ),
    break: (t) => void delete statementFor(t, 'chat', 'kms:Decrypt').Condition,
  },
  {
    title: 'no role is managed elsewhere, and none is added to later',
    holds: (t) =>
      all(t, 'AWS::IAM::Role').every((role) => isAbsent(role.Properties.ManagedPolicyArns) || isRoleOfCodeDeploy(role)) &&
      all(t, 'AWS::IAM::Policy').length === 0 &&
      all(t, 'AWS::IAM::User').length === 0,
    break: (t) => set(roleOf(t, 'api'), 'Properties.ManagedPolicyArns', ['arn:aws:iam::aws:policy/AdministratorAccess']),
  },
  {
    title: 'one failed message does not bring back its neighbours',
    holds: (t) =>
      mappings(t).length === 3 && mappings(t).every((m) => same(m.Properties.FunctionResponseTypes, ['ReportBatchItemFailures'])),
    break: (t) => set(first(mappings(t)), 'Properties.FunctionResponseTypes', undefined),
  },
  {
    title: 'every mapping has its own limit',
    holds: (t) => mappings(t).every((m) => Number(at(m, 'Properties.ScalingConfig.MaximumConcurrency')) >= 2),
    break: (t) => set(first(mappings(t)), 'Properties.ScalingConfig', undefined),
  },
  {
    title: 'no message comes back while its function may still work on it',
    holds: (t) => {
      const longest = Math.max(...lambdas(t).map((f) => Number(f.Properties.Timeout)))
      return all(t, 'AWS::SQS::Queue').every((queue) => Number(queue.Properties.VisibilityTimeout) >= longest)
    },
    break: (t) => set(first(all(t, 'AWS::SQS::Queue')), 'Properties.VisibilityTimeout', 30),
  },
  {
    title: 'each function has its own code',
    holds: (t) => new Set(lambdas(t).map((f) => JSON.stringify(f.Properties.Code))).size === FUNCTIONS.length,
    break: (t) => set(lambda(t, 'run'), 'Properties.Code', lambda(t, 'api').Properties.Code),
  },
  {
    title: 'the reconciler runs every minute',
    holds: (t) =>
      all(t, 'AWS::Events::Rule').some(
        (rule) =>
          rule.Properties.ScheduleExpression === 'rate(1 minute)' &&
          rule.Properties.State === 'ENABLED' &&
          says(rule.Properties.Targets, 'reconciler'),
      ),
    break: (t) => set(named(t, 'service', 'SandboxEventsEveryMinute', 'AWS::Events::Rule'), 'Properties.State', 'DISABLED'),
  },
  {
    title: 'each start and each end of a sandbox of this cluster invokes the reconciler with the whole event',
    holds: (t) =>
      ['SandboxRuns', 'SandboxEnds'].every((name) => {
        const rule = named(t, 'service', `SandboxEvents${name}`, 'AWS::Events::Rule')
        const { EventPattern: pattern, Targets: targets } = rule.Properties
        const state = name === 'SandboxRuns' ? '"desiredStatus":["RUNNING"],"lastStatus":["RUNNING"]' : '"desiredStatus":["STOPPED"]'
        const sorted = Object.fromEntries(
          Object.entries(at(rule, 'Properties.EventPattern.detail') as object).toSorted(([a], [b]) => a.localeCompare(b)),
        )
        return (
          says(pattern, 'Cluster') &&
          says(pattern, 'sbx_') &&
          JSON.stringify(sorted).includes(state) &&
          says(targets, 'reconciler') &&
          !says(targets, 'InputTransformer')
        )
      }),
    break: (t) =>
      set(named(t, 'service', 'SandboxEventsSandboxRuns', 'AWS::Events::Rule'), 'Properties.EventPattern.detail.lastStatus', ['PENDING']),
  },
  {
    title: 'only our EventBridge rules and the function URL invoke a function',
    holds: (t) =>
      all(t, 'AWS::Lambda::Permission').every(
        (p) =>
          (p.Properties.Principal === 'events.amazonaws.com' && p.Properties.SourceArn !== undefined) ||
          says(p.Properties.FunctionName, 'api'),
      ),
    break: (t) =>
      set(
        first(all(t, 'AWS::Lambda::Permission').filter((p) => p.Properties.Principal === 'events.amazonaws.com')),
        'Properties.SourceArn',
        undefined,
      ),
  },
  {
    title: 'one function has a public URL',
    holds: (t) => says(only(t, 'AWS::Lambda::Url').Properties.TargetFunctionArn, 'api'),
    break: (t) => set(only(t, 'AWS::Lambda::Url'), 'Properties.TargetFunctionArn', { 'Fn::GetAtt': ['chat', 'Arn'] }),
  },
]
