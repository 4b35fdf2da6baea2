import type { Kernel, ListedRoute } from '../../../kernel/index.ts'
import { nonEmpty, Schemas } from '../../shared/descriptions/components.ts'
import type { Described } from '../../shared/descriptions/document-service.ts'
import { capital, idOfPath, Names, tagOf, words } from '../../shared/descriptions/names.ts'
import { type DescribedPath, templates } from '../../shared/descriptions/paths.ts'
import { type Policies, policiesOf, type SecurityRequirement } from '../../shared/descriptions/security.ts'
import { guardsOf } from '../../shared/http/guards.ts'
import { plainName } from '../../shared/schema/names.ts'
import { isObject, type Json, mapMembers, put, toPlain } from '../../shared/values/json.ts'
import {
  type MessageDescriptionOptions,
  type MessageDescriptionSettings,
  messageDescriptionOptions,
} from '../options.ts'
import type { AsyncApiChannel, AsyncApiDocument, AsyncApiExchange, AsyncApiOperation } from '../types.ts'
import { type Contribution, checkFragments, contributionsOf, exchangesOf } from './contributions.ts'
import { toDraft7 } from './draft-07.ts'
import { describeMessages as messageObjects, messagesOf } from './messages.ts'
import { openingOf, parametersOf } from './opening.ts'
import { serversOf } from './servers.ts'

/**
 * Describes the messages that a server exchanges, in AsyncAPI 3.0.0.
 *
 * Before boot, it includes only the routes of the application; afterwards, those of plugins as well. The plugin need not be
 * registered.
 *
 * @throws OptionError; AsyncApiFragmentError when a plugin describes messages in an invalid form.
 * @example
 * import { Server } from 'framework'
 * import { describeMessages } from 'framework/plugins/asyncapi'
 *
 * const server = new Server({ plugins: { websocket: true } })
 * server.ws('/echo', { message: (socket, text) => socket.send(text) })
 * const document = describeMessages(server, { info: { title: 'Echo', version: '1.0.0' } })
 */
export function describeMessages(server: Kernel, options?: MessageDescriptionOptions): AsyncApiDocument {
  const settings = messageDescriptionOptions.parse(options, 'describeMessages')
  checkFragments(server.listing.plugins)
  return describeContributions(server, contributionsOf(server), settings).document
}

/** Describes the messages of all registrations, and notes the parts that could not be described. */
export function describeContributions(
  { listing }: Kernel,
  contributions: readonly Contribution[],
  options: MessageDescriptionSettings,
): Described<AsyncApiDocument> {
  const { info, tags, externalDocs } = options as MessageDescriptionOptions
  const channels = new Channels(options as MessageDescriptionOptions)
  for (const route of listing.routes) channels.addRoute(route)
  for (const { plugin, channels: given, why } of contributions) {
    if (why !== undefined) channels.note(`the channels of the plugin "${plugin}"`, why)
    for (const channel of given) channels.add(channel)
  }
  const { document, notes, schemas, schemes } = channels.finish()
  return {
    document: {
      asyncapi: '3.0.0',
      info: {
        title: 'API',
        version: '1.0.0',
        ...(toPlain(info ?? {}) as object),
        ...(tags !== undefined && tags.length > 0 && { tags: toPlain(tags) as typeof tags }),
        ...(externalDocs !== undefined && { externalDocs: toPlain(externalDocs) as object }),
      },
      defaultContentType: 'application/json',
      ...nonEmpty({ servers: channels.servers.all }),
      ...document,
      ...nonEmpty({ components: nonEmpty({ schemas, securitySchemes: schemes }) }),
    } as AsyncApiDocument,
    notes,
  }
}

/** A channel, and the security requirements for opening it. */
interface Entry {
  readonly id: string
  readonly exchanges: AsyncApiExchange[]
  readonly channel: Json
  readonly more: Json
  readonly security: readonly SecurityRequirement[] | undefined
}

/** The channels of a document while it is being assembled. */
class Channels {
  readonly servers: ReturnType<typeof serversOf>
  readonly #options: MessageDescriptionOptions
  readonly #schemas: Schemas
  readonly #policies: Policies
  readonly #pathsOf = templates()
  readonly #ids = new Names()
  readonly #entries = new Map<string, Entry>()
  readonly #notes = new Map<string, { readonly route: string; readonly why: string }>()

  constructor(options: MessageDescriptionOptions) {
    this.#options = options
    this.servers = serversOf(options.servers)
    this.#policies = policiesOf(options.security, options.components?.securitySchemes as Json)
    this.#schemas = new Schemas(options.components?.schemas, (why) => this.note('components', why))
  }

