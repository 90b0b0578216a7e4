/** How E2B's clients reach the server under test: the addresses of both planes and a key. */
const { CELLBLOCK_URL: url, CELLBLOCK_API_KEY: apiKey } = process.env
if (!url || !apiKey) throw new Error('Set CELLBLOCK_URL and CELLBLOCK_API_KEY, or run this with "npm run test:clients".')

export const connection = { apiKey, apiUrl: `${url}/e2b`, sandboxUrl: `${url}/e2b` }
