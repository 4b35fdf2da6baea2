/** How schemas are shown and made into examples, a part of the script. */
export const pageSchemas = String.raw`
const nameOf = (ref) => decodeURIComponent(ref.split('/').at(-1))

/** The type of a schema in a few words. */
function typeOf(schema, depth = 0) {
  if (schema === true || schema === undefined || depth > 6) return 'any'
  if (schema === false) return 'nothing'
  if (schema.$ref) return nameOf(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return parts.map((one) => typeOf(one, depth + 1)).join(' | ')
  if (schema.allOf) return schema.allOf.map((one) => typeOf(one, depth + 1)).join(' & ')
  const type = [schema.type ?? (schema.properties ? 'object' : 'any')].flat()
  return type.map((one) => (one === 'array' && schema.items ? '(' + typeOf(schema.items, depth + 1) + ')[]' : one)).join(' | ').replace(/\((\w+)\)/g, '$1')
}

const limits = ['format', 'pattern', 'minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'default']
const limitsOf = (schema) => limits.filter((name) => schema?.[name] !== undefined).map((name) => name + ': ' + JSON.stringify(schema[name])).join(', ')

/** The members of a schema: its own, those of the elements of a list, and those of each of several schemas. */
function membersOf(given, depth = 0) {
  const schema = resolved(given)
  if (typeof schema !== 'object' || schema === null || depth > 6) return []
  const own = Object.entries(schema.properties ?? {}).map(([name, one]) => ({ name, schema: one, required: schema.required?.includes(name) }))
  if (typeof schema.additionalProperties === 'object') own.push({ name: '\u2026', schema: schema.additionalProperties })
  const inner = [schema.items, ...(schema.prefixItems ?? []), ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return [...own, ...inner.flatMap((one) => membersOf(one, depth + 1))]
}

/** A schema with its members; the members of a member are made when it is opened, since schemas may contain themselves. */
function schemaNode(given) {
  if (given === undefined) return undefined
  const list = (members) => h('ul', { class: 'schema' }, members.map(({ name, schema, required }) => {
    const one = resolved(schema)
    const inner = membersOf(schema)
    const line = [h('code', {}, name), ' ', h('span', { class: 'type' }, typeOf(schema)), required && badge('required'),
      one?.readOnly && badge('read-only'), one?.writeOnly && badge('write-only'), one?.deprecated && badge('deprecated')]
    const about = [limitsOf(one) && h('span', { class: 'dim' }, ' ' + limitsOf(one)), one?.description && markdown(one.description)]
    return h('li', {}, inner.length === 0 ? line : folded({}, line, () => list(inner)), about)
  }))
  const schema = resolved(given)
  const members = membersOf(given)
  return h('div', {}, h('p', {}, h('span', { class: 'type' }, typeOf(given)), ' ', h('span', { class: 'dim' }, limitsOf(schema))),
    schema?.description && markdown(schema.description), members.length > 0 && list(members))
}

/** A value that a schema may accept, to begin with. */
function exampleOf(given, depth = 0) {
  const schema = resolved(given)
  if (typeof schema !== 'object' || schema === null || depth > 6) return null
  for (const name of ['example', 'default', 'const']) if (schema[name] !== undefined) return schema[name]
  if (schema.examples?.length || schema.enum?.length) return (schema.examples ?? schema.enum)[0]
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return exampleOf(parts[0], depth + 1)
  const inherited = (schema.allOf ?? []).map((one) => exampleOf(one, depth + 1))
  const type = [schema.type ?? (schema.properties || schema.allOf ? 'object' : undefined)].flat()[0]
  if (type === 'object') {
    const own = Object.entries(schema.properties ?? {}).filter(([, one]) => resolved(one)?.readOnly !== true)
    return Object.assign({}, ...inherited, Object.fromEntries(own.map(([name, one]) => [name, exampleOf(one, depth + 1)])))
  }
  if (type === 'array') return schema.items && depth < 5 ? [exampleOf(schema.items, depth + 1)] : []
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  if (type === 'boolean') return false
  if (type !== 'string') return null
  const formats = { date: '2026-01-31', 'date-time': '2026-01-31T12:00:00Z', email: 'ann@example.org', uri: 'https://example.org', uuid: '00000000-0000-4000-8000-000000000000' }
  return formats[schema.format] ?? ''
}
`
