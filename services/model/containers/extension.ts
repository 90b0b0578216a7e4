export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** What one wire keeps with a container. Only that wire knows its fields and checks them when it reads them. */
export type Extension = { readonly [name: string]: Json } & {
  /** What access is derived from. It leaves no export of the tenant's data. */
  readonly secrets?: Json
}
