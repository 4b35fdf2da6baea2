import { isDeepStrictEqual } from 'node:util'
import {
  defineErrors,
  isUpgradeAlone,
  type Kernel,
  type ListedPlugin,
  type ListedRoute,
  type Listing,
  type RouteOptions,
} from '../../../kernel/index.ts'
import { nonEmpty, Schemas } from '../../shared/descriptions/components.ts'
import type { Described } from '../../shared/descriptions/document-service.ts'
import { idWithout, isComponentName, Names, operationIdOf, tagOf } from '../../shared/descriptions/names.ts'
import { faultOf } from '../../shared/descriptions/options.ts'
import { templates } from '../../shared/descriptions/paths.ts'
import { type Policies, policiesOf } from '../../shared/descriptions/security.ts'
import { type DescribedFormat, describedFormat } from '../../shared/failures/formatted-failures.ts'
import { guardsOf } from '../../shared/http/guards.ts'
import { isObject, type Json, put, toPlain } from '../../shared/values/json.ts'
import { messageOf } from '../../shared/values/safely.ts'
import { componentKinds, type DescriptionOptions, type DescriptionSettings, descriptionOptions } from '../options.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiPathItem, OpenApiTag } from '../types.ts'
import { apidocOf, mergeBody, mergeParameters, plainMembers } from './apidoc.ts'
import { bodyOf } from './body.ts'
import { sharedResponses } from './built-in.ts'
import { tagsOf } from './forms.ts'
import type { Scene } from './operation-context.ts'
import { parametersOf } from './parameters.ts'
import { responsesOf } from './responses.ts'

const { OpenApiConflictError, OpenApiFragmentError } = defineErrors({
  OpenApiConflictError: (what: string, first: string, second: string) =>
    `the plugins "${first}" and "${second}" describe ${what} differently. Rename it in one of them, or define it in the option openapi of the application, which overrides both`,
  OpenApiFragmentError: (owner: string, what: string) => `the plugin "${owner}" has an invalid description: ${what}`,
})

/**
 * The fragments of all plugins, merged; `isTaken` marks names of the application, which take precedence.
 *
 * @throws OpenApiFragmentError for an invalid part, OpenApiConflictError naming both plugins if two have
 * different values under the same name.
 */
function fragmentsOf(plugins: readonly ListedPlugin[], isTaken: (kind: string, name: string) => boolean) {
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
  const fault = faultOf('openapi', fragment, ['describe', 'failures', 'security'], ['tags', 'components'])
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

const namesIn = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : [])

/**
 * Describes the routes of a server in OpenAPI 3.1.1.
 *
 * It works before the boot, with only the routes of the application, and afterwards also with those of plugins. A part that
 * cannot be described becomes `{}` with a note in its description; the document is always valid.
 *
 * @throws OptionError; OpenApiConflictError when two plugins describe a tag or a component of the same name differently;
 * OpenApiFragmentError when a plugin's description is invalid.
 * @example
 * import { Server } from 'framework'
 * import { describeServer } from 'framework/plugins/openapi'
 *
 * const server = new Server()
 * server.get('/users/:id', (req) => ({ id: req.params.id }))
 * const document = describeServer(server, { info: { title: 'Users', version: '2.0.0' } })
 */
export function describeServer(server: Kernel, options?: DescriptionOptions): OpenApiDocument {
  const settings = descriptionOptions.parse(options, 'describeServer')
  return describeListing(server.listing, settings, describedFormat(server.settings.errorFormat)).document
}

