import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { AsyncApiDocument } from 'framework/plugins/asyncapi'

const official = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object

const ajv = new Ajv({ strict: false, allErrors: true })
formats.default(ajv)
const isAsyncApi = ajv.compile(official)
const draft7 = new Ajv({ strict: false })
formats.default(draft7)

function resolve(document: unknown, ref: string): unknown {
  let at = document
  for (const part of ref.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    at =
      typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined
  }
  return at
}

function* references(value: unknown): Iterable<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    if (name === '$ref' && typeof one === 'string') yield one
    else yield* references(one)
  }
}

/**
 * The mistakes in a document: by the official schema of AsyncAPI 3.0, by its references, by rules that the schema does not have.
 */
export function messageProblemsOf(document: AsyncApiDocument): string[] {
  const problems: string[] = []
  if (!isAsyncApi(JSON.parse(JSON.stringify(document)))) {
    problems.push(...(isAsyncApi.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`))
  }
  for (const ref of references(document))
    if (resolve(document, ref) === undefined) problems.push(`${ref} cannot be resolved`)
  for (const [id, channel] of Object.entries(document.channels)) {
    const inAddress = [...channel.address.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name).sort()
    const named = Object.keys(channel.parameters ?? {}).sort()
    if (inAddress.join() !== named.join()) problems.push(`${id} has the parameters ${named}`)
    for (const [name, { payload }] of Object.entries(channel.messages)) {
      if (payload === undefined) continue
      try {
        draft7.compile({ allOf: [payload], components: document.components ?? {} } as object)
      } catch (error) {
        problems.push(`${id}.${name}: ${(error as Error).message}`)
      }
    }
  }
  for (const [id, operation] of Object.entries(document.operations)) {
    const prefix = `${operation.channel.$ref}/messages/`
    if (!operation.messages.every(({ $ref }) => $ref.startsWith(prefix))) problems.push(`${id} has a foreign message`)
  }
  return problems
}
