import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of shell scripts to use as PATH; each call of one appends `name arguments` to the folder's `calls`. */
export class FakePrograms {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** `body` runs under /bin/sh with `$here` as the folder; programs may make further programs. */
  async add(name: string, body: string): Promise<void> {
    await mkdir(this.folder, { recursive: true })
    const path = join(this.folder, name)
    await writeFile(path, `#!/bin/sh\nhere='${this.folder}'\necho "${name} $*" >> "$here/calls"\n${body}\n`)
    await chmod(path, 0o755)
  }

  async calls(): Promise<string[]> {
    return (await readFile(join(this.folder, 'calls'), 'utf8')).trim().split('\n')
  }
}
