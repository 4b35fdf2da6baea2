import { defineErrors } from '../../../kernel/support/errors.ts'
import { safely } from '../values/safely.ts'
import { selfDescription } from './self-description.ts'
import { foreignType, unsendable, viewOfJson } from './sendable/json.ts'
import { anything, type Lazy, notInJson, notText, type View } from './sendable/view.ts'
import { isZod, viewOfZod } from './sendable/zod.ts'
import { isStandardSchema } from './standard.ts'

export const { SchemaMemberError } = defineErrors({
  SchemaMemberError: (route: string, part: string, member: string, why: string, remedy: string) =>
    `${member === '' ? '' : `the member "${member}" of `}the schema "${part}" of ${route} can never be sent: ${why}. ${remedy}`,
})

/** The parts of a request that have a schema. */
type Part = 'headers' | 'params' | 'query' | 'body' | 'all'

/** A part that cannot be sent: what it is, its place, and what to use instead. */
interface Fault {
  readonly path: readonly (string | number)[]
  readonly what: string
  readonly remedy: string
}

/**
 * Ensures that a request can match the schema of a part. A query, headers and the parameters of a path
 * contain strings and lists of strings; a body contains JSON values. Where that cannot be decided, a schema passes.
 *
 * @throws SchemaMemberError, which names route, part, member and remedy.
 */
export function checkSendable(schema: object, part: Part, route: string): void {
  const whole: Lazy = { of: schema, view: () => viewOf(schema) }
  if (part === 'body' || part === 'all') {
    const fault = finder(faultInJson)(whole)
    if (fault === undefined) return
    const where = part === 'all' ? 'neither text nor JSON can represent' : 'JSON cannot represent'
    throw SchemaMemberError(route, part, fault.path.join('.'), `it is ${fault.what}, which ${where}`, use(fault))
  }
  const inText = finder(faultInText)
  const fault = finder((view, inside) => faultInMembers(view, inside, inText))(whole)
  if (fault === undefined) return
  const holds = { query: 'a query holds', headers: 'headers hold', params: 'a path holds' }[part]
  throw SchemaMemberError(route, part, fault.path.join('.'), `it is ${fault.what}, and ${holds} text`, use(fault))
}

/** Why no JSON matches a schema, with the remedy; `undefined` if some may match, or if that cannot be decided. */
export function whyNotJson(schema: object): string | undefined {
  const why = (path: readonly (string | number)[], what: string, remedy: string) =>
    `${path.length === 0 ? 'it' : `its member "${path.join('.')}"`} is ${what}, which JSON cannot represent. Use ${remedy}`
  const foreign = isStandardSchema(schema) ? undefined : foreignType(schema)
  if (foreign !== undefined) return why(foreign.path, `of the type "${foreign.type}"`, remedyFor(foreign.type))
  const fault = finder(faultInJson)({ of: schema, view: () => viewOf(schema) })
  return fault && why(fault.path, fault.what, fault.remedy)
}

/** The error for a JSON Schema that every compiler refuses because JSON lacks a type; `undefined` for another reason. */
export function foreignTypeError(schema: object, part: string, route: string): Error | undefined {
  const found = isStandardSchema(schema) ? undefined : foreignType(schema)
  if (found === undefined) return undefined
  const { path, type } = found
  return SchemaMemberError(
    route,
    part,
    path.join('.'),
    `its type "${type}" is not a type of JSON`,
    `Use ${remedyFor(type)}`,
  )
}

const remedyFor = (type: string) => (type === 'Date' ? '{ type: "string", format: "date-time" }' : jsonTypes)

const jsonTypes = '"string", "number", "integer", "boolean", "object", "array" or "null"'

const use = ({ remedy }: Fault) => `Use ${remedy}`

/** The valid values of a schema of any kind. */
function viewOf(schema: object): View {
  if (isZod(schema)) return viewOfZod(schema)
  if (!isStandardSchema(schema)) return viewOfJson(schema)
  // The schema has no description.
  return safely(() => viewOfJson(selfDescription(schema, 'input', marked)), anything)
}

const byTransform = (to: string) => `v.pipe(v.string(), v.transform(${to}))`
const parsed = 'a type that is parsed from a string, such as "string.date.parse"'

