import { methods } from '../../kernel/routing/pattern.ts'
import { CommandFailure } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { type ApiDocument, follow, type Operation, type Parameter, type PathItem } from '../sdk/document.ts'
import { textOf } from '../text-file.ts'
import type { Described } from './protocol.ts'

/** A request that is sent again and again. */
export interface Planned {
  readonly method: string
  /** The path with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly isSocket?: boolean
}

const safe: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'QUERY']
export const isSafe = ({ method }: Planned): boolean => safe.includes(method)

/** The part of a HAR file that is read. */
interface Archive {
  readonly log?: { readonly entries?: readonly { readonly request: Recorded }[] }
}

interface Recorded {
  readonly method?: string
  readonly url: string
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  readonly postData?: { readonly text?: string }
}

/** Headers that belong to the connection on which a request was recorded. */
const ofConnection =
  /^(:.*|host|connection|content-length|transfer-encoding|keep-alive|te|upgrade|expect|sec-websocket-.*)$/i

/**
 * Reads recorded requests: a HAR file, or a list with a line such as `GET /books` for each.
 *
 * @throws CommandFailure for a file that is neither, with the line.
 */
export function readRequests(file: string): Planned[] {
  const text = textOf(typedPath(file))
  if (text === undefined) throw new CommandFailure(`--requests: ${file} does not exist`)
  if (text.trimStart().startsWith('{')) return fromArchive(file, text)
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) return []
    const [, method = '', path = '', body] = /^(\S+)\s+(\/\S*)(?:\s+(.+))?$/.exec(line) ?? []
    if (!methods.some((one) => one === method))
      throw new CommandFailure(`--requests: line ${index + 1} of ${file} is not a request such as GET /books: ${line}`)
    return { method, path, body, headers: typeOf(body) }
  })
}

const typeOf = (body: string | undefined): Planned['headers'] =>
  body === undefined ? {} : { 'content-type': 'application/json' }

function fromArchive(file: string, text: string): Planned[] {
  try {
    return (JSON.parse(text) as Archive).log!.entries!.map(({ request }) => {
      const { method = 'GET', headers = [], postData } = request
      const { pathname, search, protocol } = new URL(request.url)
      const kept = headers.filter(({ name }) => !ofConnection.test(name)).map(({ name, value }) => [name, value])
      const isSocket = protocol.startsWith('ws') || headers.some(({ name }) => /^sec-websocket-key$/i.test(name))
      return { method, path: pathname + search, headers: Object.fromEntries(kept), body: postData?.text, isSocket }
    })
  } catch (error) {
    throw new CommandFailure(`--requests: ${file} is not a HAR file: ${(error as Error).message}`, error)
  }
}

/** The requests that an application describes: its websockets, and GET without parameters or with examples of them in OpenAPI. */
export function requestsOf({ routes, document = {} }: Described): Planned[] {
  const described = Object.entries(document.paths ?? {}).flatMap(
    ([path, item]) => exampleOf(document, path, item) ?? [],
  )
  const known = described.map(({ path }) => path.split('?')[0])
  const bare = routes.flatMap(({ method, path, isSocket }) => {
    const shortest = path.replace(/\/:\w+\?/g, '') || '/'
    const isSent = method === 'GET' && !/[:*]/.test(shortest) && (isSocket || !known.includes(shortest))
    return isSent ? { method, path: shortest, headers: {}, isSocket } : []
  })
  return [...described, ...bare]
}

/** `undefined` for an operation that requires something without an example. */
function exampleOf(document: ApiDocument, template: string, item: PathItem): Planned | undefined {
  const operation = item.get as Operation | undefined
  if (operation === undefined) return undefined
  let path = template
  const query = new URLSearchParams()
  for (const given of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) {
    const { name, in: place, required, example, schema } = follow(document, given) as Exemplified
    const found = follow(document, schema)
    const value = example ?? found?.example ?? found?.examples?.[0] ?? found?.default ?? found?.enum?.[0]
    if (value === undefined && required) return undefined
    if (value === undefined) continue
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(value)))
    else if (place === 'query') query.append(name, String(value))
  }
  return { method: 'GET', path: query.size > 0 ? `${path}?${query}` : path, headers: {} }
}

interface Exemplified extends Omit<Parameter, 'schema'> {
  readonly example?: unknown
  readonly schema?: { readonly [name in 'example' | 'default']?: unknown } & {
    readonly [name in 'examples' | 'enum']?: unknown[]
  }
}
