import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call, messageOf } from '../api/call.ts'
import { scopes } from '../session.ts'
import type { Usage } from '../state/admin.ts'
import { CopyButton } from '../render/copy-button.tsx'
import { LimitBars, type LimitsAnswer } from './limit-bars.tsx'
import { UsageChart } from './usage-chart.tsx'

const usage = signal<Usage | null>(null)
const limits = signal<LimitsAnswer | null>(null)
interface OwnKey {
  readonly id: string
  readonly name: string | null
  readonly tenant_name: string
  readonly subject: string | null
  readonly expires_at: string | null
}

const ownKey = signal<OwnKey | null>(null)
const failure = signal<string | null>(null)

async function load(): Promise<void> {
  try {
    ;[usage.value, limits.value, ownKey.value] = await Promise.all([
      call<Usage>('/v1/usage'),
      call<LimitsAnswer>('/v1/limits'),
      call<OwnKey>('/v1/key'),
    ])
  } catch (error) {
    failure.value = messageOf(error)
  }
}

const snippetOf = (origin: string): string => `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="ck_…")
answer = client.responses.create(
    model="demo",
    input="Run this\\n\\n\`\`\`python\\nprint(6 * 7)\\n\`\`\`",
    tools=[{"type": "code_interpreter", "container": {"type": "auto"}}],
)
print(answer.output_text)`

/** What the signed-in person has: the scopes of the key, what it used, its limits, and a program to begin with. */
export function AccountView() {
  useEffect(() => void load(), [])
  const snippet = snippetOf(location.origin)
  return (
    <>
      {failure.value !== null && <p class="failure">{failure.value}</p>}
      <p>
        {ownKey.value !== null && <KeyLine apiKey={ownKey.value} />} It may: <strong>{scopes.value.join(', ')}</strong>
      </p>
      {usage.value !== null && <UsageChart usage={usage.value} />}
      {limits.value !== null && <LimitBars answer={limits.value} />}
      <section aria-label="Use the API">
        <h3>
          Use the API from Python <CopyButton text={snippet} label="Copy the program" />
        </h3>
        <pre class="code" tabIndex={0}>
          {snippet}
        </pre>
      </section>
    </>
  )
}

const KeyLine = ({ apiKey: { id, name, tenant_name: tenant, subject, expires_at: expiresAt } }: { readonly apiKey: OwnKey }) => (
  <>
    You are signed in with the key <strong>{name ?? id}</strong> of {tenant}
    {subject !== null && `, for ${subject}`}; it {expiresAt === null ? 'does not expire' : `expires on ${expiresAt.slice(0, 10)}`}.
  </>
)
