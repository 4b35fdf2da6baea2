import { STATUS_CODES } from 'node:http'
import { madeIn } from '../../plugins/shared/values/memoize.ts'
import {
  type ApiDocument,
  type Content,
  follow,
  type Operation,
  type Parameter,
  type PathItem,
  type Reference,
  sorted,
} from './document.ts'
import { claim, pascal } from './names.ts'
import { comment, key, tags, union } from './printer.ts'
import { docOf, hasDefault, type SchemaPrinter } from './schema.ts'

/**
 * The types of failures that several operations have in common, above all the framework's own: they are declared once, named after
 * their status, instead of in ten lines at each operation.
 */
export function sharedFailures(taken: Set<string>) {
  const counts = new Map<string, number>()
  const names = new Map<string, string>()
  return {
    /** Counts a failure; must be called with all of them before the first name is read. */
    count(status: string, type: string): void {
      const key = `${status} ${type}`
      if (isWorthAName(status, type)) counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    /** The name of a failure; `undefined` for one that is inlined. */
    nameOf(status: string, type: string): string | undefined {
      const key = `${status} ${type}`
      if ((counts.get(key) ?? 0) < 2) return undefined
      return madeIn(names, key, () => claim(pascal(STATUS_CODES[status] ?? `Status ${status}`), taken))
    },
    declarations: (): string =>
      [...names]
        .sort(([, a], [, b]) => (a < b ? -1 : 1))
        .map(([key, name]) => `export type ${name} = ${key.slice(key.indexOf(' ') + 1)}\n`)
        .join('\n'),
  }
}

const isWorthAName = (status: string, type: string) => /^[45]/.test(status) && type.startsWith('{\n')

/** What is needed to print the types of a document. */
export interface Typing {
  readonly document: ApiDocument
  readonly printer: SchemaPrinter
  readonly shared: ReturnType<typeof sharedFailures>
}

/** An operation with the path that it belongs to. */
export interface Described {
  readonly method: string
  readonly item: PathItem
  readonly operation: Operation
}

/** As in the part that is the same in all clients, which reads and writes the bodies. */
const jsonType = /^application\/(?:[\w.+-]+\+)?json(?=\s*(?:;|$))/
const formTypes = ['multipart/form-data', 'application/x-www-form-urlencoded'] as const
const isForm = (type: string) => formTypes.some((form) => type.startsWith(form))

/** The parameters of an operation, its own before those of its path, each resolved. */
export function parametersOf(document: ApiDocument, item: PathItem, operation: Operation): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const one of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) {
    const parameter = follow<Parameter>(document, one)
    if (typeof parameter?.name === 'string') found.set(`${parameter.in} ${parameter.name}`, parameter)
  }
  return [...found.values()]
}

/** A member of the input of a call. */
interface InputMember {
  readonly text: string
  readonly isRequired: boolean
}

/** The parameter of a call with these members, `input?: { … } & CallOptions`. */
export function inputOf(name: string, members: readonly InputMember[], options: string, indent: string): string {
  const mark = members.some(({ isRequired }) => isRequired) ? '' : '?'
  const own = members.length === 0 ? '' : `{\n${members.map(({ text }) => text).join('\n')}\n${indent}} & `
  return `${name}${mark}: ${own}${options}`
}

/**
 * One call of the client: the lines of its doc comment, its parameter, and its statuses with their data, `{ 200: Book; 404: Failure }`.
 * `indent` is that of the line on which it is printed.
 */
