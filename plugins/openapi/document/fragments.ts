import { isDeepStrictEqual } from 'node:util'
import { defineErrors, type ListedPlugin } from '../../../kernel/index.ts'
import { faultOf } from '../../shared/descriptions/fragment.ts'
import { isComponentName } from '../../shared/descriptions/names.ts'
import { isObject, type Json, put } from '../../shared/values/json.ts'
import { componentKinds } from '../options.ts'
import type { OpenApiTag } from '../types.ts'

const { OpenApiConflictError, OpenApiFragmentError } = defineErrors({
  OpenApiConflictError: (what: string, first: string, second: string) =>
    `the plugins "${first}" and "${second}" describe ${what} differently. Rename it in one of them, or define it in the option openapi of the application, which overrides both`,
  OpenApiFragmentError: (owner: string, what: string) => `the plugin "${owner}" has an invalid description: ${what}`,
})

/** What the definitions of plugins add to a description. */
export interface Fragments {
  readonly tags: readonly OpenApiTag[]
  /** Components by kind and name. */
  readonly components: { readonly [kind: string]: Json }
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
  const tags: OpenApiTag[] = []
  const components: { [kind: string]: Json } = {}
  const claimed = new Map<string, { readonly value: unknown; readonly owner: string }>()
  /** Whether a value is to be added. */
  const claim = (kind: string, name: string, value: unknown, owner: string) => {
    const key = `${kind} "${name}"`
    const there = claimed.get(key)
    if (isTaken(kind, name)) return false
    if (there !== undefined && !isDeepStrictEqual(there.value, value))
      throw OpenApiConflictError(key, there.owner, owner)
    claimed.set(key, there ?? { value, owner })
    return there === undefined
  }
  for (const { definition } of plugins) {
    const { openapi, name: owner } = definition
    const wrong = openapi === undefined ? undefined : faultIn(openapi)
    if (wrong !== undefined) throw OpenApiFragmentError(owner, wrong)
    for (const tag of openapi?.tags ?? []) if (claim('the tag', tag.name, tag, owner)) tags.push(tag)
    for (const [kind, named] of Object.entries(openapi?.components ?? {})) {
      components[kind] ??= {}
      for (const [name, value] of Object.entries(named)) {
        if (claim(kind, name, value, owner)) put(components[kind], name, value)
      }
    }
  }
  return { tags, components }
}

function faultIn(fragment: unknown): string | undefined {
  const fault = faultOf('openapi', fragment, ['describe', 'failures'], ['tags', 'components'])
  if (fault !== undefined || !isObject(fragment)) return fault
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
  return undefined
}

export const namesIn = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : [])
