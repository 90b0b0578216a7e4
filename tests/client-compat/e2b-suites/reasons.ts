import type { TestResult } from './run-suite.ts'

/** Why a test does not pass, by its file and title. */
interface Reason {
  readonly test: RegExp
  readonly why: string
}

/** Tests of what this server does not offer. They are not servable. */
const NOT_OFFERED: readonly Reason[] = [
  { test: /injected header is reflected|firewall_transform/, why: 'templates with a program that starts with the sandbox' },
  { test: /mcp.gateway/i, why: 'MCP gateway' },
  {
    test: /snapshot.*(?:long.running|running process|http.server)|auto_?resume.*http|pause and resume.*process|memory/i,
    why: 'except on gVisor, processes do not live through a pause',
  },
  { test: /java(?:\b|_kernel)|\(java\)/i, why: 'Java' },
  { test: /systemd/i, why: "kills E2B's own services by their names" },
  { test: /(?:env_vars\/|_)(?:test_)?r\.|cwd[ _]r\b|r_kernel|\(R\)/, why: 'R is in the image full only' },
  { test: /filesystem.only|keep_?memory/i, why: 'except on gVisor, a restored sandbox has the same kernel: `boot_id` is of the machine' },
  { test: /inspect.*exec_as_user/, why: 'users: everything runs as one' },
  { test: /test_secured/, why: 'signed URLs need host names (`CELLBLOCK_E2B_DOMAIN`)' },
]

/** Known differences. They count as failures. */
const DIFFERENT: readonly Reason[] = [
  {
    test: /too short timeout iterating/,
    why: 'the start of a cold sandbox counts towards the 2 s of its first command, which a busy machine exceeds',
  },
  { test: /pty.?connect/i, why: 'the test waits 300 ms for the first output of a terminal, which a busy machine exceeds' },
  { test: /valid signing as root user/, why: 'users: everything runs as one, so `root` has no separate home folder' },
  {
    test: /traffic access token|works without token|public_traffic|mask_?request_?host/i,
    why: 'the test waits 2 to 3 s for a program in a new sandbox, which a busy machine exceeds',
  },
  { test: /image.on.save/i, why: '`PIL.Image.save` shows no picture' },
  { test: /test_sandbox_killed_during_run/, why: 'the client tells a killed sandbox from a lost connection over HTTP/2 only' },
  { test: /write(?:\.test\.ts \| |.*_)(?:write )?multiple.files/i, why: 'no folder can be made at the root (`/0`)' },
  {
    test: /inspect.*(?:not_allowed|without_permissions|permission_error)/,
    why: "the provider makes no `PermissionError` of an answer; it fails with E2B's own sandboxes too",
  },
]

const reasonIn = (reasons: readonly Reason[], { file, title }: TestResult): string | null =>
  reasons.find(({ test }) => test.test(`${file} | ${title}`))?.why ?? null

/** Null for a test that this server has to pass. */
export const whyNotOffered = (test: TestResult): string | null => reasonIn(NOT_OFFERED, test)

/** The known reason of a failure, or what the test said. */
export const whyFailed = (test: TestResult): string => reasonIn(DIFFERENT, test) ?? test.message
