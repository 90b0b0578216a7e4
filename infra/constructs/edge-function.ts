import { LAMBDA_REQUEST_BYTES } from '../../services/api/origin/config.ts'

const ADVICE =
  'Send a file in parts of at most 4 MB with POST /v1/uploads, or to the URL of POST /v1/containers/{id}/files/upload_url, which takes 512 MB.'

/**
 * The function that CloudFront runs for each request of a viewer. It passes on the client's host name, because CloudFront sends the origin's, and
 * refuses a body that Lambda would refuse without the API's error envelope.
 */
export const edgeFunctionCode = (): string => `function handler(event) {
  var request = event.request;
  var headers = request.headers;
  headers['x-forwarded-host'] = { value: headers.host.value };
  var bytes = headers['content-length'] ? Number(headers['content-length'].value) : 0;
  var isJson = headers['content-type'] !== undefined && /^application\\/json/i.test(headers['content-type'].value);
  var limit = isJson ? ${LAMBDA_REQUEST_BYTES.json} : ${LAMBDA_REQUEST_BYTES.binary};
  if (bytes <= limit) return request;
  var message = 'The request body has ' + bytes + ' bytes; this deployment takes at most ' + limit + ' for this content type. ${ADVICE}';
  return {
    statusCode: 413,
    statusDescription: 'Content Too Large',
    headers: { 'content-type': { value: 'application/json' }, 'x-should-retry': { value: 'false' } },
    body: { encoding: 'text', data: JSON.stringify({ error: { message: message, type: 'invalid_request_error', code: 'request_too_large', param: null } }) },
  };
}`
