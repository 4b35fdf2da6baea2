/** Whether a component may have this name: references to it are written without escapes. */
export const isComponentName = (name: string) => /^[\w.-]+$/.test(name)

/** Whether a value may be an address in a document. */
export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s<>"|\\^`]*$/.test(value)

/** A name as the address of a channel: braces in it would be read as a parameter. */
export const addressOfName = (name: string) => name.replaceAll('{', '%7B').replaceAll('}', '%7D')
