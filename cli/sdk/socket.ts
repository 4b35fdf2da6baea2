import type { Schema } from './document.ts'
import type { SocketRoute } from './messages.ts'
import { inputOf } from './operation.ts'
import { tags, text, union } from './printer.ts'
import type { SchemaPrinter } from './schema.ts'

/** One websocket of the client: the lines of its doc comment, its parameter, and its type. `indent` is that of the line on which it is printed. */
export function socketShape(route: SocketRoute, printer: SchemaPrinter, indent: string) {
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
  const typesOf = (schemas: readonly Schema[] | undefined, direction: 'input' | 'output', any: string) =>
    schemas === undefined ? any : union(schemas.map((schema) => printer.type(schema, direction, indent)))
  const received = typesOf(route.received, 'output', 'string | Uint8Array')
  const sent = typesOf(route.sent, 'input', 'string | Uint8Array | object')
  return {
    doc: [...route.doc.filter((line) => typeof line === 'string'), ...(route.isDeprecated ? [tags.deprecated] : [])],
    input: inputOf('options', members, 'SocketOptions', indent),
    type: `Socket<${received}, ${sent}>`,
  }
}

/** The call of the runtime that opens the websocket; `path` is an expression. */
export function socketCall(route: SocketRoute, path: string): string {
  const offered = route.protocols.length === 0 ? '' : `, [${route.protocols.map(text).join(', ')}]`
  return `(options) => open(${path}, ${route.received !== undefined && route.received.length > 0}, options${offered})`
}
