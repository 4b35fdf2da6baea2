import type { RouteOptions } from '../../../kernel/index.ts'
import { isHeaderName, isRequired, membersOf, schemaOf } from '../../shared/descriptions/members.ts'
import { withBody } from '../../shared/http/body-parser.ts'
import { isObject } from '../../shared/values/json.ts'
import type { OpenApiMediaType, OpenApiRequestBody, OpenApiSchema } from '../types.ts'
import { type Scene, schemasOf } from './operation-context.ts'

/** The body of an operation by its schemas, in each form that the plugins of the route read. */
export function bodyOf(scene: Scene): OpenApiRequestBody | undefined {
  const { route, method } = scene
  const bodies = schemasOf(scene, 'body')
  const upload = uploadOf(scene)
  const schemas = bodies.map((schema) => (upload && fieldsOf(scene, schema)) ?? scene.use(schema, 'input', 'body'))
  if (withBody.has(method) || bodies.length > 0) schemas.push(...bodiesOfAll(scene, bodies))
  if (schemas.length === 0 && upload === undefined) return undefined
  const schema = (schemas.length > 1 ? { allOf: schemas } : schemas[0]) as OpenApiSchema | undefined
  // A validator may accept a request without a body; a JSON Schema describes an existing one.
  const required = bodies.some((one) => (one as Optional | null)?._zod?.optin !== 'optional')
  if (upload !== undefined) {
    return { required: true, content: { 'multipart/form-data': { schema: formOf(schema, upload) } } }
  }
  const content: { [mediaType: string]: OpenApiMediaType } = {}
  const reads = (plugin: string) => route.reachedBy.has(plugin)
  if (reads('json') || !reads('urlencoded')) content['application/json'] = { schema }
  if (reads('urlencoded') && (!reads('json') || bodies.every((one) => isForForms(scene, one)))) {
    content['application/x-www-form-urlencoded'] = { schema }
  }
  return { ...(required && { required }), content }
}

/** Fields whose schema forbids additional ones: files come in addition, and must not be forbidden. */
function fieldsOf(scene: Scene, schema: unknown): unknown {
  const looked = scene.look(schema, 'body')
  return isObject(looked) && looked.additionalProperties === false
    ? { ...looked, additionalProperties: undefined }
    : undefined
}

/** Whether a form can carry the members of a body: a form contains strings, which are not converted. */
function isForForms(scene: Scene, schema: unknown): boolean {
  // A custom validator may accept a string where its description says a number.
  if (typeof schema !== 'object' || schema === null || '~standard' in schema) return true
  const looked = scene.look(schema, 'body')
  const root = schemaOf(looked)
  if (isObject(root) && root.type !== undefined && ![root.type].flat().includes('object')) return false
  const members = membersOf(looked)
  return [...members.required].every(
    (name) => !isRequired(members, name) || takesText(members.properties.get(name), new Set()),
  )
}

/** Whether a member may be a string, or a list of strings. */
function takesText(member: unknown, open: ReadonlySet<unknown>): boolean {
  const own = schemaOf(member)
  // A list of itself ends somewhere.
  if (!isObject(own) || open.has(own)) return own !== false
  const takes = (one: unknown) => takesText(one, new Set(open).add(own))
  const values = 'const' in own ? [own.const] : own.enum
  if (Array.isArray(values) && !values.some((one) => typeof one === 'string' || Array.isArray(one))) return false
  const unions = [own.anyOf, own.oneOf].filter((one) => Array.isArray(one))
  if (!unions.every((union) => union.some(takes)) || (Array.isArray(own.allOf) && !own.allOf.every(takes))) return false
  const types = [own.type ?? 'string'].flat()
  return types.includes('string') || (types.includes('array') && takes(own.items))
}

/** The part of an `all` schema for the body: its members except headers. */
function bodiesOfAll(scene: Scene, bodies: readonly unknown[]): unknown[] {
  if (bodies.length > 0) return []
  return schemasOf(scene, 'all').map((schema) => {
    const { properties, required } = membersOf(scene.look(schema, 'all'))
    if (![...properties.keys()].some(isHeaderName)) return scene.use(schema, 'input', 'all')
    const inBody = [...properties].filter(([name]) => !isHeaderName(name))
    const needed = inBody.map(([name]) => name).filter((name) => required.has(name))
    return {
      type: 'object',
      properties: Object.fromEntries(inBody),
      ...(needed.length > 0 && { required: needed }),
    }
  })
}

interface Optional {
  readonly _zod?: { readonly optin?: unknown }
}

interface Upload {
  readonly maxFiles?: number
}

function uploadOf({ route }: Scene): Upload | undefined {
  const { upload } = route.record.options as RouteOptions & { upload?: unknown }
  if (!isObject(upload)) return undefined
  return { ...(route.reachedBy.get('upload')?.options as object | undefined), ...upload }
}

/** The schema of a form with files, whose fields may have any names. */
function formOf(fields: OpenApiSchema | undefined, { maxFiles = 10 }: Upload): OpenApiSchema {
  const file = { type: 'string', format: 'binary' }
  const files = {
    type: 'object',
    properties: {
      files: {
        type: 'array',
        items: file,
        maxItems: maxFiles,
        description: `Up to ${maxFiles} ${maxFiles === 1 ? 'file' : 'files'}; fields with other names are accepted as well.`,
      },
    },
  }
  return fields === undefined ? files : { allOf: [fields, files] }
}
