import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder, programName } from '../package.ts'
import { fromTemplate } from '../scaffold/template.ts'
import type { ApiDocument, Parameter, Schema } from './document.ts'
import { type MessageDocument, type SocketRoute, socketsOf } from './messages.ts'
import { camel, pascal } from './names.ts'
import {
  bodyOf,
  countFailures,
  type Described,
  inputOf,
  isOnce,
  shapeOf,
  sharedFailures,
  type Typing,
} from './operation.ts'
import { comment, key, tags, text, union } from './printer.ts'
import { SchemaPrinter } from './schema.ts'
import { decoded, hasPart, memberNames, methods, type Node, treeOf } from './tree.ts'

interface GenerateOptions {
  /** The name of the client's type; the function is called `create` followed by this name. Default `Client`. */
  readonly name?: string
  /** The command that writes the file again, for its first lines. */
  readonly command?: string
  /** The description of the messages of the server, for its websockets. */
  readonly messages?: MessageDocument
}

/** The types that the runtime part declares: components have other names. */
const runtimeNames =
  'Answer AnyAnswer ApiError Call CallOptions ClientOptions DataOf FailureStatus HeaderValues Input IsSuccess OnceInput OnceOptions Redirect Refusal Result SuccessStatus Value'

/** Globals that it uses: a component with such a name would hide them. */
const globals =
  'AbortSignal ArrayBuffer Blob Date Error Exclude Extract FormData Headers Object Promise PromiseLike ReadableStream Record Request Response String SyntaxError TypeError URLSearchParams Uint8Array'

/** The same for the part for websockets. */
const socketNames =
  'AnyWebSocket Opening Reader Reconnect Socket SocketEnd SocketError SocketEvents SocketOptions WebSocketClass'
const socketGlobals = 'ArrayBuffer AsyncIterable AsyncIterator IteratorResult ReturnType Set URL'

/**
 * The part that is the same in all generated clients: how calls are sent and responses are read. Compilers refuse a function that
 * nothing calls, so those of paths are only there for the code that has them.
 */
export const runtime = (code = ' + rest('): string => {
  const unused = code.includes(' + rest(') ? [] : code.includes(' + segment(') ? ['rest'] : ['rest', 'segment']
  return `${ofContracts('calls.ts', unused)}\n${fromTemplate('sdk/client.ts')}`
}

/** A file of the client of contracts, which the build has copied to the templates, without its first comment and its imports. */
function ofContracts(file: string, unused: readonly string[] = []): string {
  const code = readFileSync(join(packageFolder(), `dist/cli/scaffold/templates/sdk/${file}.mustache`), 'utf8')
  const parts = code.replaceAll(/^export (?=(async )?function)/gm, '').split('\n\n')
  const isLeftOut = (part: string) =>
    part.startsWith('import ') || unused.some((name) => part.includes(`function ${name}(`))
  const declared = parts.slice(1).filter((part) => !isLeftOut(part))
  // There it extends the options of calls, here it merges with them.
  return declared.join('\n\n').replace(' extends AnyClientOptions', '')
}

/** Names that no type may have. */
const refused = 'Any Unknown Never Void Null Undefined'

/** Names that the type of a client must not have: with one of them, the file would not compile. */
export const reservedNames = [globals, runtimeNames, socketNames, socketGlobals].join(' ').split(' ')

/**
 * Writes the client of an API as one TypeScript file without imports.
 *
 * The same document results in the same text: members are in one order, whatever their order in the document.
 */
