/**
 * The policy of the page itself: scripts, styles and requests stay on its own origin, and markup reaches the document only through the
 * sanitizer's Trusted Types policy. Style attributes are allowed, because formulas and coloured text need them; style elements are not.
 */
export function pagePolicy(objectOrigins: readonly string[]): string {
  const own = ["'self'", ...objectOrigins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    `img-src ${own} data: blob:`,
    "font-src 'self'",
    `connect-src ${own}`,
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ].join('; ')
}

/**
 * The policy of a frame that shows untrusted HTML or a chart. `sandbox` gives the document a separate origin, so it reads nothing of the page;
 * it loads its one script, and nothing else from anywhere. Charts compile expressions (`unsafe-eval`), which stays inside the frame.
 */
export const FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self' 'unsafe-eval'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')
