/** A name, or members of it: `order.number`. */
const path = /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*|\.\d+)*$/u

/** These names lead from the data to the program. */
const hidden = new Set(['__proto__', 'constructor', 'prototype'])

const shown = (tag: string) => JSON.stringify(tag.length > 60 ? `${tag.slice(0, 60)}…` : tag)

/** The error for a tag that is code of the engine. */
export function refusal(tag: string): Error {
  return new Error(
    `${shown(tag)} is not a name of the data. Subjects and texts run no code: put the result of the code into the data`,
  )
}

/**
 * Returns the value for a name in a subject or a text.
 *
 * Subjects and texts are written in code, where it is easy to write `Hello ${name}`: a user's input for the name would run as a program.
 * So they are not programs: a tag must be a name, and any other content is refused.
 *
 * @param tag The tag as it is in the template.
 * @param name The content of the tag.
 * @throws for a tag that is not a name, or a name that the data does not have.
 */
export function valueAt(data: object, tag: string, name: string): string {
  const names = name.trim().split('.')
  if (!path.test(name.trim()) || names.some((one) => hidden.has(one))) throw refusal(tag)
  const [first, ...members] = names
  if (!Object.hasOwn(data, first!)) throw new Error(`the data has no "${first}", which ${shown(tag)} needs`)
  let value: unknown = (data as Record<string, unknown>)[first!]
  for (const member of members) value = (value as Record<string, unknown> | null | undefined)?.[member]
  if (typeof value === 'function') throw refusal(tag)
  return value === undefined || value === null ? '' : String(value)
}
