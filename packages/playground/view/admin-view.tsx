import { useEffect, useState } from 'preact/hooks'
import {
  adminFailure,
  choosePlan,
  createTenant,
  deleteTenant,
  loadMetrics,
  loadTenants,
  metrics,
  openServer,
  openTenant,
  plans,
  tenantId,
  tenants,
  usage,
  type Tenant,
} from '../state/admin.ts'
import { isAdminOnly, showsAdmin } from '../session.ts'
import type { Metrics } from '../state/metrics.ts'
import { signOut } from '../state/sign-in.ts'
import { AuditView } from './audit-view.tsx'
import { Icon, Logo } from '../render/icons.tsx'
import { KeysView } from './keys-view.tsx'
import { LimitsEditor } from './limits-editor.tsx'
import { TenantNetwork } from './tenant-network.tsx'
import { TenantRuns } from './tenant-runs.tsx'
import { UsageChart } from './usage-chart.tsx'
import { DocumentLinks } from './top-bar.tsx'

const REFRESH_MS = 10_000

/** What a key with the scope `admin` sees: the server, its tenants, and what each of them uses. */
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
      <AdminNavigation />
      <main id="main">
        <header class="bar">
          <div class="bar-title">
            <h1>{tenant?.name ?? 'Server'}</h1>
            {tenant !== undefined && <span class="container-line">{tenant.id}</span>}
          </div>
        </header>
        <div class="admin-body">
          {adminFailure.value !== null && (
            <p class="failure" role="alert">
              {adminFailure.value}
            </p>
          )}
          {tenant === undefined ? <Service metrics={metrics.value} /> : <TenantDetail key={tenant.id} tenant={tenant} />}
        </div>
      </main>
    </div>
  )
}

function AdminNavigation() {
  return (
    <nav class="sidebar" aria-label="Tenants">
      <header class="brand">
        <Logo /> <span>Cellblock</span>
      </header>
      <NameForm label="New tenant" onSubmit={(name) => void createTenant(name)} />
      <div class="chat-list">
        <ul>
          <li class={tenantId.value === null ? 'current' : ''}>
            <button type="button" aria-current={tenantId.value === null ? 'page' : undefined} onClick={openServer}>
              Server
            </button>
          </li>
        </ul>
        <h2>Tenants</h2>
        <ul>
          {tenants.value.map(({ id, name }) => (
            <li key={id} class={id === tenantId.value ? 'current' : ''}>
              <button type="button" aria-current={id === tenantId.value ? 'page' : undefined} onClick={() => void openTenant(id)}>
                {name}
                {/* Two tenants can have one name. */}
                {tenants.value.some((other) => other.name === name && other.id !== id) && <small> {id.slice(-6)}</small>}
              </button>
            </li>
          ))}
        </ul>
      </div>
      <footer>
        {!isAdminOnly() && (
          <button type="button" class="plain" onClick={() => (showsAdmin.value = false)}>
            <Icon name="menu" /> Chats
          </button>
        )}
        <DocumentLinks />
        <button type="button" class="plain" onClick={() => void signOut()}>
          <Icon name="leave" /> Sign out
        </button>
      </footer>
    </nav>
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
    ['Jobs that failed after all retries', sum(found['dead_letters'])],
    ['Executions since the start', sum(found['executions_total'])],
    ['Answers with an error of the server since the start', sum(found['api_errors_total'])],
  ]
  return (
    <section aria-label="Server">
      <h2>All tenants together</h2>
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
  return (
    <>
      {usage.value !== null && <UsageChart usage={usage.value} />}
      <section aria-label="Plan and limits">
        <h2>Plan and limits</h2>
        <label class="plan">
          Plan
          <select value={tenant.plan ?? ''} onChange={(event) => void choosePlan(event.currentTarget.value || null)}>
            <option value="">{plans.value.length === 0 ? 'none (this server has no plans)' : 'none'}</option>
            {plans.value.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <LimitsEditor />
      </section>
      <TenantNetwork tenant={tenant} />
      <KeysView />
      <TenantRuns />
      <AuditView />
      <DeleteTenant tenant={tenant} />
    </>
  )
}

/** Deletion needs the name of the tenant, because nothing brings its data back. */
function DeleteTenant({ tenant }: { readonly tenant: Tenant }) {
  const [typed, setTyped] = useState('')
  return (
    <section aria-label="Delete the tenant">
      <h2>Delete the tenant</h2>
      <form
        class="name-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (typed === tenant.name) void deleteTenant(tenant.id)
        }}
      >
        <input
          aria-label={`Type ${tenant.name} to delete the tenant`}
          placeholder={`Type ${tenant.name} to delete it with all its data`}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="plain danger" disabled={typed !== tenant.name}>
          <Icon name="trash" /> Delete permanently
        </button>
      </form>
    </section>
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