  note(route: string, why: string): void {
    this.#notes.set(`${route}: ${why}`, { route, why })
  }

  /** Adds the messages of a route, at each of its paths. */
  addRoute(route: ListedRoute): void {
    const { record, plugin } = route
    const { method, path, options } = record
    const { include } = this.#options
    if (options.apidoc === false || include?.({ method, path, plugin, options }) === false) return
    const name = `${method} ${path}`
    const note = (why: string) => this.note(name, why)
    const exchanges = exchangesOf(route, note)
    if (exchanges.length === 0) return
    for (const one of this.#pathsOf(record)) this.#addPath(route, one, exchanges, note)
  }

  #addPath(route: ListedRoute, path: DescribedPath, exchanges: AsyncApiExchange[], note: (why: string) => void): void {
    const { options } = route.record
    const apidoc = (isObject(options.apidoc) ? options.apidoc : {}) as Json
    const id = this.#ids.claim(
      plainName(typeof apidoc.operationId === 'string' ? apidoc.operationId : uncapital(idOfPath(path))),
    )
    const { look } = this.#schemas.of(id, note)
    const subprotocols = exchanges.find((one) => one.subprotocols !== undefined)?.subprotocols
    const tag = tagOf(path)
    const asked = Array.isArray(apidoc.security)
      ? (toPlain(apidoc.security) as SecurityRequirement[])
      : (this.#policies.of([options, ...guardsOf(route.middlewares)], route) ?? this.#options.security)
    const own = extensionsOf(apidoc, note)
    const channel: Json = {
      address: path.template,
      ...textsOf(apidoc),
      parameters: parametersOf(path, options, look),
      tags: (Array.isArray(apidoc.tags) ? apidoc.tags : tag === undefined ? [] : [tag]).map((name) => ({
        name: String(name),
      })),
      externalDocs: isObject(apidoc.externalDocs) ? toPlain(apidoc.externalDocs) : undefined,
      bindings: { ws: openingOf(options, subprotocols, look), ...bindingsOf(exchanges, 'bindings') },
      'x-subprotocols': subprotocols && [...subprotocols],
      ...own,
    }
    this.#put(`route ${path.template}`, {
      id,
      exchanges,
      channel,
      more: apidoc.deprecated === true ? { deprecated: true } : {},
      security: asked,
    })
  }

  /** Adds a channel that is not a route. Several descriptions of the same address and protocol become one channel. */
  add(given: AsyncApiChannel): void {
    const { address, protocol, parameters, title, receive, send, subprotocols, bindings, operationBindings, ...rest } =
      given
    const key = `${protocol} ${address}`
    const there = this.#entries.get(key)
    if (there !== undefined) return void there.exchanges.push(given)
    const name = plainName(uncapital(words(address).map(capital).join('')))
    const id = this.#ids.claim(name, capital(plainName(protocol)))
    const note = (why: string) => this.note(address, why)
    const channel: Json = {
      address,
      title,
      ...textsOf(rest),
      parameters: parametersIn(address, parameters, note),
      bindings: toPlain(bindings),
      ...extensionsOf(rest, note),
    }
    this.#put(key, { id, exchanges: [given], channel, more: {}, security: undefined })
  }

  #put(key: string, entry: Entry): void {
    const { protocol } = entry.exchanges[0]!
    if (this.#entries.has(key)) {
      this.note(String(entry.channel.address), 'two channels have this address and protocol')
      return
    }
    if (this.servers.lacks(protocol)) {
      this.note(
        String(entry.channel.address),
        `the option servers of asyncapi lists no server for the protocol ${protocol}`,
      )
    }
    this.#entries.set(key, entry)
  }

  finish() {
    const channels: Json = {}
    const operations: Json = {}
    const ids = new Names()
    const asked = new Set<string>()
    for (const { id, exchanges, channel, more, security } of this.#entries.values()) {
      const names = new Names()
      const messages: Json = {}
      const { protocol } = exchanges[0]!
      const { use } = this.#schemas.of(id, (why) => this.note(String(channel.address), why))
      for (const action of ['receive', 'send'] as const) {
        const own = messagesOf(exchanges, action)
        if (own.length === 0) continue
        const described = messageObjects(own, action, { names, use, more })
        for (const [key, message] of described) put(messages, key, message)
        for (const one of security ?? []) for (const name of Object.keys(one)) asked.add(name)
        const bindings = bindingsOf(exchanges, 'operationBindings')
        operations[ids.claim(action + capital(id))] = {
          action,
          channel: { $ref: `#/channels/${id}` },
          ...(security !== undefined && securityOf(security)),
          bindings: Object.keys(bindings).length > 0 ? bindings : undefined,
          messages: described.map(([key]) => ({ $ref: `#/channels/${id}/messages/${key}` })),
        }
      }
      const servers = this.servers.of(protocol)
      channels[id] = { ...channel, servers: servers.length > 0 ? servers : undefined, messages }
    }
    const schemes = this.#policies.schemes(asked, (why) => this.note('the server', why))
    const finished = this.#schemas.finish({ channels, operations })
    for (const channel of Object.values(finished.document.channels) as Json[]) writeSchemas(channel)
    return {
      document: finished.document,
      schemas: mapMembers(finished.schemas, toDraft7),
      schemes: mapMembers(schemes, schemeOf),
      notes: [...this.#notes.values()],
    }
  }
}

