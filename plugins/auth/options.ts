import { didYouMean, type OptionPlace, quoted, type RouteOptions } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import type { AuthScheme, AuthSubject } from './scheme.ts'

/** Whether callers must authenticate: `false`, credentials are not read; `'optional'`, there may be none, but not a wrong one. */
export type AuthMode = 'required' | 'optional' | false

/** Options of authentication. */
export interface AuthOptions {
  /** The schemes by name, which routes and the API description use; the first one that finds a credential of its own decides. */
  schemes: { readonly [name: string]: AuthScheme }
  /** The mode of routes without the option `auth`. Default `'required'`. */
  default?: AuthMode
  /** The mode where no route matches: files of `static`, 404 and 405. Default: that of `default`. */
  unmatched?: AuthMode
  /** The realm in `WWW-Authenticate`. Default: `restricted` for Basic, which requires one, and none for other schemes. */
  realm?: string
  /** The name of a subject in the log and the inspector. Default: its `id` or `sub`. */
  name?: (subject: AuthSubject) => string | undefined
}

/** What a route requires: some of the schemes, and all of these scopes. */
export interface AuthRequirement {
  /** The schemes that it accepts. Default: all. */
  readonly schemes?: readonly string[]
  /** What the credential must allow. */
  readonly scopes?: readonly string[]
}

/** The values of the route option `auth`. */
export type AuthOption = AuthMode | AuthRequirement

const mode = option.oneOf('required', 'optional', false).guard()
const scheme = option.value<AuthScheme>(
  'a scheme: bearer(…), basic(…), apiKey(…), jwt(…), session(…), tokens(…), or { authenticate, challenge, header, description }',
  (given) => {
    const one = (given ?? {}) as Partial<AuthScheme>
    return typeof one.authenticate === 'function' && typeof one.challenge === 'string' && typeof one.header === 'string'
  },
)
const isName = /^[\w.-]+$/

export const authOptions = option
  .shape({
    schemes: option.record(scheme).required(),
    default: mode.default('required'),
    unmatched: mode,
    realm: option.name(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/, 'printable ASCII without quotation marks'),
    name: option.fn<NonNullable<AuthOptions['name']>>('a function (subject) => name'),
  })
  .into((given, place) => {
    const names = Object.keys(given.schemes ?? {})
    if (names.length === 0) place.in('schemes').wrong(given.schemes, 'one scheme or more, by name')
    for (const name of names)
      if (!isName.test(name)) place.in('schemes').wrong(quoted(name), 'names of letters, digits, ".", "_" and "-"')
    return given
  })
  .typed<AuthOptions>()

export type AuthSettings = SettingsOf<typeof authOptions>

/** What is required of a request. */
export interface AuthRule {
  readonly mode: AuthMode
  readonly schemes: readonly (readonly [name: string, scheme: AuthScheme])[]
  readonly scopes: readonly string[]
}

const list = option.list(option.name(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'a word'), { min: 1 }).guard()
const requirement = option.shape({ schemes: list, scopes: list })

/** The rule of a route with these options, which have been checked; without them, that of what no route matches. */
export function ruleOf(settings: AuthSettings, options?: RouteOptions): AuthRule {
  const { default: usual, unmatched = usual } = settings
  const given = options === undefined ? unmatched : (options.auth ?? usual)
  // Only a websocket accepts the schemes of websockets.
  const isOpen = ({ opensSockets }: AuthScheme) => !opensSockets || options?.websocket !== undefined
  const all = Object.entries(settings.schemes).filter(([, one]) => isOpen(one))
  if (typeof given !== 'object') return { mode: given, schemes: all, scopes: [] }
  const { schemes: names, scopes = [] } = given
  return { mode: 'required', schemes: all.filter(([name]) => names?.includes(name) ?? true), scopes }
}

/** Reads the option of a route. */
export function authOfRoute(
  given: unknown,
  place: OptionPlace,
  { settings }: { readonly settings: AuthSettings },
): AuthOption {
  const isList = typeof given === 'object' && given !== null
  const read = (isList ? requirement : option.either(mode, requirement)).read(given as never, place) as AuthOption
  const known = Object.keys(settings.schemes)
  for (const name of Object(read).schemes ?? [])
    if (!known.includes(name)) place.in('schemes').wrong(quoted(name), `${known.join(', ')}.${didYouMean(name, known)}`)
  return read
}

/** The rules of the routes by the services of their scope, for the inspector. */
export const rulesOfScopes = new WeakMap<object, { readonly route: string; readonly rule: AuthRule }[]>()
