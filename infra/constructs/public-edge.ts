import { Duration } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  type DistributionProps,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  type IOrigin,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
  VpcOrigin as VpcOriginResource,
  VpcOriginEndpoint,
} from 'aws-cdk-lib/aws-cloudfront'
import { FunctionUrlOrigin, S3BucketOrigin, VpcOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import type { IApplicationLoadBalancer } from 'aws-cdk-lib/aws-elasticloadbalancingv2'
import type { FunctionUrl } from 'aws-cdk-lib/aws-lambda'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { ORIGIN_SECRET_HEADER } from '../../services/http/origin/config.ts'
import type { Config } from '../config.ts'
import { edgeFunctionCode } from './edge-function.ts'

/** Paths that the bucket serves under the same keys. */
const SITE_PATHS = ['/docs/*']
/** Files of the page under names with their hash. The API serves them with their security headers; the distribution keeps them. */
const PAGE_PATH = '/assets/*'
/** Id of the origin that takes large bodies; the edge function selects it. */
const UPLOAD_ORIGIN = 'uploads'
/** Every origin belongs to a path. No client uses this one: the edge function chooses the origin by size, for any path. */
const UPLOAD_PATH = '/uploads-only/*'

/**
 * Every status that CloudFront keeps for 10 s by default, for all callers of an address and although the API's behaviour caches nothing: one tenant's
 * error would answer another one's request.
 */
const UNCACHED_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504] as const

export interface PublicEdgeProps {
  readonly functionUrl: FunctionUrl
  readonly site: IBucket
  readonly originSecret: ISecret
  readonly customDomain: Config['api']['customDomain']
  readonly webAclArn: string | undefined
  readonly corsOrigins: Config['api']['corsOrigins']
  /** The load balancer of the upload service. Null: none. */
  readonly uploads: IApplicationLoadBalancer | null
}

/**
 * The public address of the service; it costs nothing when idle. It neither caches nor buffers API answers, so streams pass through.
 * Without origin access control: that requires a hash of each request body, which SDKs do not send.
 */
export class PublicEdge extends Construct {
  readonly distribution: Distribution
  readonly url: string

  constructor(
    scope: Construct,
    id: string,
    { functionUrl, site, originSecret, customDomain, webAclArn, corsOrigins, uploads }: PublicEdgeProps,
  ) {
    super(scope, id)
    const origin = {
      readTimeout: Duration.seconds(120),
      keepaliveTimeout: Duration.seconds(60),
      connectionAttempts: 2,
      customHeaders: { [ORIGIN_SECRET_HEADER]: originSecret.secretValue.unsafeUnwrap() },
    }
    const forwardHost = new EdgeFunction(this, 'ForwardHost', {
      code: FunctionCode.fromInline(edgeFunctionCode({ uploadOrigin: uploads === null ? null : UPLOAD_ORIGIN, corsOrigins })),
      runtime: FunctionRuntime.JS_2_0,
    })
    const staticFiles = S3BucketOrigin.withOriginAccessControl(site)
    const behaviour = {
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      compress: false,
      functionAssociations: [{ function: forwardHost, eventType: FunctionEventType.VIEWER_REQUEST }],
    }
    const api = new FunctionUrlOrigin(functionUrl, origin)
    this.distribution = new Distribution(this, 'Resource', {
      comment: 'Cellblock API',
      ...this.domainOf(customDomain),
      ...(webAclArn === undefined ? {} : { webAclId: webAclArn }),
      httpVersion: HttpVersion.HTTP2_AND_3,
      errorResponses: UNCACHED_ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultBehavior: { ...behaviour, origin: api },
      // The API serves `/docs`; the bucket serves the scripts that the page loads.
      additionalBehaviors: Object.fromEntries(SITE_PATHS.map((path) => [path, siteBehaviour(staticFiles)])),
    })
    this.distribution.addBehavior(PAGE_PATH, api, {
      ...behaviour,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      compress: true,
    })
    if (uploads !== null) {
      // Its own construct: the name of one that the distribution makes follows the order of behaviours, and an attached origin cannot be replaced.
      const vpcOrigin = new VpcOriginResource(this, 'UploadOrigin', {
        endpoint: VpcOriginEndpoint.applicationLoadBalancer(uploads),
        protocolPolicy: OriginProtocolPolicy.HTTP_ONLY,
      })
      this.distribution.addBehavior(UPLOAD_PATH, VpcOrigin.withVpcOrigin(vpcOrigin, { ...origin, originId: UPLOAD_ORIGIN }), behaviour)
    }
    this.url = `https://${customDomain?.name ?? this.distribution.distributionDomainName}`
  }

  private domainOf(customDomain: PublicEdgeProps['customDomain']): Partial<DistributionProps> {
    if (customDomain === undefined) return {}
    return {
      domainNames: [customDomain.name],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', customDomain.certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    }
  }
}

const siteBehaviour = (origin: IOrigin): BehaviorOptions => ({
  origin,
  viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
  cachePolicy: CachePolicy.CACHING_OPTIMIZED,
  compress: true,
})
