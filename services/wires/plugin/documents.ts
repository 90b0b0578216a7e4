/** The description for the model. Clients cut it at 8,000 characters; models read short ones. */
const FOR_MODEL =
  'Runs Python. Call execute with code whenever an answer needs calculation, data or checking. Every call starts fresh: nothing is kept, so send the whole program. Print what you need. No network. If stderr has an error, correct the code and call again, at most three times.'

/** The manifest of the classic plugin protocol, with the base URL that the client used. */
export const manifest = (publicUrl: string): Readonly<Record<string, unknown>> => ({
  schema_version: 'v1',
  name_for_human: 'Cellblock',
  name_for_model: 'python',
  description_for_human: 'Runs Python in a locked sandbox and returns what it printed.',
  description_for_model: FOR_MODEL,
  auth: { type: 'user_http', authorization_type: 'bearer' },
  api: { type: 'openapi', url: `${publicUrl}/plugin/openapi.yaml`, is_user_authenticated: true },
  logo_url: `${publicUrl}/logo.png`,
  contact_email: `operator@${new URL(publicUrl).hostname}`,
  legal_info_url: `${publicUrl}/docs`,
})

const text = (description: string): object => ({ type: 'string', description })

/** The OpenAPI document of the plugin: one operation; descriptions have at most 300 characters. JSON is valid YAML. */
export const pluginDocument = (publicUrl: string): string =>
  `${JSON.stringify(
    {
      openapi: '3.0.3',
      info: { title: 'Python', version: '1', description: 'Runs Python in a fresh, locked sandbox without a network.' },
      servers: [{ url: publicUrl }],
      security: [{ key: [] }],
      paths: {
        '/execute': {
          post: {
            operationId: 'execute',
            summary: 'Run Python and get what it printed',
            description:
              'Runs a whole Python program in a fresh sandbox and answers within 45 seconds. Nothing is kept between calls. numpy, pandas, scipy, scikit-learn, sympy and matplotlib are there; there is no network and nothing can be installed. Print every result that you need.',
            requestBody: {
              required: true,
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    required: ['code'],
                    properties: { code: text('The whole program, with its imports. The value of the last expression is shown as well.') },
                  },
                },
              },
            },
            responses: {
              200: {
                description: 'The program ended. Failing code is a result too: check returncode and stderr.',
                content: {
                  'application/json': {
                    schema: {
                      type: 'object',
                      required: ['stdout', 'stderr', 'returncode'],
                      properties: {
                        stdout: text('What was printed, then the value of the last expression. Cut in its middle when it is long.'),
                        stderr: text('Errors and warnings. Read the last line of a traceback, correct the code and call again.'),
                        returncode: {
                          type: 'integer',
                          description: '0: it worked. 1: the code failed. 124: it took more than 30 seconds. 137: it used too much memory.',
                        },
                      },
                    },
                  },
                },
              },
              401: { description: 'The API key is missing or not valid.' },
              429: { description: 'Too many calls at this moment. Wait a little and call again.' },
              503: { description: 'No sandbox was free in time and the code did not run. Call again.' },
            },
          },
        },
      },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    },
    null,
    2,
  )}\n`