export function shapeOf(typing: Typing, found: Described, indent: string) {
  const { item, operation } = found
  const { document, printer } = typing
  const inner = `${indent}  `
  const parameters = parametersOf(document, item, operation)
  const members: InputMember[] = []
  for (const part of ['query', 'headers']) {
    const own = parameters
      .filter((one) => one.in === part.replace('headers', 'header'))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    if (own.length === 0) continue
    const written = partMembers(own, printer, `${inner}  `).join('\n')
    const isRequired = own.some(isNeeded)
    const more = part === 'headers' ? ' & HeaderValues' : ''
    members.push({ text: `${inner}${part}${isRequired ? '' : '?'}: {\n${written}\n${inner}}${more}`, isRequired })
  }
  const body = bodyOf(document, operation)
  if (body !== undefined) {
    const type = bodyType(body, printer, inner)
    const mark = body.isRequired ? ':' : '?:'
    const written = body.isRequired ? type : union([type, 'undefined'])
    members.push({ text: `${inner}body${mark} ${written}`, isRequired: body.isRequired })
  }
  return {
    doc: [operation.summary, operation.summary && operation.description ? '' : undefined, operation.description]
      .filter((line): line is string => typeof line === 'string')
      .concat(operation.deprecated === true ? [tags.deprecated] : []),
    input: inputOf('input', members, parameters.some(isKey) ? 'OnceOptions' : 'CallOptions', indent),
    answers: answersOf(typing, found, indent),
  }
}

/** One line per parameter; for a query with any names, the line that allows them. */
function partMembers(own: readonly Parameter[], printer: SchemaPrinter, indent: string): string[] {
  const free = own.find(isFree)
  const named = own.filter((one) => !isFree(one)).map((one) => parameterMember(one, printer, indent))
  if (free === undefined) return named
  const values = typeof free.schema === 'object' ? free.schema.additionalProperties : undefined
  // Named members must also have the index signature's type, so it cannot restrict the others.
  const type = named.length > 0 ? 'unknown' : union([printer.type(values, 'query', indent), 'undefined'])
  return [...named, `${comment([free.description], indent)}${indent}[name: string]: ${type}`]
}

/** Whether a parameter is an object whose members are parameters of their own. */
function isFree({ in: where, style, explode, schema }: Parameter): boolean {
  const isObject = typeof schema === 'object' && schema !== null && schema.type === 'object'
  return where === 'query' && style === 'form' && explode === true && isObject
}

const isKey = ({ in: where, name }: Parameter) => where === 'header' && name.toLowerCase() === 'idempotency-key'

/** Whether the server carries an operation out once, however often it is sent with one key. */
export const isOnce = (document: ApiDocument, { item, operation }: Described) =>
  parametersOf(document, item, operation).some(isKey)

/** Whether a parameter is needed: one for which the server has a default is optional, and so is the key, which the client makes. */
const isNeeded = (one: Parameter) => one.required === true && !hasDefault(one.schema ?? {}) && !isKey(one)

function parameterMember(parameter: Parameter, printer: SchemaPrinter, indent: string): string {
  const { description, schema = {} } = parameter
  const doc = comment(description === undefined ? docOf(schema) : [description], indent)
  const type = printer.type(parameter.schema, parameter.in === 'query' ? 'query' : 'input', indent)
  const isOptional = !isNeeded(parameter)
  // HTTP ignores the case of header names; the client sends them as the document has them.
  const written = isOptional ? union([type, 'undefined']) : type
  return `${doc}${indent}${key(parameter.name)}${isOptional ? '?' : ''}: ${written}`
}

/** The body that the client sends: JSON if the operation accepts it, otherwise a form; `orForm` is whether a form may be sent instead. */
export function bodyOf(document: ApiDocument, operation: Operation) {
  const request = follow<{ required?: boolean; content?: Content }>(document, operation.requestBody)
  const offered = sorted(request?.content).map(([type, { schema }]) => ({ type: type.toLowerCase(), schema }))
  const find = (test: (type: string) => boolean) => offered.find(({ type }) => test(type))
  const form = find(isForm)
  const chosen = find((type) => jsonType.test(type)) ?? form ?? offered[0]
  if (chosen === undefined) return undefined
  const orForm = form !== undefined && form !== chosen && form.type.startsWith(formTypes[0])
  return { mediaType: chosen.type, schema: chosen.schema, isRequired: request?.required === true, orForm }
}

type Body = NonNullable<ReturnType<typeof bodyOf>>

