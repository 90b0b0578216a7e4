import { describe, expect, inject, it } from 'vitest'
import { hostCertificateAuthorities } from '../../scripts/setup/certificate-authorities.ts'
import { readSetupConfig } from '../../scripts/setup/config.ts'
import { runCommand } from '../../scripts/setup/command.ts'
import { inImage, pythonInImage } from '../support/in-image.ts'

const image = inject('sandboxImage')
const outputOf = async (script: string): Promise<string> => (await inImage(image, script)).stdout.trim()

describe('the sandbox image', () => {
  it('imports the whole data stack in an isolated sandbox without output', async () => {
    const modules =
      'numpy pandas scipy sklearn matplotlib seaborn PIL openpyxl plotly sympy networkx ipykernel zmq h11 nacl.signing cloudpickle dill'
    const program = `import os, shutil\nshutil.copytree('/opt/cellblock/mplcache', '/tmp/mpl'); os.environ['MPLCONFIGDIR'] = '/tmp/mpl'\nimport ${modules.split(' ').join(', ')}\nimport matplotlib.pyplot, scipy.stats, plotly.express, ipykernel.ipkernel\nprint('all')`
    expect(await pythonInImage(image, program)).toMatchObject({ code: 0, output: 'all\n' })
  })

  it('writes tables as styled HTML, LaTeX and Markdown', async () => {
    const program = `import pandas\ntable = pandas.DataFrame({'a': [1]})\nprint('</td>' in table.style.to_html(), 'tabular' in table.to_latex(), '|' in table.to_markdown())`
    expect(await pythonInImage(image, program)).toMatchObject({ code: 0, stdout: 'True True True\n' })
  })

  it('has no setuid file, package manager, compiler or perl, and a pip that installs nothing', async () => {
    expect(await outputOf('find / -xdev -perm /6000 2>/dev/null')).toBe('')
    expect(await outputOf('pip install six 2>&1')).toContain('no network')
    expect(await outputOf('for p in perl gcc cc mount passwd; do command -v $p; done')).toBe('')
    // These names only print why nothing can be installed.
    const links = 'for p in apt-get npm; do readlink -f $(command -v $p); done | sort -u'
    expect(await outputOf(links)).toBe('/usr/local/lib/cellblock/no-network')
  })

  it('has the tools that notebooks call through the shell', async () => {
    expect(
      await outputOf(
        'ls -d / && python --version | cut -c1-11 && echo a,b | cut -d, -f2 && grep -c root /etc/passwd && seq 3 | tail -1 | sed s/3/three/',
      ),
    ).toBe('/\nPython 3.13\nb\n1\nthree')
  })

  it('lets the worker write only to /mnt/data and temporary folders', async () => {
    expect(await outputOf('id -un; echo ~')).toBe('worker\n/home/worker')
    const writable = await outputOf('find / -xdev -writable -not -type l -not -path "/proc/*" -not -path "/dev/*" 2>/dev/null | sort')
    expect(writable.split('\n').filter((path) => !/^\/(mnt\/data|home\/worker|run\/lock|tmp|var\/tmp|dev)$/.test(path))).toEqual([])
  })

  it('declares /mnt/data as a volume of the worker, so that a mounted disk gets the same owner', async () => {
    const { stdout } = await runCommand('docker', ['image', 'inspect', '--format', '{{json .Config.Volumes}}', image])
    expect(JSON.parse(stdout)).toEqual({ '/mnt/data': {} })
    const owner = ['run', '--rm', '--entrypoint', 'stat', image, '--format', '%u:%g %a', '/mnt/data']
    expect((await runCommand('docker', owner)).stdout.trim()).toBe('10001:10001 770')
  })

  it('has compiled bytecode for what it imports, because its root is read-only', async () => {
    const count = (name: string) => `$(find /usr/local/lib/python3.13/dist-packages/pandas -name '${name}' | wc -l)`
    const [sources, compiled] = (await outputOf(`echo ${count('*.py')} ${count('*.pyc')}`)).split(' ').map(Number)
    expect(compiled).toBe(sources)
  })

  it('contains neither the certificate authorities nor the name of the build machine', async () => {
    expect(await outputOf('find / -xdev -type f \\( -name "*.crt" -o -name host.crt \\) 2>/dev/null')).toBe('')
    const history = await runCommand('docker', ['history', '--no-trunc', '--format', '{{.CreatedBy}}', image])
    const settings = await runCommand('docker', ['image', 'inspect', '--format', '{{json .Config}}', image])
    const authority = hostCertificateAuthorities(readSetupConfig().caFile).split('\n')[1]
    if (authority !== undefined)
      expect(await outputOf(`grep -rlF '${authority}' /etc /opt /usr/share /usr/lib/ssl /usr/local/share 2>/dev/null`)).toBe('')
    expect(`${history.stdout}${settings.stdout}`).not.toMatch(/proxy|index_url|\.crt/i)
  })

  it('starts the supervisor and sets no health check', async () => {
    const { stdout } = await runCommand('docker', ['image', 'inspect', '--format', '{{json .Config}}', image])
    expect(JSON.parse(stdout)).toMatchObject({
      Entrypoint: ['/usr/bin/python3', '-OO', '-X', 'pycache_prefix=/opt/cellblock/bytecode', '-m', 'cellblock_supervisor'],
      WorkingDir: '/opt/cellblock',
    })
    expect(JSON.parse(stdout)).not.toHaveProperty('Healthcheck')
  })
})
