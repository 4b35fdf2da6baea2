import type { ListedPlugin, RouteOptions } from '../../../kernel/index.ts'
import { isObject, type Json, mergeOver } from '../../shared/values/json.ts'
import { messageOf } from '../../shared/values/safely.ts'
import type { OpenApiReference, OpenApiResponse } from '../types.ts'
import type { Scene } from './operation-context.ts'

/** The responses that plugins of a route send instead of its handler, for statuses that are not described otherwise. */
export function failuresOf(
  scene: Scene,
  isFree: (status: string) => boolean,
): { [status: string]: OpenApiResponse | OpenApiReference } {
  if (!scene.hasFailures) return {}
  const named = new Map<string, Set<string>>()
  for (const plugin of scene.route.reachedBy.values()) {
    for (const [status, name] of declaredBy(plugin, scene)) {
      if (isFree(status)) named.set(status, (named.get(status) ?? new Set()).add(name))
    }
  }
  const { responses } = scene
  const entries = [...named].map(([status, names]) => {
    const [first = '', ...others] = names
    if (others.length === 0) return [status, responses.failureReference(first)]
    return [status, combined([...names].map((name) => responses.failure(name)))]
  })
  return Object.fromEntries(entries)
}

/** The valid responses of one plugin, over all options that describe the route. */
function declaredBy({ definition, settings }: ListedPlugin, scene: Scene): [status: string, name: string][] {
  const { method, path, options } = scene.route.record
  const declare = definition.openapi?.failures
  if (declare === undefined) return []
  // A set with responses of its own also describes the response to an invalid request.
  const describesItself = (set: RouteOptions) =>
    set !== options && set.apidoc !== false && set.apidoc?.responses !== undefined
  const declarations: [string, string][] = []
  try {
    for (const set of scene.sets) {
      if (describesItself(set)) continue
      const declared: unknown = declare({ method, path, options: { ...options, ...set }, settings })
      const all = isObject(declared) ? (Object.entries(declared) as [string, string][]) : undefined
      declarations.push(...(all ?? []).filter(([, name]) => name !== undefined))
      if (all === undefined)
        scene.note(`the description that the plugin "${definition.name}" gives of its failures is not an object`)
    }
  } catch (error) {
    scene.note(`the plugin "${definition.name}" failed to describe its failures: ${messageOf(error)}`)
  }
  return declarations.filter(([status, name]) => {
    const isKnown = /^[45]\d\d$/.test(status) && typeof name === 'string' && scene.responses.has(name)
    if (!isKnown)
      scene.note(
        `the plugin "${definition.name}" describes its response ${status} as ${JSON.stringify(name)}, which is not a response`,
      )
    return isKnown
  })
}

/** Combines several responses with the same status into one. */
function combined(responses: readonly OpenApiResponse[]): OpenApiResponse {
  const description = responses.map((one) => one.description).join(' ')
  const headers = responses.reduce<Json>((all, one) => mergeOver(all, (one.headers ?? {}) as Json), {})
  const types = new Set(responses.flatMap(({ content = {} }) => Object.keys(content)))
  const content = Object.fromEntries(
    [...types].map((type) => {
      const schemas = [
        ...new Set(responses.map((one) => one.content?.[type]?.schema).filter((one) => one !== undefined)),
      ]
      return [type, schemas.length === 0 ? {} : { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } }]
    }),
  )
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(types.size > 0 && { content }),
  } as OpenApiResponse
}
