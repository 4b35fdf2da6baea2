/** Whether a component may be called so: references to it are written without escapes. */
export const isComponentName = (name: string) => /^[\w.-]+$/.test(name)

/** What an address in a document is made of. */
export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s<>"|\\^`]*$/.test(value)
