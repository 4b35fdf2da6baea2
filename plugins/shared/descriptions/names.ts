import { freeName, plainName } from '../schema/names.ts'
import type { DescribedPath } from './paths.ts'

/** Whether a component may have this name: references to it are written without escapes. */
export const isComponentName = (name: string) => /^[\w.-]+$/.test(name)

/** Whether a value may be an address in a document. */
export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s<>"|\\^`]*$/.test(value)

/** A name as the address of a channel: braces in it would be read as a parameter. */
export const addressOfName = (name: string) => name.replaceAll('{', '%7B').replaceAll('}', '%7D')

/** Makes every name unique by adding a number to one that is taken. */
export class Names extends Set<string> {
  claim(wanted: string, suffix = ''): string {
    const isTaken = (name: string) => this.has(name)
    const name = freeName(isTaken(wanted) ? wanted + suffix : wanted, isTaken)
    this.add(name)
    return name
  }
}

export const words = (text: string) => text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
export const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** `GET /users/{id}` as `getUsersById`. */
export const operationIdOf = (method: string, path: DescribedPath): string => method.toLowerCase() + idOfPath(path)

/** `/users/{id}` as `UsersById`. */
export function idOfPath({ template }: DescribedPath): string {
  const parts = template.split('/').flatMap((segment) => {
    if (!segment.startsWith('{')) return words(segment).map(capital)
    return ['By', ...words(segment).map(capital)]
  })
  return parts.join('') || 'Root'
}

/** The same operation without its optional parameters. */
export function idWithout(id: string, { without }: DescribedPath): string {
  return without.length === 0 ? id : `${id}Without${without.flatMap(words).map(capital).join('And')}`
}

/** The first word of a path that names its subject: `users` for `/api/v1/users/:id`. */
export function tagOf({ template }: DescribedPath): string | undefined {
  const segments = template.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'))
  const tag = segments.find((segment) => !/^(api|v\d+(\.\d+)*)$/i.test(segment))
  return tag === undefined ? undefined : decodeURIComponent(tag)
}

/** The name of the schema of a part of something: `UsersBody` for `users` and `body`. */
export const hintOf = (id: string, what: string): string =>
  plainName(capital(`${id} ${what}`.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())))