/** The same for a list of all registrations, with notes about parts that could not be described. */
export function describeListing(
  { routes, plugins }: Listing,
  options: DescriptionSettings,
  format?: DescribedFormat,
): Described<OpenApiDocument> {
  const notes = new Map<string, Described<OpenApiDocument>['notes'][number]>()
  const note = (route: string, why: string) => void notes.set(`${route}: ${why}`, { route, why })
  const fragments = checkPlugins(plugins, options)
  const own = componentsOf(fragments, (options.components ?? {}) as Json)
  const schemas = new Schemas(own.schemas, (why) => note('components', why))
  const { components: _components, include: _include, ...around } = options
  const { info, servers, security, externalDocs } = toPlain(around) as DescriptionOptions
  const tags = tagsOf([...(options.tags ?? []), ...fragments.tags]) as readonly OpenApiTag[] | undefined
  const place = (schema: unknown) => schemas.use(schema, 'output', 'Failure', (why) => note('errorFormat', why))
  const responses = sharedResponses(own.responses, place, format)
  const policies = policiesOf(security, own.securitySchemes)
  const hasComponent = (ref: string) => {
    const [, kind = '', component = ''] = /^#\/components\/(\w+)\/([\w.-]+)$/.exec(ref) ?? []
    if (kind !== 'responses') return namesIn(own[kind]).includes(component)
    if (responses.has(component)) responses.reference(component)
    return responses.has(component)
  }
  const scene = { hasFailures: options.failures, responses, hasComponent }
  const shared = { scene, schemas, policies, pathsOf: templates(), note }
  const entries = distinct(
    routes.filter((route) => isIncluded(route, options)).flatMap((route) => entriesOf(route, shared)),
  )

  const paths = pathsOf(entries)
  const asked = [...entries.flatMap(({ operation }) => operation.security ?? []), ...(security ?? [])].flatMap(namesIn)
  const { schemas: _, ...others } = own
  const rest = {
    ...others,
    responses: responses.all(),
    securitySchemes: policies.schemes(asked, (why) => note('the server', why)),
  }
  const finished = schemas.finish({ paths, rest })
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: { title: 'API', version: '1.0.0', ...info },
    ...(servers !== undefined && { servers }),
    paths: finished.document.paths,
    ...nonEmpty({ components: nonEmpty({ schemas: finished.schemas, ...finished.document.rest }) }),
    ...(security !== undefined && { security }),
    ...(tags !== undefined && tags.length > 0 && { tags }),
    ...(externalDocs !== undefined && { externalDocs }),
  }
  return { document, notes: [...notes.values()] }
}

/**
 * Checks the additions of plugins, without the application's own.
 *
 * @throws OpenApiConflictError, OpenApiFragmentError
 */
export function checkPlugins(plugins: readonly ListedPlugin[], { tags, components }: DescriptionSettings) {
  const given = (components ?? {}) as Json
  return fragmentsOf(plugins, (kind, name) =>
    kind === 'the tag' ? (tags ?? []).some((tag) => tag.name === name) : namesIn(given[kind]).includes(name),
  )
}

function isIncluded({ record, plugin }: ListedRoute, { include }: DescriptionSettings): boolean {
  const { method, path, options } = record
  // OpenAPI cannot describe messages, and a generated client would get a GET that is always refused.
  if (isUpgradeAlone(record)) return false
  return options.apidoc !== false && (include === undefined || include({ method, path, plugin, options }))
}

/** The components of plugins, with those of the application merged over them. Schemas are translated, not copied. */
function componentsOf({ components }: ReturnType<typeof checkPlugins>, given: Json): { [kind: string]: Json } {
  const all: { [kind: string]: Json } = { ...components }
  for (const [kind, named] of Object.entries(given)) {
    if (isObject(named)) all[kind] = { ...all[kind], ...named }
  }
  for (const [kind, named] of Object.entries(all)) if (kind !== 'schemas') all[kind] = toPlain(named) as Json
  return all
}

/** A plugin's description of a route; if it fails, only that plugin's part is lost. */
function contributionOf({ name, openapi }: ListedPlugin['definition'], options: RouteOptions, note: Scene['note']) {
  try {
    const sets: unknown = openapi?.describe?.(options) ?? []
    if (Array.isArray(sets) && sets.every(isObject)) return sets as RouteOptions[]
    note(`the description that the plugin "${name}" gives of it is not a list of route options`)
  } catch (error) {
    note(`the plugin "${name}" failed to describe it: ${messageOf(error)}`)
  }
  return []
}

