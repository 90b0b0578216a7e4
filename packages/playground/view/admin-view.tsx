import { useEffect, useState } from 'preact/hooks'
import {
  adminFailure,
  choosePlan,
  createKey,
  createTenant,
  keys,
  loadMetrics,
  loadTenants,
  metrics,
  newKey,
  openTenant,
  plans,
  revokeKey,
  tenantId,
  tenants,
  usage,
  type ApiKey,
  type Tenant,
} from '../state/admin.ts'
import type { Metrics } from '../state/metrics.ts'
import { signOut } from '../state/sign-in.ts'
import { AuditView } from './audit-view.tsx'
import { Icon, Logo } from './icons.tsx'
import { UsageChart } from './usage-chart.tsx'

const REFRESH_MS = 10_000

/** What a key with the scope `admin` sees: the service, its tenants, and what each of them uses. */
export function AdminView() {
  useEffect(() => {
    void loadTenants()
    void loadMetrics()
    const timer = setInterval(() => void loadMetrics(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const tenant = tenants.value.find(({ id }) => id === tenantId.value)
  return (
    <div class="admin">
      <nav class="sidebar" aria-label="Tenants">
        <header class="brand">
          <Logo /> <span>Cellblock</span>
        </header>
        <NameForm label="New tenant" onSubmit={(name) => void createTenant(name)} />
        <h2>Tenants</h2>
        <ul class="chat-list">
          {tenants.value.map(({ id, name }) => (
            <li key={id} class={id === tenantId.value ? 'current' : ''}>
              <button type="button" aria-current={id === tenantId.value ? 'page' : undefined} onClick={() => void openTenant(id)}>
                {name}
              </button>
            </li>
          ))}
        </ul>
        <footer>
          <a class="plain" href="/docs" target="_blank" rel="noopener">
            <Icon name="book" /> API reference
          </a>
          <button type="button" class="plain" onClick={() => void signOut()}>
            <Icon name="leave" /> Sign out
          </button>
        </footer>
      </nav>
      <main id="main">
        <header class="bar">
          <h1>{tenant?.name ?? 'Administration'}</h1>
        </header>
        <div class="admin-body">
          {adminFailure.value !== null && (
            <p class="failure" role="alert">
              {adminFailure.value}
            </p>
          )}
          <Service metrics={metrics.value} />
          {tenant !== undefined && <TenantDetail tenant={tenant} />}
        </div>
      </main>
    </div>
  )
}

const sum = (values: Readonly<Record<string, number>> | undefined): number => Object.values(values ?? {}).reduce((a, b) => a + b, 0)

function Service({ metrics: found }: { readonly metrics: Metrics | null }) {
  if (found === null) return <p class="notice">The server shows its metrics to requests from its own machine only.</p>
  const sandboxes = found['sandboxes'] ?? {}
  const figures: readonly (readonly [string, number])[] = [
    ['Warm sandboxes', sandboxes['ready'] ?? 0],
    ['Sandboxes in use', sandboxes['claimed'] ?? 0],
    ['Messages in queues', sum(found['queue_messages'])],
    ['Dead letters', sum(found['dead_letters'])],
    ['Executions since the start', sum(found['executions_total'])],
    ['Failed requests since the start', sum(found['api_errors_total'])],
  ]
  return (
    <section aria-label="Service">
      <dl class="figures">
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value.toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function TenantDetail({ tenant }: { readonly tenant: Tenant }) {
  const limits = Object.entries(tenant.limits)
  return (
    <>
      {usage.value !== null && <UsageChart usage={usage.value} />}
      <section aria-label="Plan and limits">
        <h2>Plan and limits</h2>
        <label class="plan">
          Plan
          <select value={tenant.plan ?? ''} onChange={(event) => void choosePlan(event.currentTarget.value || null)}>
            <option value="">none</option>
            {plans.value.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <p>
          {limits.length === 0
            ? 'The limits are those of the plan, else the defaults.'
            : limits.map(([name, value]) => `${name} ${value}`).join(' · ')}
          {tenant.image === null ? '' : ` · image ${tenant.image}`}
        </p>
      </section>
      <Keys />
      <AuditView />
    </>
  )
}

function Keys() {
  return (
    <section aria-label="API keys">
      <h2>API keys</h2>
      {newKey.value !== null && (
        <p class="notice" role="status">
          Copy the new key now; it is not shown again: <code>{newKey.value}</code>
        </p>
      )}
      <div class="table-box">
        <div class="scroll" tabIndex={0} role="group" aria-label="Keys">
          <table>
            <thead>
              <tr>
                {['Name', 'User', 'Scopes', 'Last used', 'State'].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {keys.value.map((key) => (
                <tr key={key.id}>
                  <td>{key.name ?? key.id}</td>
                  <td>{key.subject ?? 'every user'}</td>
                  <td>{key.scopes.join(', ')}</td>
                  <td>{key.last_used_at === null ? 'never' : key.last_used_at.slice(0, 16).replace('T', ' ')}</td>
                  <td>
                    <KeyState apiKey={key} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
      <NameForm label="New key" onSubmit={(name) => void createKey(name)} />
    </section>
  )
}

function KeyState({ apiKey: { id, name, revoked_at: revokedAt, expires_at: expiresAt } }: { readonly apiKey: ApiKey }) {
  if (revokedAt !== null) return <>revoked {revokedAt.slice(0, 10)}</>
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return <>expired {expiresAt.slice(0, 10)}</>
  return (
    <button type="button" class="plain" onClick={() => void revokeKey(id)}>
      Revoke<span class="hidden"> {name ?? id}</span>
    </button>
  )
}

function NameForm({ label, onSubmit }: { readonly label: string; readonly onSubmit: (name: string) => void }) {
  const [name, setName] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    setName('')
    onSubmit(name.trim())
  }
  return (
    <form class="name-form" onSubmit={submit}>
      <input
        aria-label={`Name of the ${label.toLowerCase()}`}
        placeholder={label}
        required
        maxLength={100}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="plain" disabled={name.trim() === ''}>
        <Icon name="plus" /> <span class="hidden">{label}: </span>Create
      </button>
    </form>
  )
}
