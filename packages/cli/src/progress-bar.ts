const BAR_CHARACTERS = 20
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** 1536 is `1.5 KB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** 95 is `1 min 35 s`. */
export function secondsText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** One line: the name, a bar, bytes, and the time left at the average speed so far. */
export function progressLine(
  label: string,
  { done, total, elapsedSeconds }: { readonly done: number; readonly total: number; readonly elapsedSeconds: number },
): string {
  const share = total === 0 ? 1 : done / total
  const filled = Math.round(share * BAR_CHARACTERS)
  const left = share > 0 && share < 1 ? `, ${secondsText((elapsedSeconds * (1 - share)) / share)} left` : ''
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_CHARACTERS - filled)}`
  return `${label} ${bar} ${Math.floor(share * 100)} %  ${bytesText(done)} of ${bytesText(total)}${left}`
}
