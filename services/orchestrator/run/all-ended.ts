/** As Promise.all, but it rejects only when all have settled: a step that releases its lease has nothing under way. */
export async function allEnded<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