/** The parts that other libraries describe without their values: those of ArkType by code, those of Valibot by type. */
const kinds: { readonly [vendor: string]: { readonly [kind: string]: View } } = {
  arktype: { date: notInJson('a date', parsed), proto: notInJson('an instance of a class', parsed) },
  valibot: {
    number: notText('a number', `${byTransform('Number')} with v.number() after it`),
    boolean: notText('a boolean', `v.pipe(v.picklist(['true', 'false']), v.transform((text) => text === 'true'))`),
    bigint: notInJson('a bigint', byTransform('BigInt')),
    date: notInJson('a date', `v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => new Date(text)))`),
    map: notInJson('a Map', 'v.record()'),
    set: notInJson('a Set', 'v.array()'),
  },
}

const mark = (vendor: 'arktype' | 'valibot', kind: string): object | undefined =>
  Object.hasOwn(kinds[vendor]!, kind) ? { [unsendable]: kinds[vendor]![kind] } : undefined

const marked = {
  arktype: {
    fallback: ({ code, base }: { readonly code: string; readonly base: object }) => ({
      ...base,
      ...mark('arktype', code),
    }),
  },
  valibot: {
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }: { readonly valibotSchema: { readonly type: string } }) =>
      'fallback' in valibotSchema ? {} : mark('valibot', valibotSchema.type),
  },
}

type Find = (part: Lazy) => Fault | undefined

/** Checks each part of a schema once; a part that contains itself is not a fault for that reason. */
function finder(faultIn: (view: View, inside: Find) => Fault | undefined): Find {
  const known = new Map<unknown, Fault | undefined>()
  const find: Find = ({ of, view }) => {
    if (known.has(of)) return known.get(of)
    known.set(of, undefined)
    const fault = faultIn(view(), find)
    known.set(of, fault)
    return fault
  }
  return find
}

/** Why no JSON matches: optional members and lists that may be empty do not count. */
function faultInJson(view: View, inside: Find): Fault | undefined {
  if (view.is === 'value') return view.inJson ? undefined : { path: [], ...view }
  if (view.is === 'object') return firstOf(view.members, ([name, one]) => below(name, inside(one)))
  if (view.is === 'optional' || (view.is === 'list' && view.mayBeEmpty)) return undefined
  if (view.is === 'list') return firstOf([...view.items.entries()], ([at, one]) => below(at, inside(one)))
  return faultInParts(view, inside)
}

/** Why a member cannot be sent as a string, for the first such member. */
function faultInMembers(view: View, inside: Find, inText: Find): Fault | undefined {
  if (view.is === 'object') return firstOf(view.members, ([name, one]) => below(name, inText(one)))
  return faultInParts(view, inside)
}

const flat = 'separate members, a string that the schema parses, or the body'

/** Why a value cannot be sent as a string or as a list of strings, which has at least one item. */
function faultInText(view: View, inside: Find): Fault | undefined {
  if (view.is === 'value') return { path: [], ...view }
  if (view.is === 'object') return { path: [], what: 'an object', remedy: flat }
  if (view.is !== 'list') return faultInParts(view, inside)
  const fault = firstOf(view.items, inside)
  return fault && { ...fault, what: `a list whose item is ${fault.what}` }
}

/** The fault in a combination: if every alternative has one, or if one of several schemas for the same value has one. */
function faultInParts(view: View, inside: Find): Fault | undefined {
  if (view.is === 'either') return everyOf(view.parts, inside)
  if (view.is === 'both') return firstOf(view.parts, inside)
  return view.is === 'optional' ? inside(view.inner) : undefined
}

const below = (name: string | number, fault: Fault | undefined): Fault | undefined =>
  fault && { ...fault, path: [name, ...fault.path] }

function firstOf<Part>(parts: readonly Part[], find: (part: Part) => Fault | undefined): Fault | undefined {
  for (const part of parts) {
    const fault = find(part)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The first fault, if every branch has one. */
function everyOf(parts: readonly Lazy[], find: Find): Fault | undefined {
  let first: Fault | undefined
  for (const part of parts) {
    const fault = find(part)
    if (fault === undefined) return undefined
    first ??= fault
  }
  return first
}
