import { flattened, nextOf, schemasOf, targetOf } from '../shared/schema/flat.ts'
import { isObject, type Node } from '../shared/schema/keywords.ts'
import { memberTest } from '../shared/schema/same.ts'
import { scalars } from './scalars.ts'
import { helpers, type Shape, scalarTypes } from './writer-helpers.ts'

const objectKeywords = ['properties', 'required', 'additionalProperties', 'patternProperties']

/** The types that a schema names or implies. */
export function typesOf(node: Node): string[] {
  const { type } = node
  const types = Array.isArray(type) ? type.map(String) : typeof type === 'string' ? [type] : []
  if (types.length === 0) {
    if (objectKeywords.some((keyword) => keyword in node)) types.push('object')
    else if ('items' in node || 'prefixItems' in node) types.push('array')
  }
  if (node.nullable === true && types.length > 0 && !types.includes('null')) types.push('null')
  return types
}

/** The schemas of the items of a list: of the first ones by their index, and of all others. */
export function itemsOf({ prefixItems, items, additionalItems }: Node) {
  if (Array.isArray(prefixItems)) return { tuple: prefixItems, rest: items }
  return Array.isArray(items) ? { tuple: items, rest: additionalItems } : { tuple: undefined, rest: items }
}

/**
 * Writes a schema as functions, one for each object, array or combination in it.
 *
 * It generates code instead of closures: reading members by constant names is three times as fast. No string of a schema becomes
 * code: names are inserted as JSON literals, everything else by its index in a list.
 */
class Writer {
  readonly #root: Node
  readonly #names = new Map<unknown, string>()
  readonly #functions: string[] = []
  readonly #wrapped = new Set<string>()
  readonly #branching: ReadonlySet<unknown>
  readonly constants: unknown[] = []

  /** The root of a flat schema. */
  constructor(root: Node) {
    this.#root = root
    this.#branching = branchingOf(root)
  }

  get source(): string {
    return this.#functions.join('\n')
  }

  /** The name of the function for a node. */
  name(node: unknown): string {
    const there = this.#names.get(node)
    if (there !== undefined) return there
    const name = `f${this.#names.size}`
    this.#names.set(node, name)
    this.#functions.push(`function ${name}(v){${this.#body(node)}}`)
    return name
  }

  /** The code that calls it. Parts that branch into themselves would check many values repeatedly, so their results are remembered. */
  #call(node: unknown, isBranch = false): string {
    const name = this.name(node)
    if (!this.#branching.has(node) || !(isBranch || isCombination(node as Node))) return name
    const wrapped = `o${name}`
    if (!this.#wrapped.has(wrapped)) {
      this.#wrapped.add(wrapped)
      this.#functions.push(`const ${wrapped}=once(${name});`)
    }
    return wrapped
  }