function bodyType({ mediaType, schema, orForm }: Body, printer: SchemaPrinter, indent: string): string {
  if (jsonType.test(mediaType)) return union([printer.type(schema, 'input', indent), ...(orForm ? ['FormData'] : [])])
  if (isForm(mediaType)) {
    const isMultipart = mediaType.startsWith(formTypes[0])
    const type = printer.type(schema, isMultipart ? 'form' : 'input', indent)
    const fields = type === 'unknown' ? '{ [name: string]: unknown }' : type
    return union([fields, isMultipart ? 'FormData' : 'URLSearchParams'])
  }
  return mediaType.startsWith('text/') ? 'string' : 'Blob | ArrayBuffer | string'
}

/** Statuses that the document names only by class, with the type of each class. */
const classes: readonly [key: RegExp, type: string][] = [
  [/^2xx$/i, 'SuccessStatus'],
  [/^[45]xx$|^default$/i, 'FailureStatus'],
]

/** Counts failures that several operations have in common. */
export function countFailures(typing: Typing, found: Described): void {
  for (const [status, response] of sorted(found.operation.responses)) {
    if (isStatus(status)) typing.shared.count(status, dataOf(typing, found, response, '', status))
  }
}

const isStatus = (status: string) => /^[1-5]\d\d$/.test(status)

function answersOf(typing: Typing, found: Described, indent: string): string {
  const { document, shared } = typing
  const inner = `${indent}  `
  const responses = sorted(found.operation.responses)
  // A 200 without a description is a route that declares no responses: it may also answer 204.
  const [good, ...others] = responses.filter(([status]) => /^[23]|default/.test(status))
  const isSilent = good?.[0] === '200' && others.length === 0 && !hasContent(document, good[1])
  const exact = responses.filter(([status]) => isStatus(status) && !(isSilent && status === '200'))
  const members = exact.map(([status, response]) => {
    const name = shared.nameOf(status, dataOf(typing, found, response, '', status))
    return `${inner}${status}: ${name ?? dataOf(typing, found, response, inner, status)}`
  })
  const only = responses.find(([status]) => status.toLowerCase() === 'default')
  const ranges = classes.flatMap(([pattern, type]) => {
    const ofClass = responses.filter(([status]) => pattern.test(status))
    if (ofClass.length === 0) return []
    const data = union(ofClass.map(([, response]) => dataOf(typing, found, response, indent, '')))
    const except = exact.length === 0 ? type : `Exclude<${type}, ${exact.map(([status]) => status).join(' | ')}>`
    return [`{ [Status in ${except}]: ${data} }`]
  })
  // Without any success of its own, the default also applies to successes.
  const hasSuccess = responses.some(([status]) => /^2/.test(status))
  if (only !== undefined && !hasSuccess)
    ranges.push(`{ [Status in SuccessStatus]: ${dataOf(typing, found, only[1], indent, '')} }`)
  const own = members.length === 0 ? [] : [`{\n${members.join('\n')}\n${indent}}`]
  return [...own, ...ranges].join(' & ') || '{}'
}

const hasContent = (document: ApiDocument, given: unknown): boolean =>
  Object.keys(follow<{ content?: Content }>(document, given as Reference)?.content ?? {}).length > 0

function dataOf(typing: Typing, found: Described, given: unknown, indent: string, status: string): string {
  const { document, printer } = typing
  if (found.method === 'head' || ['204', '205', '304'].includes(status)) return 'undefined'
  const response = follow<{ content?: Content }>(document, given as Reference)
  const content = sorted(response?.content)
  // The content of such a response is not described, and it may be empty.
  if (content.length === 0) return 'unknown'
  return union(
    content.map(([type, { schema }]) => answerType(type.toLowerCase(), () => printer.type(schema, 'output', indent))),
  )
}

/** The type of a response, in the form that the runtime returns. */
function answerType(mediaType: string, json: () => string): string {
  if (jsonType.test(mediaType)) return json()
  if (mediaType.startsWith('text/event-stream')) return 'ReadableStream<Uint8Array> | null'
  if (mediaType.startsWith('text/')) return 'string'
  return mediaType.includes('*') ? 'unknown' : 'Blob'
}
