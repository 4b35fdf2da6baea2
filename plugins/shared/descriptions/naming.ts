import type { DescribedPath } from './paths.ts'

const words = (text: string) => text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
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
