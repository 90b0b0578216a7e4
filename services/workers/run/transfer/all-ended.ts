/** As Promise.all, but rejects only when all have settled, so that a step has no concurrent work when it releases its lease. */
export async function allEnded<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
