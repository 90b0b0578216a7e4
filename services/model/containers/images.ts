/** The images of this project, smallest first; docs/images.md compares them. Other names belong to images of the operator. */
export const BUILT_IN_IMAGES = ['slim', 'standard', 'full'] as const
export type BuiltInImage = (typeof BUILT_IN_IMAGES)[number]

export const IMAGE_NAME = /^[a-z][a-z0-9_-]{0,39}$/

export const LANGUAGES = ['python', 'bash', 'javascript', 'typescript', 'r'] as const
export type Language = (typeof LANGUAGES)[number]

const WITH_NODE: readonly Language[] = ['python', 'bash', 'javascript', 'typescript']
const LANGUAGES_OF: Readonly<Record<BuiltInImage, readonly Language[]>> = {
  slim: ['python', 'bash'],
  standard: WITH_NODE,
  full: [...WITH_NODE, 'r'],
}

const isBuiltIn = (name: string): name is BuiltInImage => (BUILT_IN_IMAGES as readonly string[]).includes(name)

/** As sentences name them. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  python: 'Python',
  bash: 'Bash',
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  r: 'R',
}

/** The languages of an image. An operator's image is made from `standard`. */
export const languagesOf = (imageName: string): readonly Language[] => LANGUAGES_OF[isBuiltIn(imageName) ? imageName : 'standard']

/** The images that containers may use on this server. It can change at run time: a larger image becomes the default when it is built. */
export class ImageCatalogue {
  readonly #references: Map<string, string>
  #default: string

  /** `references`: by name, the reference that the driver starts, such as a tag. The default is one of them. */
  constructor(references: Readonly<Record<string, string>>, defaultName: string) {
    if (!Object.hasOwn(references, defaultName))
      throw new Error(`There is no image ${defaultName} among ${Object.keys(references).join(', ')}.`)
    this.#references = new Map(Object.entries(references))
    this.#default = defaultName
  }

  /** The name of the image of a container that names none. */
  get defaultName(): string {
    return this.#default
  }

  get names(): readonly string[] {
    return [...this.#references.keys()]
  }

  has(name: string): boolean {
    return this.#references.has(name)
  }

  /** The image for a container that names `wanted`: the first of the names that this server offers, else the default. */
  resolve(...wanted: readonly (string | null | undefined)[]): { readonly name: string; readonly reference: string } {
    const name = wanted.find((one): one is string => typeof one === 'string' && this.has(one)) ?? this.#default
    return { name, reference: this.#references.get(name) ?? '' }
  }

  /** Whether this server starts sandboxes of this reference; others belong to another version and are drained. */
  isCurrent(reference: string): boolean {
    return [...this.#references.values()].includes(reference)
  }

  add(name: string, reference: string, options: { readonly asDefault: boolean }): void {
    this.#references.set(name, reference)
    if (options.asDefault) this.#default = name
  }
}

/** A catalogue of one image, for processes and tests that need no choice. */
export const singleImage = (reference: string, name: string = 'slim'): ImageCatalogue => new ImageCatalogue({ [name]: reference }, name)