  #constant(value: unknown): string {
    this.constants.push(value)
    return `c[${this.constants.length - 1}]`
  }

  #body(node: unknown): string {
    if (node === true) return 'return v'
    if (!isObject(node)) return `fail('is not allowed')`
    const types = typesOf(node)
    if (isReference(node, types)) return `return ${this.#call(referred(node, this.#root))}(v)`
    let code = 'let r=v;'
    if (types.length > 0) code += this.#types(types, node)
    if (node.$ref !== undefined) code += this.#merge(`${this.#call(referred(node, this.#root), true)}(v)`, types)
    if (Array.isArray(node.allOf))
      for (const one of node.allOf) code += this.#merge(`${this.#call(one, true)}(v)`, types)
    for (const keyword of ['anyOf', 'oneOf']) {
      const list = node[keyword]
      if (Array.isArray(list)) code += this.#merge(this.#oneOf(list), types)
    }
    if (isObject(node.if)) code += this.#condition(node, types)
    return `${code}${this.#values(node)}return r`
  }

  /** The code for another schema that applies to the same value: its result is merged into an object, and otherwise replaces the value. */
  #merge(call: string, types: string[]): string {
    const isScalar = types.length > 0 && !types.includes('object') && !types.includes('array')
    return isScalar ? `${call};` : `r=merge(r,${call},v);`
  }

  #oneOf(list: unknown[]): string {
    // Without objects or arrays, there is nothing to pick; constants are looked up.
    if (list.every((one) => isObject(one) && isScalar(one.const))) {
      return `among(v,${this.#constant(new Set(list.map((one) => (one as Node).const)))})`
    }
    const nullFirst = [...list].sort((a, b) => Number(isNull(b)) - Number(isNull(a)))
    return `first(v,[${nullFirst.map((one) => this.#call(one, true)).join()}])`
  }

  #condition(node: Node, types: string[]): string {
    const branch = (one: unknown) => (one === undefined ? '' : this.#merge(`${this.#call(one, true)}(v)`, types))
    return `if(fits(v,${this.#call(node.if, true)})){${branch(node.then)}}else{${branch(node.else)}}`
  }

  #values(node: Node): string {
    const list = 'const' in node ? [node.const] : Array.isArray(node.enum) ? node.enum : undefined
    if (list === undefined) return ''
    return list.every(isScalar)
      ? `among(r,${this.#constant(new Set(list))});`
      : `alike(r,${this.#constant(memberTest(list))});`
  }

  /** The code that determines which of the types a value has. */
  #types(types: string[], node: Node): string {
    if (types.length === 1) return this.#type(types[0]!, node)
    const cases = types
      .filter((type) => type !== 'null')
      .sort((a, b) => Number(scalarTypes.has(b)) - Number(scalarTypes.has(a)))
      .map((type) => `case ${JSON.stringify(type)}:{${this.#type(type, node)}break}`)
    return `switch(kind(v,${this.#constant(types)})){case "null":r=null;break;${cases.join('')}}`
  }

  #type(type: string, node: Node): string {
    if (type === 'null') return `if(v!==null)fail('must be null');r=null;`
    if (scalarTypes.has(type)) return `${this.#scalar(type, 'v', node)}r=v;`
    if (type === 'object') return this.#object(node)
    if (type === 'array') return this.#array(node)
    throw new TypeError(`there is no type ${JSON.stringify(type)}`)
  }

  #scalar(type: string, name: string, node: Node): string {
    const format = type === 'string' && typeof node.format === 'string' ? `,${JSON.stringify(node.format)}` : ''
    return `if(${misses(type, name)})${name}=s.${type}(${name}${format});`
  }

  /** For a schema that is only a type, the test without a call; `first` comes before a closer check. */
  #plainScalar(node: unknown, name: string, first = ''): string | undefined {
    if (!isObject(node) || [...combining, '$ref', 'enum', 'const'].some((keyword) => keyword in node)) return undefined
    const types = typesOf(node)
    const type = types.find((one) => one !== 'null')
    if (type === undefined || !scalarTypes.has(type)) return undefined
    if (types.length === 1) return `if(${misses(type, name)}){${first}${this.#scalar(type, name, node)}}`
    if (types.length > 2 || !types.includes('null')) return undefined
    return `if(${name}!==null&&${misses(type, name)}){${first}${name}=${this.#call(node)}(${name})}`
  }

  /**
   * All members go into one literal: the result has one hidden class from the start, and missing members
   * are `undefined` in it, which JSON leaves out.
   */
  #object(node: Node): string {
    const properties = isObject(node.properties) ? node.properties : {}
    const required = new Set(Array.isArray(node.required) ? node.required.map(String) : [])
    let code = `${read}if(typeof v!=='object'||v===null||Array.isArray(v))fail('must be an object');let o,x,k='';try{`
    const members: string[] = []
    for (const name of new Set([...Object.keys(properties), ...required])) {
      const isKnown = Object.hasOwn(properties, name)
      const variable = isKnown ? `x${members.length}` : 'x'
      code += this.#property(variable, name, isKnown ? properties[name] : undefined, required.has(name), isKnown)
      // Written without brackets, the key would set the prototype.
      if (isKnown) members.push(`${name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)}:${variable}`)
    }
    code += `o={${members.join()}};${this.#others(node, Object.keys(properties))}}catch(e){throw passing(e,k)}r=o;`
    return code
  }

  #property(x: string, name: string, node: unknown, required: boolean, known: boolean): string {
    const key = JSON.stringify(name)
    const fallback = isObject(node) && node.default !== undefined ? `${x}=${this.#constant(node.default)};` : ''
    const missing = required ? `if(${x}===undefined)fail('is missing');` : ''
    const value = name in Object.prototype ? `own(v,${key})` : `v[${key}]`
    const start = `k=${key};${known ? 'let ' : ''}${x}=${value};${fallback === '' ? '' : `if(${x}===undefined)${fallback}`}`
    if (!known) return start + missing
    // One test for a correct value; only a value that fails it may be missing.
    const scalar = this.#plainScalar(node, x, required ? missing : `if(${x}!==undefined)`)
    if (scalar !== undefined) return start + scalar
    const take = `${x}=${this.#call(node)}(${x});`
    return required ? `${start}${missing}${take}` : `${start}if(${x}!==undefined){${take}}`
  }

  /** The code for properties that the schema does not name: they are sent only where the schema allows it. */
  #others(node: Node, names: string[]): string {
    const patterns = isObject(node.patternProperties) ? Object.entries(node.patternProperties) : []
    const rest = node.additionalProperties
    const takesRest = rest === true || isObject(rest)
    if (patterns.length === 0 && !takesRest) return ''
    const tests = patterns.map(
      ([pattern, one]) =>
        `if(${this.#constant(new RegExp(pattern, 'u'))}.test(k)){put(o,k,${this.#call(one)}(x));continue}`,
    )
    const last = takesRest ? `put(o,k,${this.#call(rest)}(x));` : ''
    return `for(k of Object.keys(v)){if(${this.#constant(new Set(names))}.has(k))continue;x=v[k];if(x===undefined)continue;${tests.join('')}${last}}`
  }

  #array(node: Node): string {
    const { tuple, rest } = itemsOf(node)
    const list = `${read}if(!Array.isArray(v))fail('must be an array');let i=0;try{`
    const start = `${list}const a=listLike(v);`
    const end = 'r=a}catch(e){throw passing(e,i)}'
    if (tuple === undefined) {
      if (rest === undefined || rest === true) return `${start}for(;i<a.length;i++)a[i]=v[i];${end}`
      const scalar = this.#plainScalar(rest, 'x')
      if (scalar === undefined) return `${start}for(;i<a.length;i++)a[i]=${this.#call(rest)}(v[i]);${end}`
      // A list of scalars is sent as it is, and copied from the first item that is converted: a third of the work for 1000 small lists.
      const copied = 'if(a===v&&x!==y){a=listLike(v);for(let j=0;j<i;j++)a[j]=v[j]}if(a!==v)a[i]=x'
      return `${list}let a=v;for(const n=v.length;i<n;i++){let x=v[i];const y=x;${scalar}${copied}}${end}`
    }
    const heads = tuple.map((one, index) => `if(a.length>${index}){i=${index};a[i]=${this.#call(one)}(v[i])}`)
    const tail =
      isObject(rest) || rest === true ? `a[i]=${this.#call(rest)}(v[i])` : `fail('exceeds the items of the schema')`
    return `${start}${heads.join('')}for(i=${tuple.length};i<a.length;i++){${tail}}${end}`
  }
}

