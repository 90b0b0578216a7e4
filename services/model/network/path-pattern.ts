/**
 * A pattern of paths: `*` matches any characters of one segment, and a segment `**` any number of segments. `/v1/**` matches `/v1` and everything below it.
 * Both functions take time in proportion to the product of the two lengths at most, whatever a tenant writes.
 */
export const PATH_PATTERN = /^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/

/**
 * Forms that a server may read as another path: dot segments, encoded or not, encoded slashes and backslashes, control characters. A rule with paths
 * refuses them, because the check and the server would see different paths.
 */
const AMBIGUOUS = /[\\\0-\x20\x7f-\uffff]|%(?:25)*(?:2f|5c|2e|[01][0-9a-f]|7f)|(?:^|\/)\.{1,2}(?:;[^/]*)?(?:\/|$)|\/\/|%(?![0-9a-f]{2})/i

export const isAmbiguousPath = (path: string): boolean => !path.startsWith('/') || AMBIGUOUS.test(path)

/** `path` is without its query. */
export function matchesPath(pattern: string, path: string): boolean {
  return matchesList(pattern.split('/'), path.split('/'), { isAny: (segment) => segment === '**', equal: matchesSegment })
}

const matchesSegment = (pattern: string, segment: string): boolean =>
  matchesList(pattern.split(''), segment.split(''), { isAny: (character) => character === '*', equal: (one, other) => one === other })

interface Wildcards {
  readonly isAny: (one: string) => boolean
  readonly equal: (pattern: string, value: string) => boolean
}

/** After a mismatch only the latest wildcard takes one value more: an earlier one could not match more than this one does. */
function matchesList(patterns: readonly string[], values: readonly string[], { isAny, equal }: Wildcards): boolean {
  let at = 0
  let position = 0
  let wildcard = -1
  let taken = 0
  while (position < values.length) {
    const pattern = patterns[at]
    if (pattern !== undefined && isAny(pattern)) {
      wildcard = at++
      taken = position
    } else if (pattern !== undefined && equal(pattern, values[position] ?? '')) {
      at++
      position++
    } else if (wildcard >= 0) {
      at = wildcard + 1
      position = ++taken
    } else return false
  }
  return patterns.slice(at).every(isAny)
}
