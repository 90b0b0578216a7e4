/** What cdk-nag's AwsSolutions pack finds and we keep, each at its places and for its reason. Anything else fails the test; so does an entry that no longer applies. */
export const ACCEPTED: readonly { readonly finding: RegExp; readonly where: RegExp; readonly reason: string }[] = [
  {
    finding: /^SMG4$/,
    where: /\/ModelKeys\//,
    reason: "The keys belong to the models' providers: only they can make new ones, and the operator puts them in.",
  },
  {
    finding: /^SMG4$/,
    where: /\/OriginSecret\//,
    reason:
      'Distribution and API must change it at one time. It guards against going around the distribution, not for it: every request needs an API key too. A new one is made by a deployment.',
  },
  {
    finding: /^IAM5\[Resource::\*\]$/,
    where: /\/PullRole\//,
    reason: 'ecr:GetAuthorizationToken knows no resource. The endpoint policy lets it through for this role only.',
  },
  {
    finding: /^IAM5\[Resource::\*\]$/,
    where: /\/RunRole\//,
    reason:
      "Lambda makes network interfaces under names that do not exist before. A second statement takes these rights from the function's code.",
  },
  {
    finding: /^IAM5\[Resource::\*\]$/,
    where: /\/(place|reconciler)-role\//,
    reason: 'ecs:ListTasks knows no resource that fits; a condition names the cluster.',
  },
  {
    finding: /^IAM5\[Resource::arn:.*:log-group:\/cellblock\/cellblock-prod-(api|chat|run|place|reconciler):\*\]$/,
    where: /(-role|RunRole)\//,
    reason: "The streams of the function's own log group: Lambda names them.",
  },
  {
    finding: /^IAM5\[Resource::Cellblock-prod-Data:\w+\/(?:tenants|exports)\/\*\]$/,
    where: /(-role|RunRole|(?:Uploads|Ingress)\/Role)\//,
    reason:
      'Objects have random keys below tenants/ and exports/. Which tenant is asked for is decided by the code, whose keys begin with the verified tenant.',
  },
  {
    finding: /^IAM5\[Resource::arn:.*:task\/<SandboxesCluster\w+>\/\*\]$/,
    where: /\/(place|reconciler)-role\//,
    reason: 'Tasks get their ids when they start. They are those of the one cluster that holds sandboxes only.',
  },
  {
    finding: /^IAM5\[Resource::<Site\w+\.Arn>\/page\/\*\]$/,
    where: /(api-role|(?:Uploads|Ingress)\/Role)\//,
    reason: 'The files of the web page have names with their hash. The API reads them below page/ and writes none.',
  },
  {
    finding: /^VPC7$/,
    where: /\/Vpc[\w-]*\//,
    reason: 'The flow log is there, in the guard stack, where the rule does not look: a property of the templates says so.',
  },
  {
    finding: /^ECS2$/,
    where: /\/Tier[\w-]+\//,
    reason: 'The variables are the listen address, the isolation profile and the limits. A sandbox receives no secret.',
  },
  {
    finding: /^ECS4$/,
    where: /\/Cluster(\/Resource)?$/,
    reason: 'Container Insights costs by task and sees what the reconciler and the wide events see already.',
  },
  {
    finding: /^ECS7$/,
    where: /\/Tier[\w-]+\//,
    reason:
      'A log driver would be a way out of the sandbox and would cost by what hostile code prints. Output leaves by the control port, with a limit.',
  },
  {
    finding: /^IAM5\[Resource::\*\]$/,
    where: /\/(?:Uploads|Ingress|Gateway)\/Task\/ExecutionRole\//,
    reason: 'ecr:GetAuthorizationToken knows no resource.',
  },
  {
    finding: /^SMG4$/,
    where: /\/NetworkKeys\//,
    reason: 'A new key could not open the secrets of tenants, and running sandboxes trust the authority. Only the gateway can read both.',
  },
  {
    finding: /^ECS2$/,
    where: /\/Gateway\/Task\//,
    reason: 'The variables are names and addresses. The keys are read by their ARN.',
  },
  {
    finding: /^ECS2$/,
    where: /\/(?:Uploads|Ingress)\/Task\//,
    reason: 'The variables are names and addresses, as those of the function of the API. The origin secret is read by its ARN.',
  },
  {
    finding: /^EC23$/,
    where: /\/Uploads\/BalancerGroup\//,
    reason:
      "The load balancer is internal, in a network with nothing else. CloudFront's security group exists there only after the VPC origin does, so no template can name it.",
  },
  {
    finding: /^ELB2$/,
    where: /\/(?:Uploads|Ingress)\/Balancer\//,
    reason: 'The API logs each request without its path: paths such as /d/… are keys to files.',
  },
  { finding: /^CFR1$/, where: /\/Edge\//, reason: 'Which countries may call is the business of the operator; API keys decide who may.' },
  { finding: /^CFR2$/, where: /\/Edge\//, reason: 'A web ACL costs each month and is the choice of the operator: api.webAclArn.' },
  {
    finding: /^CFR3$/,
    where: /\/Edge\//,
    reason: 'Paths such as /d/… are keys to files, so a log of URLs would be a store of keys. The API logs each request without them.',
  },
  {
    finding: /^CFR4$/,
    where: /\/Edge\//,
    reason: "Without a domain of one's own CloudFront's certificate fixes the policy. With one, TLS 1.2 is the least.",
  },
  {
    finding: /^IAM4\[Policy::.*AWSCodeDeployRoleForLambdaLimited\]$/,
    where: /\/Canary\/Role\//,
    reason: 'The policy that CodeDeploy documents for its role. It shifts aliases and runs none of our code.',
  },
  {
    finding: /^IAM4\[Policy::.*AWSLambdaBasicExecutionRole\]$/,
    where: /\/Builds\/(?:Start|IsComplete|Provider)\//,
    reason: "The CDK's provider framework and its two handlers write their logs. They exist only while CodeBuild builds the images.",
  },
  {
    finding: /^IAM5\[Resource::<Builds\w+\.Arn>:\*\]$/,
    where: /\/Builds\/Provider\//,
    reason: 'The provider framework invokes its handlers in any version.',
  },
  {
    finding: /^IAM5\[Resource::\*\]$/,
    where: /\/Builds\/(?:Project|Provider\/waiter-state-machine)\//,
    reason: 'ecr:GetAuthorizationToken and the delivery of logs of a state machine know no resource.',
  },
  {
    finding: /^IAM5\[(?:Action::s3:(?:GetBucket|GetObject|List)\*|Resource::arn:.*:s3:::cdk-.*\/\*)\]$/,
    where: /\/Builds\/Project\//,
    reason: "The project reads the build contexts from the CDK's bucket of assets, as the CDK grants it.",
  },
  {
    finding: /^IAM5\[Resource::arn:.*:log-group:\/aws\/codebuild\/.*\]$/,
    where: /\/Builds\/Project\//,
    reason: 'The streams of the log group of the project: CodeBuild names them.',
  },
  { finding: /^CB4$/, where: /\/Builds\/Project\//, reason: 'A build has no artifacts: it pushes an image into an encrypted repository.' },
  {
    finding: /^SF[12]$/,
    where: /\/Builds\/Provider\/waiter-state-machine\//,
    reason: 'The state machine of the provider framework waits for a build; CodeBuild has the log that says why one failed.',
  },
]
