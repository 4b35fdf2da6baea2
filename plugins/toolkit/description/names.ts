/** Whether a component may be called so: references to it are written without escapes. */
export const isComponentName = (name: string) => /^[\w.-]+$/.test(name)

/** What an address in a document is made of. */
export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s<>"|\\^`]*$/.test(value)

/** A name as the address of a channel: braces of its own would be a parameter. */
export const addressOfName = (name: string) => name.replaceAll('{', '%7B').replaceAll('}', '%7D')
