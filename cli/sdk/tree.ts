import { safely } from '../../plugins/shared/values/safely.ts'
import { type ApiDocument, type Operation, type Parameter, sorted } from './document.ts'
import type { SocketRoute } from './messages.ts'
import { assign, camel, capitalized } from './names.ts'
import { type Described, parametersOf } from './operation.ts'

export const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'query', 'options'] as const
export type MethodName = (typeof methods)[number]

/** One step of a path. */
export type Step =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'param' | 'rest'; readonly name: string }

/** A place in the tree of paths. */
export interface Node {
  readonly operations: Map<MethodName, Described>
  /** The websocket that opens here. */
  socket: SocketRoute | undefined
  /** The places after it, by a key that distinguishes text and parameters. */
  readonly children: Map<string, { readonly step: Step; readonly node: Node }>
  /** The descriptions, in the operations below, of the parameter that leads here. */
  readonly parameters: Parameter[]
}

const emptyNode = (): Node => ({ operations: new Map(), socket: undefined, children: new Map(), parameters: [] })

/** Every path of a document as one tree, with the websockets. */
export function treeOf(document: ApiDocument, sockets: readonly SocketRoute[] = []): Node {
  const root = emptyNode()
  for (const [path, item] of sorted(document.paths)) {
    if (!path.startsWith('/') || hasPart(path)) continue
    const { way, node } = placeOf(root, path)
    for (const method of methods) {
      // OpenAPI 3.2 has QUERY, 3.1 allows it as an extension.
      const operation = item[method] ?? (method === 'query' ? item['x-query'] : undefined)
      if (typeof operation !== 'object' || operation === null) continue
      node.operations.set(method, { method, item, operation: operation as Operation })
      const declared = parametersOf(document, item, operation as Operation).filter((one) => one.in === 'path')
      for (const { step, node: below } of way) {
        const own = step.kind === 'static' ? undefined : declared.find((one) => one.name === step.name)
        if (own !== undefined) below.parameters.push(own)
      }
    }
  }
  for (const socket of sockets) placeOf(root, socket.path).node.socket = socket
  return root
}

/** Whether a parameter is only a part of its segment, as in `/files/{id}.json`. The client encodes whole segments. */
export const hasPart = (path: string): boolean => /[^/]\{[^{}/]+\}|\{[^{}/]+\}[^/]/.test(path)

/** The place that a path leads to, and the steps there. */
function placeOf(root: Node, path: string) {
  const segments = path === '/' ? [] : path.slice(1).split('/')
  const way: { step: Step; node: Node }[] = []
  let node = root
  segments.forEach((segment, at) => {
    const step = stepOf(segment, at === segments.length - 1)
    const key = step.kind === 'static' ? `/${step.text}` : `{${step.name}}`
    const next = node.children.get(key) ?? { step, node: emptyNode() }
    node.children.set(key, next)
    way.push(next)
    node = next.node
  })
  return { way, node }
}

/** Reads a segment. `{wildcard}` at the end is the rest of the path, including slashes: no other segment can have that name. */
function stepOf(segment: string, isLast: boolean): Step {
  const name = /^\{([^{}]+)\}$/.exec(segment)?.[1]
  if (name === undefined) return { kind: 'static', text: segment }
  return { kind: isLast && /^(wildcard\d*|\*)$/.test(name) ? 'rest' : 'param', name }
}

/**
 * The names of the members of a place. The methods keep their names; inherited members of objects, `then` (which makes
 * an object awaitable), and names that several members would have are avoided.
 */
export function memberNames(node: Node): Map<string, string> {
  const own = node.socket === undefined ? [] : ['socket']
  const taken = new Set<string>([...methods, ...own, 'then', ...Object.getOwnPropertyNames(Object.prototype)])
  const nameOf = (key: string) => {
    const { step } = node.children.get(key)!
    if (step.kind === 'static') return camel(decoded(step.text))
    return step.kind === 'rest' ? 'rest' : `by${capitalized(camel(step.name))}`
  }
  const isOwn = (key: string) => {
    const { step } = node.children.get(key)!
    return step.kind === 'static' && step.text === nameOf(key)
  }
  return assign(node.children.keys(), nameOf, taken, isOwn)
}

/** Decodes a segment: paths may be written with or without escapes, and are sent with them in both cases. */
export const decoded = (segment: string): string => safely(() => decodeURIComponent(segment), segment)
