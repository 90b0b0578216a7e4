import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Replaces `target` with the files of a commit, or those below `path`, whatever the clone in `folder` has checked out. Throws if the clone lacks it. */
export async function unpackCommit(wanted: {
  readonly folder: string
  readonly owner: string
  readonly repository: string
  readonly commit: string
  readonly path?: string
  readonly target: string
}): Promise<void> {
  const { folder, owner, repository, commit, path, target } = wanted
  const clone = join(folder, repository)
  await run('git', ['-C', clone, 'cat-file', '-e', `${commit}^{commit}`]).catch((cause: unknown) => {
    throw new Error(`${clone} is no clone of ${owner}/${repository} with the commit ${commit}. Clone it there, or fetch the commit.`, {
      cause,
    })
  })
  await rm(target, { recursive: true, force: true })
  await mkdir(target, { recursive: true })
  const archive = `${target}.tar`
  await run('git', ['-C', clone, 'archive', '--format', 'tar', '--output', archive, commit, ...(path === undefined ? [] : [path])])
  await run('tar', ['-xf', archive, '-C', target])
  await rm(archive)
}