export function generateClient(api: ApiDocument, options: GenerateOptions = {}): string {
  const { document, routes } = socketsOf(api, options.messages)
  const sockets = routes.filter(({ path }) => !hasPart(path))
  const hasSockets = sockets.length > 0
  const name = pascal(options.name ?? 'Client')
  const known = [globals, refused, runtimeNames, ...(hasSockets ? [socketNames, socketGlobals] : [])]
  const taken = new Set([...known.join(' ').split(' '), name, `create${name}`])
  const printer = new SchemaPrinter(document, taken)
  const tree = treeOf(document, sockets)
  const shared = sharedFailures(taken)
  const typing = { document, printer, shared }
  const operations = operationsBelow(tree)
  for (const found of operations) countFailures(typing, found)
  const type = typeOf(tree, typing, '')
  const code = codeOf(tree, document, { from: '', text: '' }, '  ', 1)
  const { title, version } = document.info ?? {}
  const about = [title, version].filter((one) => typeof one === 'string').join(' ')
  const command = (options.command ?? `${programName} generate-sdk`).replaceAll(/[\r\n\u2028\u2029]/g, ' ')
  return [
    `// Written by \`${command}\`. Manual changes are lost: run the command again instead.
/* eslint-disable */
// biome-ignore-all lint: generated
// biome-ignore-all format: generated
// biome-ignore-all assist: generated
`,
    printer.declarations(),
    shared.declarations(),
    comment([about === '' ? 'The routes of the server.' : `The routes of ${about}.`], ''),
    `export interface ${name} ${type}\n`,
    `/** Creates a client of the server: \`const client = create${name}({ baseUrl: 'http://localhost:3000' })\`. */
export function create${name}(options: ClientOptions = {}): ${name} {
  ${operations.length > 0 ? 'const send = ' : ''}connect(options)
${hasSockets ? '  const open = openSockets(options)\n' : ''}  return ${code}
}
`,
    runtime(code),
    operations.some((one) => isOnce(document, one)) ? ofContracts('once.ts') : '',
    hasSockets ? fromTemplate('sdk/sockets.ts') : '',
  ]
    .map((part) => part.replace(/^\n+/, ''))
    .filter((part) => part !== '')
    .reduce((whole, part) => whole + (whole.endsWith('*/\n') ? '' : '\n') + part)
}

/** The beginning of the first line. */
const mark = `// Written by \`${programName} generate-sdk`

/** Whether a file is a generated client, and may be overwritten with a newer one. */
export const isGenerated = (file: string) => file.startsWith(mark)

