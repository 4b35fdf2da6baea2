import { array, enumeration, integer, number, object, optional, type Shape, string } from './schemas.ts'

/** The mistakes in a route, one at a time. */
export const mistakes = ['body member', 'answered value', 'returned value', 'status', 'option'] as const
export type Mistake = (typeof mistakes)[number]

/** One route of the application, independent of frameworks. */
export interface RouteSpec {
  readonly index: number
  readonly method: 'get' | 'post'
  /** The last part of its name, and of its path before the parameter `id`. */
  readonly name: string
  /** The name of its file, and the first part of its path. */
  readonly file: string
  readonly query: Shape | undefined
  readonly body: Shape | undefined
  readonly answer: Shape
  readonly missing: Shape | undefined
  readonly mistake?: Mistake
}

export const fileCount = 10
const routesInFile = 30

// No two routes have the same schemas: the compiler computes equal types only once.
function routeSpec(index: number): RouteSpec {
  const post = index % 2 === 1
  const line = { sku: string, price: number }
  const kind = enumeration('new', 'used', `kind${index}`)
  const order = enumeration('asc', 'desc', `by${index}`)
  return {
    index,
    method: post ? 'post' : 'get',
    name: `items${index}`,
    file: `part${Math.floor(index / routesInFile)}`,
    query: post ? undefined : object({ search: optional(string), order, page: optional(integer) }),
    body: post
      ? object({
          [`title${index}`]: string,
          amount: integer,
          kind,
          note: optional(string),
          address: object({ street: string, city: string, [`zip${index}`]: string }),
          lines: array(object({ ...line, count: integer })),
        })
      : undefined,
    answer: post
      ? object({
          id: string,
          [`title${index}`]: string,
          amount: integer,
          kind,
          city: string,
          lines: array(object(line)),
        })
      : object({ id: string, order, page: integer, [`rows${index}`]: array(object(line)), note: optional(string) }),
    missing: index % 3 === 0 ? object({ code: enumeration('missing'), id: string }) : undefined,
  }
}

export const routes = Array.from({ length: fileCount * routesInFile }, (_, index) => routeSpec(index))
export const fileNames = Array.from({ length: fileCount }, (_, index) => `part${index}`)
export const routesOf = (file: string) => routes.filter((route) => route.file === file)

/** A POST that can also answer 404, with one mistake in it. */
export function wrongRoute(mistake: Mistake): RouteSpec {
  return { ...routeSpec(3), file: mistake.replaceAll(' ', '_'), mistake }
}

/** The endpoints that the client calls: a GET and a POST of each file. */
export const calledRoutes = fileNames.flatMap((file) => routesOf(file).slice(0, 2))

/** How a framework's handler reads the parts of a request. */
export interface Access {
  readonly id: string
  readonly body: string
  readonly query: string
}

/** Writes the object with which a handler answers, made from the parts of the request. */
export function answerOf({ index, method, mistake }: RouteSpec, { id, body, query }: Access): string {
  if (method === 'get') {
    return `{ id: ${id}, order: ${query}.order, page: ${query}.page ?? 1, rows${index}: [{ sku: ${query}.search ?? 'none', price: ${index} }] }`
  }
  const amount = mistake === 'answered value' || mistake === 'returned value' ? `'many'` : `${body}.amount`
  const city = mistake === 'body member' ? `${body}.adress.city` : `${body}.address.city`
  return `{ id: ${id}, title${index}: ${body}.title${index}, amount: ${amount}, kind: ${body}.kind, city: ${city}, lines: ${body}.lines.map(({ sku, price }) => ({ sku, price })) }`
}

/** Passes this object to a function that answers with a 200, or, for the mistake `returned value`, returns it as it is. */
export const answerBy = (answer: (value: string) => string, spec: RouteSpec, access: Access) =>
  spec.mistake === 'returned value' ? answerOf(spec, access) : answer(answerOf(spec, access))

export const missingOf = (id: string) => `{ code: 'missing' as const, id: ${id} }`

/** The data that a client sends to a POST, and to a GET as its query. */
export const bodySent = ({ index }: RouteSpec) =>
  `{ title${index}: 'a', amount: 1, kind: 'used' as const, address: { street: 'a', city: 'b', zip${index}: 'c' }, lines: [{ sku: 'a', price: 1, count: 2 }] }`
export const querySent = (page = '1') => `{ order: 'asc' as const, page: ${page} }`

/** The member of a response that the client reads, and its type. */
export const readOf = ({ index, method }: RouteSpec) =>
  method === 'get'
    ? { member: `rows${index}`, type: '{ sku: string; price: number }[]' }
    : { member: `title${index}`, type: 'string' }
