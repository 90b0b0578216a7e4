import { contentHash, listFiles } from './content-hash.ts'

/** What the sandbox image contains: lists of Python and Debian packages in runtime-image/requirements/. docs/images.md compares them. */
export const IMAGE_VARIANTS = ['slim', 'standard', 'full'] as const
export type ImageVariant = (typeof IMAGE_VARIANTS)[number]

export interface ImageOptions {
  readonly variant: ImageVariant
  /** Adds Xvfb, a virtual display for programs that open windows. */
  readonly hasDisplay?: boolean
}

/** Relative to runtime-image/. */
const SHARED_ROOTS = [
  ...[
    'Dockerfile',
    'prune-libraries.sh',
    'remove-gpu-code.py',
    'kernel.json',
    'add-acorn.py',
    'add-data-sets.sh',
    'add-font-aliases.py',
    'merge-fonts.py',
    'add-system-fonts.py',
    'font-aliases.json',
    'compile-supervisor.py',
    'matplotlibrc',
  ],
  ...['plotly', 'preload', 'programs', 'site', 'extra', 'supervisor/cellblock_supervisor'],
]
const variantRoots = (variant: ImageVariant): string[] => [
  `requirements/${variant}.lock`,
  `requirements/${variant}.apt`,
  ...(variant === 'slim' ? [] : ['requirements/data.lock']),
]

/** Every input of every variant, relative to runtime-image/. */
export const IMAGE_ROOTS: readonly string[] = [...SHARED_ROOTS, 'requirements']

/** Sorted paths, relative to runtime-image/, of the variant's input files, without bytecode. */
export const listImageInputs = (folder: string, variant: ImageVariant): Promise<string[]> =>
  listFiles(folder, [...SHARED_ROOTS, ...variantRoots(variant)])

/** The image's tag, a hash of its inputs: the same on every machine. */
export async function imageTag(folder: string, { variant, hasDisplay = false }: ImageOptions): Promise<string> {
  const hash = await contentHash(folder, await listImageInputs(folder, variant))
  return `cellblock-sandbox:${hash.slice(0, 12)}${imageSuffix({ variant, hasDisplay })}`
}

/** The tag of this local image in a repository. It always ends in the image's name, by which a lifecycle rule selects the builds of one image. */
export function repositoryTag(local: string): string {
  const tag = local.slice(local.lastIndexOf(':') + 1)
  return tag.includes('-') ? tag : `${tag}-slim`
}

/** Distinguishes the images of one version; empty for `slim`. */
export const imageSuffix = ({ variant, hasDisplay = false }: ImageOptions): string =>
  `${variant === 'slim' ? '' : `-${variant}`}${hasDisplay ? '-xvfb' : ''}`
