import type { RouteOptions } from '../../kernel/index.ts'

interface BodyRoute {
  readonly method: string
  readonly options: RouteOptions
}

/** Methods whose requests have a body. */
export const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Whether requests of a route are meant to have a body. */
export const takesBody = ({ method, options }: BodyRoute): boolean => withBody.has(method) || options.body !== undefined

/** For the API description: what a plugin that reads bodies answers to those it cannot read. */
export function bodyFailures(route: BodyRoute): { readonly [status: string]: string } {
  return takesBody(route) ? { 400: 'BadRequest', 413: 'PayloadTooLarge', 415: 'UnsupportedMediaType' } : {}
}
