import { isOptions, nearest, type OptionPlace, type OptionRoute, optionNames } from '../../kernel/index.ts'
import { named, parameter, requestBody, response } from '../shared/descriptions/options.ts'
import { option } from '../shared/options/index.ts'
import { isSchema, operationForm } from './document/forms.ts'

/** Data for the API description of one route. */
export interface ApiDoc {
  /** What the route does, in a few words. */
  summary?: string
  /** A longer description, in Markdown. */
  description?: string
  /** The tags by which pages group the route. */
  tags?: readonly string[]
  /** The unique name of the operation, which generated clients use for a method. Default: made of method and path. */
  operationId?: string
  /** Whether callers should no longer use the route. Default false. */
  deprecated?: boolean
  /**
   * Parameters besides those of the schemas; one with the same name and place is merged over the schema's. `name` and `in` identify it;
   * `description`, `required`, `deprecated` and `schema` are as in OpenAPI.
   */
  parameters?: readonly {
    name: string
    in: 'path' | 'query' | 'header' | 'cookie'
    description?: string
    required?: boolean
    deprecated?: boolean
    schema?: object
  }[]
  /** The request body, merged over that of the schemas. */
  requestBody?: object
  /** The responses by status, `2xx` or `default`: an OpenAPI response, or a schema of the body; merged over those of the schemas. */
  responses?: { readonly [status: string]: object }
  /** The security requirements, instead of those that the policies imply; an empty list means that nothing is required. */
  security?: readonly { readonly [scheme: string]: readonly string[] }[]
  /** Where this route is served, if not where all others are: `url` and `description`. */
  servers?: readonly { url: string; description?: string }[]
  /** A link to more information: `url` and `description`. */
  externalDocs?: { url: string; description?: string }
  readonly [extension: `x-${string}`]: unknown
}

/** The members of an operation (OpenAPI 3.1 section 4.8.10.1) that have members of their own; the document notes wrong values. */
const nested = option.shape(
  {
    externalDocs: named('url', 'description').optional(),
    parameters: option.list(parameter),
    requestBody: requestBody.optional(),
    responses: option.record(
      option.custom<object, unknown>('a response or a schema', (given, place) =>
        isOptions(given) && !isSchema(given) ? response.read(given, place) : given,
      ),
    ),
    servers: option.list(named('url', 'description', 'variables', 'name')),
  },
  () => undefined,
)

const members = [
  ...new Set([...Object.keys(nested.parts.members!), ...Object.keys(operationForm), 'operationId', 'callbacks']),
]

/** The route option that was misplaced in the description; `undefined` for any other name. */
function misplacedIn(name: string, known: ReadonlySet<PropertyKey>): string | undefined {
  if (known.has(name)) return name
  const names = [...known, ...members].filter((one) => typeof one === 'string')
  const near = nearest(name, names)
  return near === undefined || members.includes(near) ? undefined : near
}

/**
 * Reads the option of a route, which is copied to the document. A guard inside it would guard nothing, so that is an error even
 * without the plugin.
 */
export function apidocOfRoute(
  given: unknown,
  place: OptionPlace,
  { known }: Pick<OptionRoute<unknown>, 'known'>,
): unknown {
  if (given === false) return given
  if (!isOptions(given)) return void place.wrong(given, `false, or an object with ${members.join(', ')}`)
  for (const name of optionNames(given).map(String)) {
    if (members.includes(name) || name.startsWith('x-') || Reflect.get(given, name) === undefined) continue
    const meant = misplacedIn(name, known)
    const what = meant === name ? 'It' : `Did you mean "${meant}"? That`
    if (meant === undefined) place.unknown(name, members)
    else place.problem(`"${name}" is in its apidoc, where it has no effect. ${what} is an option of the route itself`)
  }
  nested.read(given, place)
  return given
}
