import { methods } from '../../kernel/routing/pattern.ts'
import { CommandFailure } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { textOf } from '../text-file.ts'
import type { State } from './protocol.ts'

/** A request that is sent again and again. */
export interface Planned {
  readonly method: string
  /** The path with the query, encoded. */
  readonly path: string
  readonly body?: string | Buffer | undefined
  /** Without them, a body is JSON. */
  readonly headers?: Readonly<Record<string, string[]>>
  readonly isSocket?: boolean
}

/** Reads a list with a line such as `GET /books` for each request. @throws CommandFailure for another line, which it names. */
export function readRequests(file: string): Planned[] {
  const text = textOf(typedPath(file))
  if (text === undefined) throw new CommandFailure(`--requests: ${file} does not exist`)
  const requests = text.split('\n').flatMap((raw, index): Planned | [] => {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) return []
    const [, method = '', path = '', body] = /^(\S+)\s+(\/\S*)(?:\s+(.+))?$/.exec(line) ?? []
    if (method === 'WS') return { method: 'GET', path: encoded(path), isSocket: true }
    if (methods.some((one) => one === method)) return { method, path: encoded(path), body }
    throw new CommandFailure(`--requests: line ${index + 1} of ${file} is not a request such as GET /books: ${line}`)
  })
  if (requests.length === 0) throw new CommandFailure(`--requests: ${file} has no request such as GET /books`)
  return requests
}

/** GET for each route without required parameters, and a websocket for each of its kind. */
export function requestsOf(routes: State['routes']): Planned[] {
  return routes.flatMap(({ method, path, isSocket }) => {
    const shortest = path.replace(/\/:\w+\?/g, '') || '/'
    return method === 'GET' && !/[:*]/.test(shortest) ? { method, path: encoded(shortest), isSocket } : []
  })
}

function encoded(path: string): string {
  const { pathname, search } = new URL(`http://127.0.0.1${path}`)
  return pathname + search
}
