/** 95 is `1 min 35 s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** An expectation of an amount of time, as a rounded figure: people read it as a promise otherwise. */
export function aboutText(seconds: number): string {
  if (seconds < 20) return 'some seconds'
  return seconds < 100 ? `about ${Math.round(seconds / 10) * 10} s` : `about ${Math.round(seconds / 60)} min`
}

/** How long is left of work that usually takes `expectedSeconds`. */
export function leftText(expectedSeconds: number, elapsedSeconds: number): string {
  const left = expectedSeconds - elapsedSeconds
  return left > 0 ? `${aboutText(left)} left` : 'longer than expected'
}
