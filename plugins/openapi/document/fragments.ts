import { isDeepStrictEqual } from 'node:util'
import { defineError, type ListedPlugin, nearest } from '../../../kernel/index.ts'
import { isComponentName } from '../../shared/descriptions/names.ts'
import { isObject, type Json, put } from '../../shared/values/json.ts'
import { componentKinds } from '../options.ts'
import type { OpenApiTag } from '../types.ts'

const OpenApiConflictError = defineError(
  'OpenApiConflictError',
  (what: string, first: string, second: string) =>
    `the plugins "${first}" and "${second}" describe ${what} differently. Rename it in one of them, or define it in the option openapi of the application, which overrides both`,
)

const OpenApiFragmentError = defineError(
  'OpenApiFragmentError',
  (owner: string, what: string) => `the plugin "${owner}" has an invalid description: ${what}`,
)

/** What the definitions of plugins add to a description. */
export interface Fragments {
  readonly tags: readonly OpenApiTag[]
  /** Components by kind and name. */
  readonly components: ReadonlyMap<string, ReadonlyMap<string, unknown>>
}

interface Owned {
  readonly value: unknown
  readonly owner: string
}

/**
 * The fragments of all plugins, merged; `isTaken` marks names of the application, which take precedence.
 *
 * @throws OpenApiFragmentError for an invalid part, OpenApiConflictError naming both plugins if two have
 * different values under the same name.
 */
export function fragmentsOf(
  plugins: readonly ListedPlugin[],
  isTaken: (kind: string, name: string) => boolean,
): Fragments {
  const tags = new Map<string, Owned>()
  const components = new Map<string, Map<string, Owned>>()
  const claim = (owned: Map<string, Owned>, kind: string, name: string, value: unknown, owner: string) => {
    if (isTaken(kind, name)) return
    const there = owned.get(name)
    if (there !== undefined && !isDeepStrictEqual(there.value, value)) {
      throw OpenApiConflictError(`${kind} "${name}"`, there.owner, owner)
    }
    owned.set(name, { value, owner: there?.owner ?? owner })
  }
  for (const { definition } of plugins) {
    const { openapi, name: owner } = definition
    const wrong = faultOf(openapi)
    if (wrong !== undefined) throw OpenApiFragmentError(owner, wrong)
    for (const tag of openapi?.tags ?? []) claim(tags, 'the tag', tag.name, tag, owner)
    for (const [kind, named] of Object.entries(openapi?.components ?? {})) {
      const owned = components.get(kind) ?? new Map<string, Owned>()
      components.set(kind, owned)
      for (const [name, value] of Object.entries(named)) claim(owned, kind, name, value, owner)
    }
  }
  return {
    tags: [...tags.values()].map(({ value }) => value as OpenApiTag),
    components: new Map([...components].map(([kind, owned]) => [kind, valuesOf(owned)])),
  }
}

const members = ['tags', 'components', 'describe', 'failures']

/** Finds the invalid part of a plugin's fragment: the error is for the plugin's author, not for a reader of the document. */
function faultOf(fragment: unknown): string | undefined {
  if (fragment === undefined) return undefined
  if (!isObject(fragment)) return 'its openapi is not an object'
  const unknown = Object.keys(fragment).find((name) => !members.includes(name))
  if (unknown !== undefined) {
    const near = nearest(unknown, members)
    return `"openapi.${unknown}" is not a member.${near === undefined ? '' : ` Did you mean "${near}"?`} It takes ${members.join(', ')}`
  }
  const { tags = [], components = {} } = fragment
  if (!Array.isArray(tags) || !tags.every((tag) => isObject(tag) && typeof tag.name === 'string')) {
    return 'its tags are not a list of objects { name, description }'
  }
  if (!isObject(components)) return 'its components are not an object'
  for (const [kind, named] of Object.entries(components)) {
    if (!componentKinds.includes(kind))
      return `there are no components of the kind "${kind}", only ${componentKinds.join(', ')}`
    if (!isObject(named)) return `its components.${kind} are not an object`
    for (const [name, value] of Object.entries(named)) {
      if (!isComponentName(name)) {
        return `components.${kind} has the name "${name}"; letters, digits, ".", "-" and "_" are allowed`
      }
      if (!isObject(value)) return `its components.${kind}.${name} is not an object`
    }
  }
  const wrong = (['describe', 'failures'] as const).find(
    (name) => fragment[name] !== undefined && typeof fragment[name] !== 'function',
  )
  return wrong && `its ${wrong} is not a function`
}

function valuesOf(owned: ReadonlyMap<string, Owned>): Map<string, unknown> {
  return new Map([...owned].map(([name, { value }]) => [name, value]))
}

/** Converts a map of maps to an object of objects. */
export function toObject(map: ReadonlyMap<string, unknown>): Json {
  const object: Json = {}
  for (const [name, value] of map) put(object, name, value)
  return object
}

export const namesIn = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : [])
