import { defined, isObject, mapMembers } from '../values/json.ts'
import { markNames } from '../values/marked.ts'
import { madeIn } from '../values/memoize.ts'
import { redacted } from '../values/redact.ts'
import { messageOf, safely } from '../values/safely.ts'
import { flattened, inPlaceOf, schemasOf } from './flat.ts'
import { inPlaceKeywords, type Node, schemasWithin } from './keywords.ts'
import { type Direction, selfDescription } from './self-description.ts'
import { isStandardSchema, type StandardSchema } from './standard.ts'

/** What a schema says of a member: personal data, or a credential. */
export type Mark = 'sensitive' | 'secret'

/** A marked member of a schema. */
export interface MarkedMember {
  /** Its place: `user.emails[]`; `*` is any member of a record, and `''` the value itself. */
  readonly path: string
  readonly mark: Mark
}

/** The marks, the stronger one first. */
export const markKinds: readonly Mark[] = ['secret', 'sensitive']

/** The marks of one schema. */
export interface Marks {
  readonly members: readonly MarkedMember[]
  /** Whether some of them have no name: the value itself, or the items of a list that is one. */
  readonly hasNameless: boolean
  /** A copy of a value without what is marked in it. */
  hide(value: unknown): unknown
  /** The strings and numbers of a value that are marked. */
  valuesIn(value: unknown): unknown[]
}

const known = new WeakMap<object, { readonly marks: Marks | undefined }>()

/**
 * The marks of a schema of any kind, read once; `undefined` if it has none. What reads the names of members finds those marked from then on.
 *
 * @throws TypeError for a mark that is not a boolean, and for a marked schema that cannot be described: its marks would be lost.
 */
export const marksOf = (schema: object): Marks | undefined =>
  madeIn(known, schema, () => ({ marks: read(schema) })).marks

const issued = new WeakSet<object>()

/** Notes that a response sends the secrets of a schema, on purpose. */
export const markIssued = (schema: object): void => void issued.add(schema)

/** Whether a response sends them: they are not only written. */
export const isIssued = (schema: object): boolean => issued.has(schema)

function read(schema: object): Marks | undefined {
  const roots = describedBy(schema).map((one) => flattened(one).schema)
  const marked = roots.filter((root) => [...schemasOf(root)].some((node) => markKinds.some((kind) => kind in node)))
  const members = new Map<string, Mark>()
  const names = new Set<string>()
  for (const root of marked) collect(root, members, names)
  if (members.size === 0) return undefined
  markNames(names)
  return {
    hasNameless: [...members.keys()].some((path) => /^[[\].*]*$/.test(path)),
    members: [...members].map(([path, mark]) => ({ path, mark })),
    hide: (value) => marked.reduce((one, root) => safely(() => changed(one, [root], root, hidden), redacted), value),
    valuesIn(value) {
      const values = new Set<unknown>()
      for (const root of marked) safely(() => changed(value, [root], root, (one) => scalarsIn(one, values)))
      return [...values]
    },
  }
}

/** The schema as JSON Schema: a validator's input and its output, which may differ. */
function describedBy(schema: object): Node[] {
  if (!isStandardSchema(schema)) return [schema as Node]
  let why: unknown
  const found = (['input', 'output'] satisfies Direction[]).flatMap((side) => {
    try {
      return [selfDescription(schema, side)].filter(isObject)
    } catch (error) {
      why = error
      return []
    }
  })
  if (found.length === 0 && hasMark(schema))
    throw new TypeError(`it marks a member as sensitive or secret, and cannot be described: ${messageOf(why)}`)
  return found
}

/** Whether a validator has a mark anywhere in the objects that it consists of. */
function hasMark(schema: StandardSchema): boolean {
  const all = new Set<unknown>([schema])
  for (const one of all) {
    for (const [name, member] of Object.entries(one as object)) {
      if (markKinds.some((kind) => kind === name) && typeof member !== 'object') return true
      if (typeof member === 'object' && member !== null && all.size < 10_000) all.add(member)
    }
  }
  return false
}

const markOf = (nodes: readonly Node[]) => markKinds.find((kind) => nodes.some((node) => node[kind] === true))

const ofItems: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains'],
])

/** Keywords whose schemas are for what is not part of a value: its names, and what its text means. */
const apart: ReadonlySet<string> = new Set(['propertyNames', 'contentSchema'])

/** The schemas of the parts of a value, each with the step that leads to it. */
function* partsOf(node: Node): Iterable<readonly [step: string, schema: unknown]> {
  if (isObject(node.properties)) for (const [name, one] of Object.entries(node.properties)) yield [`.${name}`, one]
  for (const [keyword, one] of schemasWithin(node))
    if (keyword !== 'properties' && !inPlaceKeywords.has(keyword) && !apart.has(keyword))
      yield [ofItems.has(keyword) ? '[]' : '.*', one]
}

const alone = new WeakMap<Node, Node[]>()

/** All schemas for one value, as a list. */
function forValue(start: readonly unknown[], root: Node): Node[] {
  const [first, second] = start.filter(isObject)
  // Mostly there is one, for each of many values.
  return first !== undefined && second === undefined
    ? madeIn(alone, first, () => [...inPlaceOf([first], root)])
    : [...inPlaceOf(start, root)]
}

/**
 * The schemas of a flat one as a description shows them: without examples and defaults of what is marked, and with the keywords of OpenAPI for
 * a secret. It is `writeOnly`, unless a response issues it.
 */
