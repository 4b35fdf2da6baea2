import { union } from './combine.ts'
import type { Schema } from './document.ts'
import type { SocketRoute } from './messages.ts'
import { tags, text } from './printer.ts'
import type { SchemaPrinter } from './schema.ts'

/** One websocket of the client: its types, and its arguments for the runtime. */
export interface SocketShape {
  readonly doc: readonly (string | undefined)[]
  /** The parameter list, `options?: { … }`. */
  readonly input: string
  /** The type, `Socket<Received, Sent>`. */
  readonly type: string
}

/** The types of one websocket; `indent` is that of the line on which it is printed. */
export function socketShape(route: SocketRoute, printer: SchemaPrinter, indent: string): SocketShape {
  const inner = `${indent}  `
  const members: { readonly text: string; readonly isRequired: boolean }[] = []
  const part = (name: string, schema: Schema | undefined, direction: 'query' | 'input', more = '') => {
    if (typeof schema !== 'object') return
    const isRequired = (schema.required ?? []).length > 0
    members.push({
      text: `${inner}${name}${isRequired ? '' : '?'}: ${printer.type(schema, direction, inner)}${more}`,
      isRequired,
    })
  }
  part('query', route.query, 'query')
  part('headers', route.headers, 'input', ' & HeaderValues')
  if (route.protocols.length > 0) {
    const type = `readonly (${union(route.protocols.map(text))})[]`
    members.push({ text: `${inner}protocols?: ${type}`, isRequired: false })
  }
  const isRequired = members.some((member) => member.isRequired)
  const own = members.length === 0 ? '' : `{\n${members.map((member) => member.text).join('\n')}\n${indent}} & `
  const received =
    route.received === undefined ? 'string | Uint8Array' : typesOf(route.received, 'output', printer, indent)
  const sent = route.sent === undefined ? 'string | Uint8Array | object' : typesOf(route.sent, 'input', printer, indent)
  return {
    doc: [...route.doc.filter((line) => typeof line === 'string'), ...(route.isDeprecated ? [tags.deprecated] : [])],
    input: `options${isRequired ? '' : '?'}: ${own}SocketOptions`,
    type: `Socket<${received}, ${sent}>`,
  }
}

function typesOf(
  schemas: readonly Schema[],
  direction: 'input' | 'output',
  printer: SchemaPrinter,
  indent: string,
): string {
  return union(schemas.map((schema) => printer.type(schema, direction, indent)))
}

/** The call of the runtime that opens the websocket; `path` is an expression. */
export function socketCall(route: SocketRoute, path: string): string {
  const offered = route.protocols.length === 0 ? '' : `, [${route.protocols.map(text).join(', ')}]`
  return `(options) => open(${path}, ${route.received !== undefined && route.received.length > 0}, options${offered})`
}