/** The words after the name of the command that has written such a file; empty for any other file. */
export function wordsOf(file: string): readonly string[] {
  if (!isGenerated(file)) return []
  const command = file.slice(mark.length, file.search(/`\. |\n/))
  return [...command.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\\(')/g, '$1$2'),
  )
}

/** The calls of a place, and of all places below it. */
export const operationsBelow = (node: Node): Described[] => [
  ...node.operations.values(),
  ...[...node.children.values()].flatMap((child) => operationsBelow(child.node)),
]

/** The type of a place: its calls, then its members. */
function typeOf(node: Node, typing: Typing, indent: string): string {
  const { printer } = typing
  const inner = `${indent}  `
  const members: string[] = []
  for (const method of methods) {
    const found = node.operations.get(method)
    if (found === undefined) continue
    const { doc, input, answers } = shapeOf(typing, found, inner)
    members.push(`${comment(doc, inner)}${inner}${method}(${input}): Call<${answers}>`)
  }
  if (node.socket !== undefined) {
    const { doc, input, type } = socketShape(node.socket, printer, inner)
    members.push(`${comment(doc, inner)}${inner}socket(${input}): ${type}`)
  }
  for (const [id, name] of sortedNames(node)) {
    const { step, node: child } = node.children.get(id)!
    const below = typeOf(child, typing, inner)
    if (step.kind === 'static') members.push(`${inner}readonly ${key(name)}: ${below}`)
    else {
      const doc = comment([child.parameters.find((one) => one.description)?.description], inner)
      const type = step.kind === 'rest' ? 'string' : parameterType(child.parameters, printer)
      // The variable is for display in editors; reserved words of the language are entirely in lower case.
      const words = camel(step.name)
      const variable = /^[a-z]\w*$/i.test(words) && !reserved.test(words) ? words : 'value'
      members.push(`${doc}${inner}${key(name)}(${variable}: ${type}): ${below}`)
    }
  }
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`
}

const reserved =
  /^(?:arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield)$/

/** The type of a path segment: strings and numbers, as narrow as all operations below allow. */
function parameterType(parameters: readonly Parameter[], printer: SchemaPrinter): string {
  const types = parameters.map(({ schema }) => printer.type(schema, 'input'))
  const scalar = /^(?:string|number|boolean|-?[\d.e+-]+|'(?:[^'\\]|\\.)*')$/
  const parts = types.flatMap((type) => type.split(' | '))
  return parts.length > 0 && parts.every((part) => scalar.test(part)) ? union(parts) : 'string | number'
}

/** The path so far: a variable with its beginning, and the encoded rest. */
interface Way {
  readonly from: string
  readonly text: string
}

function expression({ from, text: rest }: Way): string {
  if (from === '') return text(rest)
  return rest === '' ? from : `${from} + ${text(rest)}`
}

/** The object for such a type. */
function codeOf(node: Node, document: ApiDocument, way: Way, indent: string, depth: number): string {
  const inner = `${indent}  `
  const members: string[] = []
  const path = expression(way.from === '' && way.text === '' ? { from: '', text: '/' } : way)
  for (const method of methods) {
    const found = node.operations.get(method)
    if (found === undefined) continue
    const body = bodyOf(document, found.operation)?.mediaType
    const once = isOnce(document, found)
    const type = body === undefined ? (once ? ', undefined' : '') : `, ${text(body)}`
    const last = type + (once ? ', once' : '')
    members.push(`${inner}${method}: (input) => send('${method.toUpperCase()}', ${path}, input${last}),`)
  }
  if (node.socket !== undefined) members.push(`${inner}socket: ${socketCall(node.socket, path)},`)
  for (const [id, name] of sortedNames(node)) {
    const { step, node: child } = node.children.get(id)!
    if (step.kind === 'static') {
      const on = { from: way.from, text: `${way.text}/${encoded(decoded(step.text))}` }
      members.push(`${inner}${key(name)}: ${codeOf(child, document, on, inner, depth)},`)
      continue
    }
    const here = `path${depth}`
    const value = step.kind === 'rest' ? 'rest(value)' : `segment(${text(step.name)}, value)`
    const before = expression({ from: way.from, text: `${way.text}/` })
    const below = codeOf(child, document, { from: here, text: '' }, `${inner}  `, depth + 1)
    members.push(
      `${inner}${key(name)}: (value) => {`,
      `${inner}  const ${here} = ${before} + ${value}`,
      `${inner}  return ${below}`,
      `${inner}},`,
    )
  }
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`
}

/** Encodes a segment; half a surrogate pair is not text and cannot be sent. */
const encoded = (segment: string) => encodeURIComponent(segment.replaceAll(/\p{Surrogate}/gu, '\ufffd'))

const sortedNames = (node: Node): [id: string, name: string][] =>
  [...memberNames(node)].sort(([, a], [, b]) => (a < b ? -1 : 1))

/** One websocket of the client: the lines of its doc comment, its parameter, and its type. `indent` is that of the line on which it is printed. */
function socketShape(route: SocketRoute, printer: SchemaPrinter, indent: string) {
  const inner = `${indent}  `
  const members: { readonly text: string; readonly isRequired: boolean }[] = []
  const part = (name: string, schema: Schema | undefined, direction: 'query' | 'input', more = '') => {
    if (typeof schema !== 'object') return
    const isRequired = (schema.required ?? []).length > 0
    const type = printer.type(schema, direction, inner) + more
    members.push({ text: `${inner}${name}${isRequired ? '' : '?'}: ${type}`, isRequired })
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
function socketCall(route: SocketRoute, path: string): string {
  const offered = route.protocols.length === 0 ? '' : `, [${route.protocols.map(text).join(', ')}]`
  return `(options) => open(${path}, ${route.received !== undefined && route.received.length > 0}, options${offered})`
}
