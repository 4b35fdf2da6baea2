import official from '@seriousme/openapi-schema-validator/schemas/v3.1/schema.json' with { type: 'json' }
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { OpenApiDocument } from 'framework'

interface Place {
  readonly path: string
  readonly value: unknown
}

/** The places of a document except for the data in it. */
function* places(value: unknown, path = '#'): Iterable<Place> {
  yield { path, value }
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    if (name.startsWith('x-')) continue
    yield* places(one, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
}

function resolve(document: unknown, ref: string): unknown {
  let at = document
  for (const part of ref.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    at =
      typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined
  }
  return at
}

const meta = new Ajv2020({ strict: false, validateFormats: false })
const openapi = new Ajv2020({ strict: false, allErrors: true })
formats.default(openapi)
openapi.addFormat('media-range', true)
const isOpenApi = openapi.compile(official)

/** Keys whose values are whole schemas. */
const isSchemaPlace = (path: string) => /\/(schema|components\/schemas\/[^/]+)$/.test(path)

/**
 * The mistakes in a document: by the official meta-schema of OpenAPI 3.1, by that of its schemas, by its references,
 * and by rules that no schema can express.
 */
export async function problemsOf(document: OpenApiDocument): Promise<string[]> {
  const problems: string[] = []
  const text = JSON.stringify(document)
  if (!isOpenApi(JSON.parse(text))) problems.push(`meta-schema: ${JSON.stringify(isOpenApi.errors)}`)
  const ids = new Set<string>()
  const shapes = new Set<string>()
  for (const [path, item] of Object.entries(document.paths)) {
    const shape = path.replace(/\{[^}]*\}/g, '{}')
    if (shapes.has(shape)) problems.push(`${path} is there twice under different names`)
    shapes.add(shape)
    const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!)
    for (const [method, operation] of Object.entries(item)) {
      if (ids.has(operation.operationId)) problems.push(`${operation.operationId} is there twice`)
      ids.add(operation.operationId)
      const given = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name)
      if ([...given].sort().join() !== [...names].sort().join()) problems.push(`${method} ${path} has ${given}`)
      const keys = (operation.parameters ?? []).map((one) => `${one.in} ${one.name}`)
      if (new Set(keys).size < keys.length) problems.push(`${method} ${path} has a parameter twice: ${keys}`)
    }
  }
  const schemes = document.components?.securitySchemes ?? {}
  for (const { path, value } of places(JSON.parse(text))) {
    if (isSchemaPlace(path) && !path.includes('/properties/') && !meta.validateSchema(value as object)) {
      problems.push(`${path}: ${meta.errorsText()}`)
    }
    if (/\/security\/\d+\/[^/]+$/.test(path) && !Object.hasOwn(schemes, path.split('/').at(-1)!)) {
      problems.push(`${path} names no scheme`)
    }
    const isReference =
      path.endsWith('/$ref') && typeof value === 'string' && !/\/(properties|const|default|example)\/\$ref$/.test(path)
    if (isReference && resolve(document, value) === undefined)
      problems.push(`${path} leads to ${value}, which is nothing`)
  }
  return problems
}
