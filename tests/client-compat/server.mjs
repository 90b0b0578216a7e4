/** The server under test, by its base URL only: a client receives nothing else. */
const { CELLBLOCK_URL: url, CELLBLOCK_API_KEY: apiKey } = process.env
if (!url || !apiKey) throw new Error('Set CELLBLOCK_URL and CELLBLOCK_API_KEY, or run this with "npm run test:clients".')

export const server = { baseURL: `${url}/v1`, apiKey, model: process.env.CELLBLOCK_MODEL ?? 'demo' }

/** The container that all code runs in, when one is named: a sandbox for each turn is most of the time. */
export const container = process.env.CELLBLOCK_CONTAINER

/** The demo model runs the fenced blocks of a message. */
export const python = (code) => `Run this:\n\`\`\`python\n${code}\n\`\`\``
