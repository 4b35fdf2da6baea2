import type { Kernel } from '../../kernel/index.ts'
import type { AsyncApiExchange } from '../../plugins/asyncapi/index.ts'
import { contributionsOf, exchangesOf } from '../../plugins/asyncapi/plugin.ts'
import { markedTypes } from '../../plugins/graphql/plugin.ts'
import { allQueues } from '../../plugins/queues/plugin.ts'
import type { FullListing } from '../../plugins/shared/development/inspection.ts'
import { marksOf } from '../../plugins/shared/schema/marks.ts'
import { isObject } from '../../plugins/shared/values/json.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { factOf } from './facts.ts'
import type { Difference, FiledWay } from './file.ts'
import { numbered, placeOf, type WayIn } from './ways.ts'

const parts = ['params', 'query', 'headers', 'body', 'all'] as const

/** A place where data with a schema comes in or goes out, such as `POST /users body`. */
interface Place {
  readonly place: string
  readonly schema: object
  readonly by: string
  readonly at: string
}

/** The marked members of all schemas of a server, and the places in which they could be. */
export interface Data {
  readonly rows: readonly WayIn[]
  /** The ways in: those of which a member is gone are still there. */
  readonly ways: ReadonlySet<string>
  /** The rows of what is sent. */
  readonly sent: ReadonlySet<string>
}

/** Where marked members flow; `note` receives what cannot be seen. @throws CommandFailure for a schema whose marks cannot be read. */
export function dataOf(server: Kernel, note: (line: string) => void): Data {
  const places = placesOf(server, note)
  const rows = new Map<string, WayIn>()
  const sent = new Set<string>()
  for (const { place, schema, by, at } of places) {
    const marks = orFail(
      () => marksOf(schema),
      (why) => new CommandFailure(`${place}: ${why}`),
    )
    const { $id, title } = schema as { readonly $id?: unknown; readonly title?: unknown }
    const names = [$id, title].filter((one) => typeof one === 'string').slice(0, 1)
    for (const { path, mark } of marks?.members ?? []) {
      const way = numbered(`${place} ${path || '(all)'}`, rows)
      rows.set(way, { way, facts: [factOf(mark, names)], by, at })
      if (/ (?:response \d+|send .+)$/.test(place)) sent.add(way)
    }
  }
  return {
    rows: [...rows.values()].sort((a, b) => wayOf(a.way).localeCompare(wayOf(b.way), 'en')),
    ways: new Set(places.map(({ place }) => wayOf(place))),
    sent,
  }
}

function placesOf(server: Kernel, note: (line: string) => void): Place[] {
  const { routes, plugins } = server.listing as FullListing
  const ofRoutes = routes.flatMap((route) => {
    const { record, plugin: by, scope } = route
    const { method, path, options, site } = record
    const entry = plugins.find((one) => one.name === by && one.scope === scope)
    const where = { by, at: placeOf(site, entry, plugins) }
    // The other methods of the path have the same schema.
    const graphql = by === 'graphql' && method === 'POST' ? entry?.scope.services.find('graphql') : undefined
    const types = orFail(
      () => (graphql === undefined ? [] : markedTypes(graphql.schema)),
      (why) => new CommandFailure(why),
    )
    const schemas = [
      ...parts.map((part) => [part, options[part]] as const),
      ...Object.entries(options.responses ?? {}).map(([status, one]) => [`response ${status}`, one] as const),
    ]
    return [
      ...schemas.map(([part, schema]) => ({ place: `${method} ${path} ${part}`, schema, ...where })),
      ...exchangesOf(route, note).flatMap((one) => messagesOf(one, path, where)),
      ...types.map(({ place, schema }) => ({ place: `graphql ${path} ${place}`, schema, ...where })),
    ]
  })
  const queues = allQueues().map(({ name, schema }) => ({
    ...{ place: `queue ${name} message`, schema, by: 'queues', at: '' },
  }))
  const others = contributionsOf(server).filter(({ plugin }) => plugin !== 'queues')
  for (const { plugin, why } of others) if (why !== undefined) note(`the messages of ${plugin} are not seen: ${why}`)
  const ofPlugins = others.flatMap(({ plugin: by, channels }) =>
    channels.flatMap((one) => messagesOf(one, one.address, { by, at: '' })),
  )
  return [...ofRoutes, ...queues, ...ofPlugins].flatMap(({ schema, ...rest }) =>
    isObject(schema) || typeof schema === 'function' ? [{ schema: schema as object, ...rest }] : [],
  )
}

const messagesOf = (
  { protocol, receive = [], send = [] }: AsyncApiExchange,
  address: string,
  where: Omit<Place, 'place' | 'schema'>,
) =>
  Object.entries({ receive, send }).flatMap(([side, messages]) =>
    messages.map(({ name, payload, data }) => {
      return { place: `${protocol} ${address} ${side} ${name}`, schema: payload ?? data, ...where }
    }),
  )

/** The way in of a place or of a row: its first two words, the second of which begins with the path. */
const wayOf = (row: string) => row.split(' ', 2).reverse().join(' ')

/** What has changed since the file was written. It is worse if a member has lost its mark, or a secret is sent. */
export function dataChanges(filed: readonly FiledWay[], { rows, ways, sent }: Data): Difference[] {
  const before = new Map(filed.map(({ way, facts }) => [way, facts.join('; ')]))
  const now = new Map(rows.map((row) => [row.way, row]))
  const isSecret = (fact: string) => fact.startsWith('secret')
  return [
    ...rows.flatMap(({ way, facts, at }) => {
      const [from, to] = [before.get(way) ?? 'no mark', facts.join('; ')]
      const isSent = isSecret(to) && !before.has(way) && sent.has(way)
      return from === to ? [] : [{ way, at, from, to, isWider: isSent || (isSecret(from) && !isSecret(to)) }]
    }),
    ...[...before].flatMap(([way, from]) =>
      now.has(way) ? [] : [{ way, at: '', from, to: 'no mark', isWider: ways.has(wayOf(way)) }],
    ),
  ]
}
