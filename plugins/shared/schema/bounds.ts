import type { _, Ajv, CodeKeywordDefinition, KeywordCxt, Name } from 'ajv'
import { effort } from './effort.ts'
import { targetOf } from './flat.ts'
import { maxIssues } from './issue.ts'
import { isObject, type Node, schemasWithin } from './keywords.ts'
import { findSame, memberTest } from './same.ts'

/** What Ajv exports for the code that keywords generate. */
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
const calls = ['$ref', '$dynamicRef', '$recursiveRef']
const texts = ['minLength', 'maxLength', 'pattern', 'format']
const counts = ['minProperties', 'maxProperties']

/**
 * Changes the code that an instance generates for some keywords, without a change of what they mean: what they cost is
 * counted, `uniqueItems`, `enum` and `const` take work in proportion to the value, and loops end behind the errors that
 * are told. Each instance of Ajv has definitions of its own.
 */
export function boundKeywords(ajv: Ajv, { _, Name }: Generating): void {
  const errors = new Name('errors')
  const allErrors = new Name('vErrors')

  const change = (keyword: string, make: (generate: Generate, definition: CodeKeywordDefinition) => Generate) => {
    const definition = ajv.getKeyword(keyword)
    // Older drafts do not have all of them.
    if (typeof definition !== 'object' || !('code' in definition) || typeof definition.code !== 'function') return
    const coded = definition as CodeKeywordDefinition
    coded.code = make(coded.code, coded)
  }
  const meter = ({ gen }: KeywordCxt) => gen.scopeValue('obj', { ref: effort, key: effort })
  const charge = (cxt: KeywordCxt, steps: ReturnType<typeof _>) => {
    const counter = meter(cxt)
    cxt.gen.if(_`(${counter}.left -= ${steps}) < 0`, _`${counter}.spent()`)
  }

  for (const keyword of loops) {
    change(keyword, (generate) => (cxt, type) => {
      const { gen } = cxt
      // Since these may be taken back where a branch is left for another, they are counted from here on.
      const before = gen.const('_before', errors)
      const isFull = _`${errors} - ${before} >= ${maxIssues}`
      const end =
        keyword === 'contains'
          ? () =>
              gen.if(isFull, () =>
                gen.assign(errors, _`${before} + ${maxIssues}`).assign(_`${allErrors}.length`, errors),
              )
          : () => gen.if(isFull, () => gen.break())
      const { forRange, forIn } = gen
      const within =
        (body: (name: Name) => void) =>
        (name: Name): void => {
          release()
          charge(cxt, _`1`)
          body(name)
          end()
          hold()
        }
      const hold = () => {
        gen.forRange = (name, from, to, body, kind) => forRange.call(gen, name, from, to, within(body), kind)
        gen.forIn = (name, object, body, kind) => forIn.call(gen, name, object, within(body), kind)
      }
      // The loops of keywords within are their own.
      const release = () => Object.assign(gen, { forRange, forIn })
      hold()
      generate(cxt, type)
      release()
    })
  }
  for (const keyword of calls) {
    change(keyword, (generate) => (cxt, type) => {
      const target = targetOf(cxt.schema, cxt.it.schemaEnv.root.schema)
      charge(cxt, _`${4 + (sizeOf(target) >> 3)}`)
      generate(cxt, type)
    })
  }
  for (const keyword of texts) {
    change(keyword, (generate) => (cxt, type) => {
      if (keyword !== 'format' || type === 'string') charge(cxt, _`${cxt.data}.length >> 4`)
      generate(cxt, type)
    })
  }
  for (const keyword of counts) {
    change(keyword, (generate) => (cxt, type) => {
      charge(cxt, _`Object.keys(${cxt.data}).length`)
      generate(cxt, type)
    })
  }
  change('uniqueItems', () => (cxt) => {
    if (cxt.schema !== true) return
    const { gen, data } = cxt
    const find = gen.scopeValue('func', { ref: findSame })
    const found = gen.const('_same', _`${find}(${data})`)
    cxt.setParams({ i: _`${found}.i`, j: _`${found}.j` })
    cxt.fail(_`${found} !== undefined`)
  })
  const among = (generate: Generate, listOf: (schema: unknown) => readonly unknown[]): Generate => {
    return (cxt, type) => {
      const values = listOf(cxt.schema)
      if (values.length <= 16 && values.every((value) => typeof value !== 'object' || value === null)) {
        return generate(cxt, type)
      }
      const test = cxt.gen.scopeValue('func', { ref: memberTest(values) })
      cxt.pass(_`${test}(${cxt.data})`)
    }
  }
  change('enum', (generate) => among(generate, (schema) => schema as readonly unknown[]))
  change('const', (generate) => among(generate, (schema) => [schema]))
  if (!ajv.opts.allErrors) change('properties', cheapFirst)
}

/**
 * In a check that ends at the first error: what tells the kind of an object is looked at before what is nested in it. Else a
 * tree whose nodes name their kind last would be looked at as each of the kinds, down to its leaves.
 */
function cheapFirst(generate: Generate): Generate {
  return (cxt, type) => {
    const entries = Object.entries(cxt.schema as Node)
    const sorted = entries.map(([name, one]) => ({ name, one, rank: rankOf(one) })).sort((a, b) => a.rank - b.rank)
    const properties = {}
    for (const { name, one: value } of sorted) {
      Object.defineProperty(properties, name, { value, enumerable: true, configurable: true })
    }
    Object.assign(cxt, { schema: properties })
    generate(cxt, type)
  }
}

function rankOf(schema: unknown): number {
  if (!isObject(schema)) return 0
  if ('const' in schema || 'enum' in schema) return 0
  return [...nodesOf(schema)].some((node) => '$ref' in node) ? 2 : 1
}

/** How many schemas one has within, itself included. */
const sizeOf = (schema: unknown) => (isObject(schema) ? [...nodesOf(schema)].length : 1)

function nodesOf(schema: Node): ReadonlySet<Node> {
  const nodes = new Set([schema])
  for (const node of nodes) for (const [, one] of schemasWithin(node)) if (isObject(one)) nodes.add(one)
  return nodes
}
