import { didYouMean, type Middleware, type OptionPlace, quoted, type RouteOptions } from '../../../kernel/index.ts'
import { type AnyCheck, option } from '../options/index.ts'
import { isObject, type Json } from '../values/json.ts'
import { isAddress, isComponentName } from './names.ts'

export const text = option.value<string>('text', (given) => typeof given === 'string')
export const url = option.value<string>('an address', isAddress)

/** An object of a document, with these members and any that begin with `x-`. */
export function extensible<Fields extends option.Members>(members: Fields) {
  const known = Object.keys(members)
  return option.shape(members, (name, given, place): unknown => {
    return name.startsWith('x-') ? given : place.unknown(name, known)
  })
}

const externalDocs = extensible({ url: url.required(), description: text })

/** Information about an API: what every format has, with what one of them adds to it and to its licence. @internal */
export const infoWith = <More extends option.Members>(more: More, licence: option.Members = {}) =>
  extensible({
    ...{ title: text, version: text, description: text, termsOfService: url, ...more },
    contact: extensible({ name: text, url, email: text }).optional(),
    license: extensible({ name: text.required(), url, ...licence }).optional(),
  }).says('an object')

const variable = extensible({ default: text.required(), enum: option.list(text), description: text })
export const server = extensible({ url: url.required(), description: text, variables: option.record(variable) })
const tag = extensible({ name: text.required(), description: text, externalDocs: externalDocs.optional() })

const component = option.value<object | boolean>('a component')
const names = 'names of letters, digits, ".", "-" and "_"'

/** Notes names that references could not use. */
function checkNames<Named extends object>(named: Named, place: OptionPlace): Named {
  const wrong = Object.keys(named).find((name) => !isComponentName(name))
  if (wrong !== undefined) place.wrong(quoted(wrong), names)
  return named
}

const requirement = option.record(option.list(text), 'an object of scopes by name').into(checkNames)

const anything = option.value<unknown>('anything')

/** An object of a document with these names and any that begin with `x-`; the values are read where the document is made. */
export const named = (...names: readonly string[]) =>
  extensible(Object.fromEntries(names.map((name) => [name, anything])))

const shown = ['description', 'required', 'deprecated', 'style', 'explode', 'schema', 'example', 'examples', 'content']
const ofScheme = ['type', 'name', 'in', 'scheme', 'bearerFormat', 'flows', 'openIdConnectUrl']
const reference = ['$ref', 'summary', 'description']
export const parameter = named('name', 'in', ...shown, 'allowEmptyValue', 'allowReserved', ...reference)
export const requestBody = named('description', 'content', 'required', 'schema', ...reference)
export const response = named('description', 'headers', 'content', 'links', 'schema', ...reference)

/** The forms of components that are not free. */
const forms: { readonly [kind: string]: AnyCheck } = {
  parameters: parameter,
  requestBodies: requestBody,
  responses: response,
  headers: named(...shown, ...reference),
  examples: named('value', 'externalValue', ...reference),
  links: named('operationRef', 'operationId', 'parameters', 'requestBody', 'server', ...reference),
  securitySchemes: named(...ofScheme, ...reference),
  asyncSecuritySchemes: named(...ofScheme, 'scopes', ...reference),
}

/** The components of one kind by name; the forms of schemas, of callbacks and of path items are free. */
export const componentsOfKind = (kind: string) =>
  option.record((forms[kind] ?? component) as typeof component, 'an object').into(checkNames)

/** Parts that a description of any format has. @internal */
export const commonMembers = {
  security: option.list(requirement).says('a list of objects'),
  tags: option.list(tag).says('a list of objects { name, description }'),
  externalDocs: externalDocs.says('an object').optional(),
}

/** The options that restrict access to a description. */
export interface AccessOptions {
  /** Middlewares that run before it is sent, and decide who may read it. */
  middlewares?: readonly Middleware[]
  /** The policies that protect it, as on any route. */
  policy?: RouteOptions['policy']
  /** Whether everyone may read it: if so, neither the boot in production nor the doctor reports that no option guards it. Default false. */
  public?: boolean
}

export const accessMembers = {
  middlewares: option.list(option.fn<Middleware>('a middleware')).says('a list of middlewares').guard(),
  // It is checked by the plugin that reads it on every route.
  policy: option.value<RouteOptions['policy']>('a policy').guard(),
  public: option.flag().default(false),
}

/** The path of a description, whose routes are below it, and the access to it. @internal */
export const servedMembers = (path: string) => ({
  path: option.name(/^\/[^:*?#]*[^:*?#/]$/, `a path below "/" without parameters, "${path}" for example`).default(path),
  ...accessMembers,
})

/** The settings of these members, with the options of the routes that serve the description; it consists of all others. */
export function servedOf<Given extends AccessOptions & { path: string; public: boolean }>(given: Given) {
  const { path, middlewares, policy, public: isPublic, ...description } = given
  // Its presence decides and not its value: the plugin that reads it refuses `null`, which must not leave the page open.
  const own: RouteOptions = { ...(middlewares && { middlewares }), ...(policy !== undefined && { policy }) }
  return { path, isPublic, routeOptions: { ...own, apidoc: false, tenant: false } as RouteOptions, description }
}

/** Finds what is wrong with the members of a plugin's fragment: the error is for the plugin's author, not for a reader of the document. */
export function faultOf(kind: string, fragment: unknown, functions: readonly string[], data: readonly string[] = []) {
  if (!isObject(fragment)) return `its ${kind} is not an object`
  const members = [...data, ...functions]
  const unknown = Object.keys(fragment).find((name) => !members.includes(name))
  if (unknown !== undefined) {
    return `"${kind}.${unknown}" is not a member.${didYouMean(unknown, members)} It takes ${members.join(', ')}`
  }
  const wrong = functions.find((name) => (fragment as Json)[name] !== undefined && typeof fragment[name] !== 'function')
  return wrong && `its ${kind}.${wrong} is not a function`
}
