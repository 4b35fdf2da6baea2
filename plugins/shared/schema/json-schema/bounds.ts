import type { _, Ajv, CodeKeywordDefinition, KeywordCxt, Name } from 'ajv'
import { madeIn } from '../../values/memoize.ts'
import { reachedFrom, schemasOf, targetOf } from '../flat.ts'
import { inPlaceKeywords, isObject, type Node } from '../keywords.ts'
import { findSame, memberTest } from '../same.ts'
import { maxIssues } from '../verdict.ts'
import { budget, partsOf, spend } from './budget.ts'

/** The exports of Ajv with which keywords generate code. */
export interface Generating {
  readonly _: typeof _
  readonly Name: typeof Name
}

type Generate = CodeKeywordDefinition['code']

const loops = [
  'items',
  'additionalItems',
  'contains',
  'propertyNames',
  'additionalProperties',
  'patternProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
]
const unions = ['anyOf', 'oneOf']
/** Keywords whose schemas may fail for a valid value. */
const branches = [...unions, 'if', 'not', 'contains']
const texts = ['minLength', 'maxLength', 'pattern', 'format']
const counts = ['minProperties', 'maxProperties']
/** Keywords with schemas within. */
const around = [...loops, ...inPlaceKeywords, 'properties', 'prefixItems']

/**
 * Changes the code that an instance generates for some keywords without changing their meaning: their cost is
 * counted, `uniqueItems`, `enum` and `const` take work in proportion to the value, `multipleOf` is decimal, and no more errors are collected than
 * are reported: 20, or none where only the first one counts. Each instance of Ajv has definitions of its own.
 */
export function boundKeywords(ajv: Ajv, generating: Generating): void {
  const bounds = new Bounds(ajv, generating)
  bounds.loops()
  bounds.references()
  bounds.costs()
  if (ajv.opts.useDefaults) {
    bounds.branches()
    bounds.changes()
  }
  bounds.comparisons()
  if (!ajv.opts.allErrors) bounds.firstErrors()
}

const text = String.raw`"(?:[^"\\]|\\.)*"`
/** A string of the generated code, or a member of the value; ` = ` where that is filled in or coerced. */
const member = new RegExp(
  String.raw`${text}|(?<removes>delete )?\b(?<of>data\d*|parentData)(?:\.(?<name>[\w$]+)|\[(?<at>${text}|[\w$]+)\])(?<sets> = )?`,
  'g',
)

type Code = ReturnType<typeof _>

/** The changes of one instance. */
class Bounds {
  readonly #ajv: Ajv
  readonly #generating: Generating
  readonly #count: Name
  readonly #maxErrors: number
  readonly #reverting = new WeakMap<Node, boolean>()

  constructor(ajv: Ajv, generating: Generating) {
    this.#ajv = ajv
    this.#generating = generating
    this.#count = new generating.Name('errors')
    this.#maxErrors = ajv.opts.allErrors ? maxIssues : 1
  }