/** An operation without its id, which depends on the ids of all others. */
type Unnamed = Omit<OpenApiOperation, 'operationId'>

/** Describes one route at one of its paths. */
function operationOf(scene: Scene, tag: string | undefined, policies: Policies): Unnamed {
  const apidoc = apidocOf(scene)
  const { tags, summary, description, security, ...plain } = plainMembers(apidoc, scene.note)
  const parameters = mergeParameters(scene, parametersOf(scene), apidoc.parameters)
  const requestBody = mergeBody(scene, bodyOf(scene), apidoc.requestBody)
  const asked = security ?? policies.of(scene.sets, scene.route)
  const operation: Json = {
    tags: tags ?? (tag === undefined ? undefined : [tag]),
    summary,
    description,
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody,
    responses: responsesOf(scene, apidoc),
    security: asked,
    ...plain,
  }
  return operation as unknown as Unnamed
}

type Entry = ReturnType<typeof entriesOf>[number]

/** What the operations of a document have in common. */
interface Shared {
  readonly scene: Pick<Scene, 'hasFailures' | 'responses' | 'hasComponent'>
  readonly schemas: Schemas
  readonly policies: Policies
  readonly pathsOf: ReturnType<typeof templates>
  readonly note: (route: string, why: string) => void
}

/** Describes one route at each of its paths. */
function entriesOf(route: ListedRoute, shared: Shared) {
  const { record, reachedBy, middlewares } = route
  const { method, options } = record
  const note = (why: string) => shared.note(`${method} ${record.path}`, why)
  const contributed = [...reachedBy.values()].flatMap(({ definition }) => contributionOf(definition, options, note))
  const sets: readonly RouteOptions[] = [options, ...guardsOf(middlewares), ...contributed]
  // The id that the route itself asks for.
  const wanted = sets
    .map(({ apidoc }) => (apidoc ? apidoc.operationId : undefined))
    .find((id) => typeof id === 'string')
  return shared.pathsOf(record).map((path) => {
    const { use, look } = shared.schemas.of(operationIdOf(method, path), note)
    const scene = { ...shared.scene, route, method, sets, pathParameters: path.parameters, use, look, note }
    return { method, path, wanted, note, operation: operationOf(scene, tagOf(path), shared.policies) }
  })
}

/** The first operation for each method and path. */
function distinct(entries: readonly Entry[]): Entry[] {
  const taken = new Set<string>()
  return entries.filter(({ method, path: { template }, note }) => {
    const isFirst = taken.size < taken.add(`${method} ${template}`).size
    if (!isFirst) note(`${method} ${template} is already described: OpenAPI cannot tell a parameter from a wildcard`)
    return isFirst
  })
}

/** The paths in order of registration, each operation with a unique id: ids that routes ask for take precedence. */
function pathsOf(entries: readonly Entry[]): { [path: string]: OpenApiPathItem } {
  const names = new Names()
  const ids = new Map<Entry, string>()
  for (const entry of [...entries].sort((a, b) => Number(b.wanted !== undefined) - Number(a.wanted !== undefined))) {
    const { method, path, wanted } = entry
    ids.set(entry, names.claim(wanted === undefined ? operationIdOf(method, path) : idWithout(wanted, path)))
  }
  const paths: Json = {}
  for (const entry of entries) {
    const { method, path, operation } = entry
    if (!Object.hasOwn(paths, path.template)) put(paths, path.template, {})
    const item = paths[path.template] as object
    put(item, method === 'QUERY' ? 'x-query' : method.toLowerCase(), { operationId: ids.get(entry), ...operation })
  }
  return paths as { [path: string]: OpenApiPathItem }
}
