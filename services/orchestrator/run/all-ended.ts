/** As Promise.all, but a failure is told only when all have ended: a step that gives its lease back has nothing under way. */
export async function allEnded<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
