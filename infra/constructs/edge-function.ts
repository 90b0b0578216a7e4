import { LAMBDA_REQUEST_BYTES, PREFLIGHT } from '../../services/http/origin/config.ts'

const ADVICE =
  'Send a file to the URL of POST /v1/containers/{id}/files/upload_url, which takes 512 MB, or in parts of at most 4 MB with POST /v1/uploads. ' +
  'For clients that can do neither, the operator can deploy the upload service (api.uploadService: true).'

export interface EdgeFunctionOptions {
  /** Id of the distribution's origin that takes bodies of any size. Null: none, and the function refuses bodies that Lambda would refuse. */
  readonly uploadOrigin: string | null
  /** Origins of web pages that may call the API. */
  readonly corsOrigins: readonly string[]
}

/**
 * The function that CloudFront runs for each request of a viewer. It passes on the client's host name, because CloudFront sends the origin's.
 * Bodies above Lambda's limit, and bodies of unknown length, go to the upload service. It answers preflights of allowed origins, because an answer
 * without a body may never end behind a function URL.
 */
export const edgeFunctionCode = ({
  uploadOrigin,
  corsOrigins,
}: EdgeFunctionOptions): string => `${uploadOrigin === null ? '' : "import cf from 'cloudfront';\n"}function handler(event) {
  var request = event.request;
  var headers = request.headers;
${corsOrigins.length === 0 ? '' : answerPreflight(corsOrigins)}  headers['x-forwarded-host'] = { value: headers.host.value };
  var type = headers['content-type'] ? headers['content-type'].value : '';
  var bytes = headers['content-length'] ? Number(headers['content-length'].value) : 0;
  var limit = /^application\\/json/i.test(type) ? ${LAMBDA_REQUEST_BYTES.json} : ${LAMBDA_REQUEST_BYTES.binary};
${uploadOrigin === null ? REFUSE : toUploadOrigin(uploadOrigin)}
}`

const answerPreflight = (
  origins: readonly string[],
): string => `  if (request.method === 'OPTIONS' && headers.origin && headers['access-control-request-method'] && ${JSON.stringify(origins)}.indexOf(headers.origin.value) >= 0) {
    var allowed = {
      'access-control-allow-origin': { value: headers.origin.value },
      'access-control-allow-methods': { value: '${PREFLIGHT.methods.join(',')}' },
      'access-control-max-age': { value: '${PREFLIGHT.maxAgeSeconds}' },
      vary: { value: 'Origin, Access-Control-Request-Headers' },
    };
    if (headers['access-control-request-headers']) allowed['access-control-allow-headers'] = { value: headers['access-control-request-headers'].value };
    return { statusCode: 204, statusDescription: 'No Content', headers: allowed };
  }
`

const toUploadOrigin = (
  origin: string,
): string => `  if (bytes > limit || (headers['content-length'] === undefined && /^(multipart\\/form-data|application\\/)/i.test(type)))
    cf.selectRequestOriginById(${JSON.stringify(origin)});
  return request;`

const REFUSE = `  if (bytes <= limit) return request;
  var message = 'The request body has ' + bytes + ' bytes; this deployment takes at most ' + limit + ' for this content type. ${ADVICE}';
  return {
    statusCode: 413,
    statusDescription: 'Content Too Large',
    headers: { 'content-type': { value: 'application/json' }, 'x-should-retry': { value: 'false' } },
    body: { encoding: 'text', data: JSON.stringify({ error: { message: message, type: 'invalid_request_error', code: 'request_too_large', param: null } }) },
  };`