/** Code that reads the value of an object in JSON, if the object defines one. */
const read = `if(typeof v==='object'&&v!==null&&v.toJSON!==undefined)v=plain(v);`

/** Code that is true for a value without the type. */
function misses(type: string, name: string): string {
  if (type === 'number') return `!Number.isFinite(${name})`
  if (type === 'integer') return `!Number.isInteger(${name})`
  return `typeof ${name}!=='${type}'`
}

const isScalar = (value: unknown) => value === null || ['string', 'number', 'boolean'].includes(typeof value)
const isNull = (node: unknown) => isObject(node) && (node.type === 'null' || node.const === null)

/** The target of a schema's reference. */
export function referred({ $ref }: Node, root: Node): unknown {
  const target = targetOf($ref, root)
  if (target === undefined) throw new TypeError(`the reference ${JSON.stringify($ref)} points outside the schema`)
  return target
}

export const combining = ['allOf', 'anyOf', 'oneOf', 'if']

/** Whether a schema is only a reference. */
const isReference = (node: Node, types: readonly string[]) =>
  node.$ref !== undefined && types.length === 0 && ![...combining, 'const', 'enum'].some((keyword) => keyword in node)

/** Whether several schemas in a schema check the same value. */
const isCombination = (node: Node) =>
  combining.some((keyword) => keyword in node) || (node.$ref !== undefined && !isReference(node, typesOf(node)))

/** The schemas that have below them, at any depth, a combination that contains itself. */
function branchingOf(root: Node): ReadonlySet<unknown> {
  const around = new Map<Node, Node[]>()
  for (const node of schemasOf(root)) {
    for (const [, one] of nextOf(node, root)) around.set(one, [...(around.get(one) ?? []), node])
  }
  const above = (start: Node) => {
    const found = new Set<Node>(around.get(start))
    for (const node of found) for (const one of around.get(node) ?? []) found.add(one)
    return found
  }
  const branching = new Set<Node>()
  for (const node of around.keys()) {
    if (branching.has(node) || !isCombination(node)) continue
    const found = above(node)
    if (found.has(node)) for (const one of found) branching.add(one)
  }
  return branching
}

function write(schema: object, entryOf: (writer: Writer, root: Node) => string): unknown {
  const { schema: root, problem } = flattened(schema)
  if (problem !== undefined) throw new TypeError(problem)
  const writer = new Writer(root)
  const entry = entryOf(writer, root)
  const source = `"use strict";const {${Object.keys(helpers).join()}}=h;${writer.source};return ${entry}`
  return new Function('h', 'c', 's', source)(helpers, writer.constants, scalars)
}

/**
 * Compiles a JSON Schema into a function that picks the members of the schema.
 *
 * @throws for a reference that cannot be resolved and a type that does not exist.
 */
export function compileShape(schema: object): Shape {
  return write(schema, (writer, root) => writer.name(root)) as Shape
}

/** The same for every schema within the flat form of a schema. */
export function compileShapes(schema: object): ReadonlyMap<unknown, Shape> {
  let nodes: unknown[] = []
  const list = write(schema, (writer, root) => {
    nodes = [...schemasOf(root), true, false]
    return `[${nodes.map((node) => writer.name(node)).join()}]`
  }) as Shape[]
  return new Map(nodes.map((node, at) => [node, list[at]!]))
}