  #change(keywords: readonly string[], changed: (generate: Generate, keyword: string) => Generate): void {
    for (const keyword of keywords) {
      const definition = this.#ajv.getKeyword(keyword)
      // Older drafts do not have all of these keywords.
      if (typeof definition !== 'object' || !('code' in definition)) continue
      definition.code = changed(definition.code as Generate, keyword)
    }
  }

  #charge(cxt: KeywordCxt, steps: Code): void {
    const { _ } = this.#generating
    const meter = meterOf(cxt)
    cxt.gen.if(_`(${meter}.left -= ${steps}) < 0`, _`${meter}.spent()`)
  }

  /** For work that is done once for each part of the value, unless references lead back to their own place. */
  #chargeAgain(cxt: KeywordCxt, steps: Code): void {
    if (hasReferences(cxt.it.schemaEnv.root.schema as Node)) this.#charge(cxt, steps)
  }

  loops(): void {
    const { _ } = this.#generating
    this.#change(loops, (generate, keyword) => (cxt, type) => {
      const { gen } = cxt
      // Errors are counted from here on: those of a branch are removed if another one matches.
      const before = gen.const('_before', this.#count)
      const end = () => gen.if(_`${this.#count} - ${before} >= ${this.#maxErrors}`, () => gen.break())
      const { forRange, forIn } = gen
      const within = (body: (name: Name) => void) => (name: Name) => {
        // The loops of inner keywords belong to those keywords.
        Object.assign(gen, { forRange, forIn })
        this.#chargeAgain(cxt, _`1`)
        body(name)
        // With `contains`, the failures of an item do not count: not every item must match.
        if (keyword === 'contains') cxt.reset()
        else end()
        hold()
      }
      const hold = () => {
        gen.forRange = (name, from, to, body, kind) => forRange.call(gen, name, from, to, within(body), kind)
        gen.forIn = (name, object, body, kind) => forIn.call(gen, name, object, within(body), kind)
      }
      if (keyword === 'contains') {
        const { subschema } = cxt
        cxt.subschema = (applied, valid) =>
          subschema.call(cxt, { ...applied, createErrors: false, allErrors: false } as typeof applied, valid)
      }
      hold()
      generate(cxt, type)
      Object.assign(gen, { forRange, forIn })
    })
  }

  references(): void {
    const { _, Name } = this.#generating
    const max = this.#maxErrors
    const list = new Name('vErrors')
    this.#change(['$ref'], (generate) => (cxt, type) => {
      const { gen, it } = cxt
      const size = sizeOf(targetOf(cxt.schema, it.schemaEnv.root.schema))
      this.#charge(cxt, _`${25 + (size >> 2)}`)
      const before = gen.const('_before', this.#count)
      const { assign } = gen
      // The errors are added to the list in one step; otherwise it would be copied for each level and each branch.
      gen.assign = (left, right, hasEffects) => {
        if (String(left) !== list.str) return assign.call(gen, left, right, hasEffects)
        gen.assign = assign
        if (max === 1) return gen.assign(left, _`${list} === null ? [0] : (${list}.push(0), ${list})`, hasEffects)
        gen.assign(left, right, hasEffects)
        return gen.if(_`${list}.length > ${before} + ${max}`, () => {
          gen.assign(list, _`${list}.slice(0, ${before} + ${max})`)
        })
      }
      generate(cxt, type)
      gen.assign = assign
    })
  }

  /** Counts what unions, long strings, many members and defaults cost. */
  costs(): void {
    const { _ } = this.#generating
    const counted = (keywords: readonly string[], count: (cxt: KeywordCxt, keyword: string, type?: string) => void) =>
      this.#change(keywords, (generate, keyword) => (cxt, type) => {
        count(cxt, keyword, type)
        generate(cxt, type)
      })
    counted(unions, (cxt) => this.#charge(cxt, _`${(cxt.schema as unknown[]).length}`))
    counted(counts, (cxt) => this.#chargeAgain(cxt, _`Object.keys(${cxt.data}).length * 16`))
    counted(texts, (cxt, keyword, type) => {
      const length = _`${cxt.data}.length`
      if (keyword.endsWith('Length')) this.#chargeAgain(cxt, _`${length} >> 2`)
      else if (type === undefined || type === 'string') this.#chargeAgain(cxt, _`${length} * 2`)
    })
    counted(['properties'], (cxt) => {
      const defaults = Object.values(cxt.schema as Node).flatMap((one) => (isObject(one) ? [one.default] : []))
      const written = cxt.it.opts.useDefaults ? defaults.filter((one) => one !== undefined) : []
      if (written.length === 0) return
      this.#charge(cxt, _`${written.length * 40 + JSON.stringify(written).length}`)
      cxt.gen.code(_`${meterOf(cxt)}.added += ${partsOf(written)}`)
    })
  }

  /** A branch that fails, or comes after the one that fits, takes back what it has changed. */
  branches(): void {
    const { _ } = this.#generating
    this.#change(branches, (generate, keyword) => (cxt, type) => {
      const { gen, data, subschema } = cxt
      if (!this.#reverts(cxt.it.schemaEnv.root.schema as Node)) return generate(cxt, type)
      const meter = meterOf(cxt)
      // From 2019-09 on, the branches after the first that fits are checked as well.
      const taken = unions.includes(keyword) ? gen.let('_taken', false) : _`${keyword === 'not'}`
      cxt.subschema = (applied, valid) => {
        // `then` and `else` must succeed.
        if (!applied.compositeRule) return subschema.call(cxt, applied, valid)
        const mark = gen.const('_mark', _`${meter}.changes.length`)
        const was = gen.const('_was', data)
        const made = subschema.call(cxt, applied, valid)
        gen.if(_`${taken} || !${valid}`, () => {
          // To remove a member and to restore it takes about a microsecond.
          this.#charge(cxt, _`(${meter}.changes.length - ${mark}) * 100`)
          gen.code(_`${meter}.undo(${mark})`)
          if (applied.dataProp === undefined) gen.assign(data, was)
        })
        if (taken instanceof this.#generating.Name) gen.if(valid, () => gen.assign(taken, true))
        return made
      }
      generate(cxt, type)
    })
  }

  /** Whether a branch of a schema can change a value and then fail. */
  #reverts(root: Node): boolean {
    return madeIn(this.#reverting, root, () => {
      const nodes = [...schemasOf(root)]
      const changes = ({ additionalProperties, default: filled }: Node) =>
        additionalProperties === false || filled !== undefined
      return (
        (Boolean(this.#ajv.opts.coerceTypes) || nodes.some(changes)) &&
        nodes.some((node) => branches.some((keyword) => keyword in node))
      )
    })
  }

  /** Records what a check changes. Removed members are restored before all errors are collected. */
  changes(): void {
    const { opts, scope } = this.#ajv
    const { process } = opts.code
    const meter = `scope${scope.value('obj', { ref: budget, key: budget }).scopePath}`
    opts.code.process = (code, env) => {
      const isSetRecorded = this.#reverts(env!.root.schema as Node)
      return (process?.(code, env) ?? code).replace(member, (found, ...rest) => {
        const { removes, of, name, at, sets } = rest.at(-1) as Readonly<Record<string, string | undefined>>
        if (removes === undefined && (sets === undefined || !isSetRecorded)) return found
        return `${meter}.changing(${of}, ${at ?? JSON.stringify(name)});${found}`
      })
    }
  }

  comparisons(): void {
    const { _ } = this.#generating
    this.#change(['uniqueItems'], () => (cxt) => {
      if (cxt.schema !== true) return
      const { gen, data } = cxt
      const find = gen.scopeValue('func', { ref: findSame })
      const found = gen.const('_same', _`${find}(${data})`)
      cxt.setParams({ i: _`${found}.i`, j: _`${found}.j` })
      cxt.fail(_`${found} !== undefined`)
    })
    this.#change(['multipleOf'], () => (cxt) => {
      const { gen, data } = cxt
      const by = cxt.schema as number
      const isRest = _`${data} % ${by} !== 0`
      if (Number.isInteger(by)) return cxt.fail(isRest)
      // 0.07 is a multiple of 0.01, although neither has an exact number: each of the two and the quotient may be off by half a unit.
      const times = gen.const('_times', _`${data} / ${by}`)
      const isNear = _`Math.abs(${times} - Math.round(${times})) <= ${4 * Number.EPSILON} * Math.abs(${times})`
      cxt.fail(_`${isRest} && !(${isNear})`)
    })
    this.#change(['enum', 'const'], (generate, keyword) => (cxt, type) => {
      const values = keyword === 'const' ? [cxt.schema as unknown] : (cxt.schema as unknown[])
      // If there are only a few values, they are compared one after the other.
      if (values.length <= 16 && values.every((value) => typeof value !== 'object' || value === null)) {
        return generate(cxt, type)
      }
      const test = cxt.gen.scopeValue('func', { ref: memberTest(values, spend) })
      cxt.pass(_`${test}(${cxt.data})`)
    })
  }

  /** For an instance that ends at the first error, and whose value another instance then checks again. */
  firstErrors(): void {
    // Members decide first: a branch for another kind fails before it removes members, which it would have to restore.
    for (const { rules } of this.#ajv.RULES.rules) {
      const at = rules.findIndex(({ keyword }) => keyword === 'properties')
      const to = rules.findIndex(({ keyword }) => keyword === 'additionalProperties')
      if (to >= 0 && to < at) rules.splice(to, 0, ...rules.splice(at, 1))
    }
    this.#change(['properties'], (generate) => (cxt, type) => {
      Object.assign(cxt, { schema: cheapFirst(cxt.schema as Node) })
      generate(cxt, type)
    })
    this.#change(around, (generate) => (cxt, type) => {
      // An error takes 50 ns for its path and its words, and would not be used.
      Object.assign(cxt.it, { createErrors: false })
      generate(cxt, type)
    })
  }
}

const meterOf = ({ gen }: KeywordCxt) => gen.scopeValue('obj', { ref: budget, key: budget })

/**
 * Orders members for a check that ends at the first error: those that distinguish the kinds of an object come before nested ones.
 * Otherwise a tree whose nodes name their kind last would be checked as each of the kinds, down to its leaves.
 */
function cheapFirst(properties: Node): Node {
  const sorted = Object.entries(properties).map(([name, one]) => ({ name, one, rank: rankOf(one) }))
  sorted.sort((a, b) => a.rank - b.rank)
  const again = {}
  for (const { name, one: value } of sorted) {
    Object.defineProperty(again, name, { value, enumerable: true, configurable: true })
  }
  return again
}

function rankOf(schema: unknown): number {
  if (!isObject(schema) || 'const' in schema || 'enum' in schema) return 0
  return refers(schema) ? 2 : 1
}

const referring = new WeakMap<Node, boolean>()
const refers = (root: Node) => [...reachedFrom([root])].some((node) => '$ref' in node)
const hasReferences = (root: Node) => madeIn(referring, root, refers)

/** The number of schemas in a schema, including itself. */
const sizeOf = (schema: unknown) => (isObject(schema) ? reachedFrom([schema]).size : 1)