/** Converts the schemas of a channel to the dialect of AsyncAPI. */
function writeSchemas(channel: Json): void {
  for (const message of Object.values(channel.messages as Json) as Json[]) {
    if (message.payload !== undefined) message.payload = toDraft7(message.payload)
  }
  const { ws } = (channel.bindings ?? {}) as { ws?: Json }
  for (const part of ['query', 'headers']) if (ws?.[part] !== undefined) ws[part] = toDraft7(ws[part])
}

const uncapital = (word: string) => word.charAt(0).toLowerCase() + word.slice(1)

/** Returns the members `x-…` whose names AsyncAPI allows. */
function extensionsOf(given: Json, note: (why: string) => void): Json {
  const own = Object.entries(given).filter(([name]) => name.startsWith('x-'))
  const isTaken = ([name]: [string, unknown]) => /^x-[\w.-]+$/.test(name)
  for (const [name] of own.filter((one) => !isTaken(one)))
    note(
      `the name ${JSON.stringify(name)} has characters other than letters, digits, ".", "-" and "_", so it is left out`,
    )
  return toPlain(Object.fromEntries(own.filter(isTaken))) as Json
}

/** Returns each parameter of an address, with its description. */
function parametersIn(
  address: string,
  said: AsyncApiChannel['parameters'] = {},
  note: (why: string) => void,
): Json | undefined {
  const names = [...address.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!)
  for (const name of Object.keys(said))
    if (!names.includes(name)) note(`its address has no parameter "${name}", so its description is left out`)
  if (names.length === 0) return undefined
  return Object.fromEntries(names.map((name) => [name, toPlain((Object.hasOwn(said, name) && said[name]) || {})]))
}

function textsOf(given: Json): Json {
  const texts = ['summary', 'description'].filter((name) => typeof given[name] === 'string')
  return Object.fromEntries(texts.map((name) => [name, given[name]]))
}

function bindingsOf(exchanges: readonly AsyncApiExchange[], member: 'bindings' | 'operationBindings'): Json {
  return Object.assign({}, ...exchanges.map((one) => toPlain(one[member] ?? {}))) as Json
}

/**
 * Returns the security requirements of an operation. AsyncAPI has a list of schemes, one of which is enough: combinations of several
 * schemes, and the roles that a caller needs, are added in the form of OpenAPI.
 */
function securityOf(asked: readonly SecurityRequirement[]): Pick<AsyncApiOperation, 'security' | 'x-security'> {
  const isOpen = asked.length === 0 || asked.some((one) => Object.keys(one).length === 0)
  if (isOpen) return {}
  const names = [...new Set(asked.flatMap((one) => Object.keys(one)))]
  const isWhole = asked.every(
    (one) => Object.keys(one).length === 1 && Object.values(one).every((list) => list.length === 0),
  )
  return {
    security: names.map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
    ...(!isWhole && { 'x-security': toPlain(asked) as SecurityRequirement[] }),
  }
}

/** Converts security schemes to AsyncAPI, which has other names for some of the schemes of OpenAPI. */
function schemeOf(given: unknown): Json | undefined {
  if (!isObject(given)) return undefined
  const scheme = toPlain(given) as Json
  const { type } = scheme
  if (type === 'apiKey' && scheme.name !== undefined) return { ...scheme, type: 'httpApiKey' }
  if (type === 'mutualTLS') return { ...scheme, type: 'X509' }
  if (type !== 'oauth2' || !isObject(scheme.flows)) return scheme
  const flows = Object.entries(scheme.flows).map(([name, flow]) => {
    const { scopes, ...rest } = isObject(flow) ? flow : {}
    return [name, scopes === undefined ? rest : { ...rest, availableScopes: scopes }]
  })
  return { ...scheme, flows: Object.fromEntries(flows) }
}
