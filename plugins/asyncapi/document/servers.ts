import type { OpenApiServer } from '../../openapi/index.ts'
import { Names } from '../../shared/descriptions/names.ts'
import { plainName } from '../../shared/schema/names.ts'
import { toPlain } from '../../shared/values/json.ts'
import type { AsyncApiReference, AsyncApiServer } from '../types.ts'

/** A websocket is opened by an HTTP request, so an HTTP address is also the address for websockets. */
const upgraded: Readonly<Record<string, string>> = { http: 'ws', https: 'wss' }

/** Returns a server in the form of AsyncAPI; `undefined` for an address without protocol or host. */
export function readServer({ url, description, variables, ...rest }: OpenApiServer): AsyncApiServer | undefined {
  const [, scheme = '', host = '', pathname = ''] = /^([a-z][a-z\d+.-]*):\/\/([^/?#]+)(\/[^?#]*)?$/i.exec(url) ?? []
  if (host === '') return undefined
  const protocol = scheme.toLowerCase()
  return {
    host,
    protocol: upgraded[protocol] ?? protocol,
    ...(pathname !== '' && pathname !== '/' && { pathname: pathname.replace(/\/$/, '') }),
    ...(description !== undefined && { description }),
    ...(variables !== undefined && { variables: toPlain(variables) as { [name: string]: object } }),
    ...(toPlain(rest) as object),
  }
}

/** Protocols that are equivalent for a channel. */
const families: Readonly<Record<string, readonly string[]>> = {
  ws: ['ws', 'wss'],
  mqtt: ['mqtt', 'mqtts', 'mqtt5', 'secure-mqtt'],
  redis: ['redis', 'rediss'],
}

/** The servers of a document, with names derived from their protocols. */
export function serversOf(given: readonly OpenApiServer[] = []) {
  const names = new Names()
  const read = given.map(readServer).filter((one) => one !== undefined)
  const all = read.map((one) => [names.claim(plainName(one.protocol)), one] as const)
  const ownOf = (protocol: string) =>
    all.filter(([, one]) => (families[protocol] ?? [protocol]).includes(one.protocol)).map(([name]) => name)
  return {
    all: Object.fromEntries(all),
    /** Returns the servers for channels of a protocol; none if that would be all servers, or if the document names none. */
    of(protocol: string): AsyncApiReference[] {
      const own = ownOf(protocol)
      return own.length === all.length ? [] : own.map((name) => ({ $ref: `#/servers/${name}` }))
    },
    /** Whether the document names servers, but none of them is for channels of the protocol. */
    lacks: (protocol: string): boolean => all.length > 0 && ownOf(protocol).length === 0,
  }
}