export function describeMarks(root: unknown, isWritten: boolean): (node: Node) => Node {
  const marked = new Set<Node>()
  for (const node of isObject(root) ? schemasOf(root) : []) {
    const all = forValue([node], root as Node)
    if (markOf(all) !== undefined) for (const one of all) marked.add(one)
  }
  for (const node of marked)
    for (const [, one] of partsOf(node)) for (const part of forValue([one], root as Node)) marked.add(part)
  if (marked.size === 0) return (node) => node
  const shownIn = (value: unknown, node: Node) => changed(value, [node], root as Node, hidden)
  return (node) => {
    const { default: fallback, example, examples, ...rest } = node
    if (!marked.has(node))
      return defined({
        ...node,
        default: shownIn(fallback, node),
        example: shownIn(example, node),
        examples: Array.isArray(examples) ? examples.map((one) => shownIn(one, node)) : examples,
      })
    const isText = node.type === 'string' && node.format === undefined
    const ofSecret = { ...(isText && { format: 'password' }), ...(isWritten && { writeOnly: true }) }
    return { ...rest, ...(node.secret === true && ofSecret), ...(node.sensitive === true && { 'x-sensitive': true }) }
  }
}

/** How often one schema is followed: types that refer to each other have more paths than can be listed. */
const mostUses = 20

/** Finds the marked members of a schema, and their names. @throws TypeError for a mark that is not a boolean. */
function collect(root: Node, members: Map<string, Mark>, names: Set<string>): void {
  const uses = new Map<Node, number>()
  const visit = (start: readonly unknown[], path: string, name: string, around: readonly Node[], under?: Mark) => {
    const nodes = forValue(start, root)
    for (const node of nodes) checkMarks(node, path, root)
    const mark = markOf(nodes)
    // A secret in personal data is still one: a response must not send it.
    const isNew = under === undefined || (under === 'sensitive' && mark === 'secret')
    if (mark !== undefined && isNew) members.set(path, mark)
    const within = isNew ? (mark ?? under) : under
    if (within !== undefined && name !== '') names.add(name)
    const [first] = nodes
    const count = (uses.get(first!) ?? 0) + 1
    uses.set(first!, count)
    if (count > mostUses || nodes.every((node) => around.includes(node))) return
    const parts = new Map<string, unknown[]>()
    for (const node of nodes)
      for (const [step, one] of partsOf(node)) parts.set(step, [...(parts.get(step) ?? []), one])
    for (const [step, some] of parts) {
      const named = step === '[]' || step === '.*' ? name : step.slice(1)
      visit(some, path === '' ? step.replace(/^\./, '') : path + step, named, [...around, ...nodes], within)
    }
  }
  visit([root], '', '', [])
}

function checkMarks(node: Node, path: string, root: Node): void {
  const where = path === '' ? 'the value itself' : `its member "${path}"`
  for (const keyword of apart) {
    const one = node[keyword]
    if (isObject(one) && markOf([...schemasOf(one, root)]) !== undefined)
      throw new TypeError(`"${keyword}" of ${where} has a mark, which hides nothing. Mark ${where}`)
  }
  for (const kind of markKinds) {
    const value = node[kind]
    if (value === undefined || typeof value === 'boolean') continue
    throw new TypeError(`"${kind}" of ${where} is ${JSON.stringify(value)}. Set it to true, or leave it out`)
  }
}

/** Of the patterns of schemas, which each value is compared with. */
const expressions = new Map<string, RegExp>()

/** The schemas of one member. Those for any other member apply if none is for its name. */
function schemasFor(nodes: readonly Node[], name: string): unknown[] {
  return nodes.flatMap(({ properties, patternProperties, additionalProperties, unevaluatedProperties }) => {
    const named = isObject(properties) ? properties : {}
    // Headers arrive in lower case.
    const own = Object.hasOwn(named, name)
      ? [named[name]]
      : Object.keys(named).flatMap((one) => (one.toLowerCase() === name ? [named[one]] : []))
    const patterns = Object.entries(isObject(patternProperties) ? patternProperties : {})
    const matching = patterns.flatMap(([pattern, one]) =>
      safely(() => madeIn(expressions, pattern, () => new RegExp(pattern, 'u')).test(name), true) ? [one] : [],
    )
    const all = [...own, ...matching]
    return all.length > 0 ? all : [additionalProperties, unevaluatedProperties]
  })
}

const schemasAt = (nodes: readonly Node[], at: number): unknown[] =>
  nodes.flatMap((node) =>
    [...ofItems].flatMap((keyword) => {
      const given = node[keyword]
      return Array.isArray(given) ? [given[at]] : [given]
    }),
  )

/** A copy of a value with what is marked in it changed. */
function changed(value: unknown, start: readonly unknown[], root: Node, change: (marked: unknown) => unknown): unknown {
  const nodes = forValue(start, root)
  if (nodes.length === 0 || value === undefined || value === null) return value
  if (markOf(nodes) !== undefined) return change(value)
  if (Array.isArray(value)) return value.map((one, at) => changed(one, schemasAt(nodes, at), root, change))
  if (!isObject(value) || typeof value.toJSON === 'function') return value
  return mapMembers(value, (one, name) => changed(one, schemasFor(nodes, name), root, change))
}

const hidden = () => redacted

function scalarsIn(value: unknown, found: Set<unknown>): void {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') found.add(value)
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) scalarsIn(one, found)
}
