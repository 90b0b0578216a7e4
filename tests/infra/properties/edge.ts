import { all, at, first, list, named, only, same, says, set, statements, value, type Property } from '../property.ts'
import type { Resource, Templates } from '../synthesise.ts'

const distribution = (t: Templates): Resource => only(t, 'AWS::CloudFront::Distribution')
const CONFIG = 'Properties.DistributionConfig'
const apiOrigin = (t: Templates): unknown =>
  first(list(at(distribution(t), `${CONFIG}.Origins`)).filter((origin) => says(origin, 'OriginCustomHeaders')))
const behaviours = (t: Templates): unknown[] => [
  at(distribution(t), `${CONFIG}.DefaultCacheBehavior`),
  ...list(at(distribution(t), `${CONFIG}.CacheBehaviors`)),
]
const apiVariables = (t: Templates): unknown =>
  at(
    first(all(t, 'AWS::Lambda::Function').filter((f) => f.Properties.FunctionName === 'cellblock-prod-api')),
    'Properties.Environment.Variables',
  )
const sitePolicy = (t: Templates): Resource => named(t, 'service', 'SitePolicy', 'AWS::S3::BucketPolicy')
/** CloudFront's own policies, by their published ids. */
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad'
const ALL_BUT_HOST = 'b689b0a8-53d0-40ab-baf2-68738e2966ac'

export const edgeProperties: readonly Property[] = [
  {
    title: 'every path is HTTPS only',
    holds: (t) => behaviours(t).length === 3 && behaviours(t).every((b) => at(b, 'ViewerProtocolPolicy') === 'https-only'),
    break: (t) => set(distribution(t), `${CONFIG}.DefaultCacheBehavior.ViewerProtocolPolicy`, 'allow-all'),
  },
  {
    title: 'the distribution shows the API the origin secret, which no template holds',
    holds: (t) =>
      at(apiOrigin(t), 'OriginCustomHeaders.0.HeaderName') === 'x-cellblock-origin' &&
      says(at(apiOrigin(t), 'OriginCustomHeaders.0.HeaderValue'), '{{resolve:secretsmanager:') &&
      says(at(apiOrigin(t), 'OriginCustomHeaders.0.HeaderValue'), 'OriginSecret'),
    break: (t) => set(apiOrigin(t), 'OriginCustomHeaders.0.HeaderValue', 'written-down'),
  },
  {
    title: 'the API knows the ARN of the origin secret',
    holds: (t) => says(apiVariables(t), 'OriginSecret'),
    break: (t) => set(apiVariables(t), 'ORIGIN_SECRET_ARN', undefined),
  },
  {
    title: 'the origin secret is long and made by AWS',
    holds: (t) =>
      Number(at(named(t, 'service', 'OriginSecret', 'AWS::SecretsManager::Secret'), 'Properties.GenerateSecretString.PasswordLength')) >=
      32,
    break: (t) => set(named(t, 'service', 'OriginSecret', 'AWS::SecretsManager::Secret'), 'Properties.GenerateSecretString', undefined),
  },
  {
    title: 'the API is reached over TLS 1.2',
    holds: (t) =>
      at(apiOrigin(t), 'CustomOriginConfig.OriginProtocolPolicy') === 'https-only' &&
      same(at(apiOrigin(t), 'CustomOriginConfig.OriginSSLProtocols'), ['TLSv1.2']),
    break: (t) => set(apiOrigin(t), 'CustomOriginConfig.OriginProtocolPolicy', 'http-only'),
  },
  {
    title: 'no error of one caller answers another one: every status that CloudFront keeps by default is kept for 0 s',
    holds: (t) => {
      const errors = list(at(distribution(t), `${CONFIG}.CustomErrorResponses`))
      const kept = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]
      return kept.every((status) => errors.some((error) => at(error, 'ErrorCode') === status && at(error, 'ErrorCachingMinTTL') === 0))
    },
    break: (t) => set(distribution(t), `${CONFIG}.CustomErrorResponses`, undefined),
  },
  value(
    'no answer of the API is cached',
    distribution,
    `${CONFIG}.DefaultCacheBehavior.CachePolicyId`,
    CACHING_DISABLED,
    '658327ea-f89d-4fab-a63d-7e88639e58f6',
  ),
  value(
    "the API gets every header but the client's Host",
    distribution,
    `${CONFIG}.DefaultCacheBehavior.OriginRequestPolicyId`,
    ALL_BUT_HOST,
    '216adef6-5c7f-47e4-b989-5492eafa07d3',
  ),
  {
    title: 'the host that the client used travels beside it, and a forged one is overwritten',
    holds: (t) =>
      says(at(distribution(t), `${CONFIG}.DefaultCacheBehavior.FunctionAssociations.0`), 'viewer-request') &&
      says(only(t, 'AWS::CloudFront::Function').Properties.FunctionCode, "headers['x-forwarded-host'] = { value: headers.host.value }"),
    break: (t) => set(only(t, 'AWS::CloudFront::Function'), 'Properties.FunctionCode', 'function handler(event) { return event.request }'),
  },
  {
    title: 'every method reaches the API',
    holds: (t) => list(at(distribution(t), `${CONFIG}.DefaultCacheBehavior.AllowedMethods`)).length === 7,
    break: (t) => set(distribution(t), `${CONFIG}.DefaultCacheBehavior.AllowedMethods`, ['GET', 'HEAD']),
  },
  value(
    'answers are not compressed on the way, which would hold streams back',
    distribution,
    `${CONFIG}.DefaultCacheBehavior.Compress`,
    false,
    true,
  ),
  {
    title: 'a silent stream outlives several of its heartbeats',
    holds: (t) => Number(at(apiOrigin(t), 'CustomOriginConfig.OriginReadTimeout')) >= 60,
    break: (t) => set(apiOrigin(t), 'CustomOriginConfig.OriginReadTimeout', 5),
  },
  value('answers leave as they are made', (t) => only(t, 'AWS::Lambda::Url'), 'Properties.InvokeMode', 'RESPONSE_STREAM', 'BUFFERED'),
  {
    title: 'the URL of the function opens no other way to invoke it',
    holds: (t) =>
      all(t, 'AWS::Lambda::Permission')
        .filter((p) => p.Properties.Principal === '*')
        .every((p) => p.Properties.FunctionUrlAuthType === 'NONE' || p.Properties.InvokedViaFunctionUrl === true),
    break: (t) =>
      set(
        first(all(t, 'AWS::Lambda::Permission').filter((p) => p.Properties.InvokedViaFunctionUrl === true)),
        'Properties.InvokedViaFunctionUrl',
        undefined,
      ),
  },
  {
    title: 'only the distribution reads the site bucket',
    holds: (t) =>
      statements(at(sitePolicy(t), 'Properties.PolicyDocument'))
        .filter((s) => s.Effect === 'Allow')
        .every(
          (s) =>
            s.Action === 's3:GetObject' && same(s.Principal, { Service: 'cloudfront.amazonaws.com' }) && says(s.Condition, 'AWS:SourceArn'),
        ),
    break: (t) =>
      void statements(at(sitePolicy(t), 'Properties.PolicyDocument')).push({
        Effect: 'Allow',
        Principal: '*',
        Action: 's3:GetObject',
        Resource: '*',
      }),
  },
]
