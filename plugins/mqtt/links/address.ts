import { hidden, OptionError, type OptionPlace, quoted } from '../../../kernel/index.ts'
import { variable } from '../../shared/environment/process.ts'
import { safely } from '../../shared/values/safely.ts'

/** The address of a broker. */
export interface Address {
  readonly protocol: 'mqtt' | 'mqtts' | 'ws' | 'wss'
  readonly host: string
  readonly port: number
  readonly path: string
  readonly username: string | undefined
  readonly password: string | Uint8Array | undefined
  /** The address as messages show it: without user and password. */
  readonly shown: string
}

/** The options of a connection that say where the broker is. */
interface AddressSettings extends Partial<Omit<Address, 'shown'>> {
  readonly url?: Partial<Address> | undefined
}

const ports = { mqtt: 1883, mqtts: 8883, ws: 80, wss: 443 }

export const addressTakes = 'an address such as "mqtt://broker.example:1883", with mqtt, mqtts, ws or wss'

export function readUrl(text: unknown, place: OptionPlace): Partial<Address> | undefined {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  const protocol = url?.protocol.slice(0, -1)
  if (url === undefined || protocol === undefined || !Object.hasOwn(ports, protocol) || url.hostname === '')
    return void place.wrong(hidden(text), addressTakes)
  return {
    protocol: protocol as Address['protocol'],
    // Only in a URL does an IPv6 address have brackets.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port !== '' && { port: Number(url.port) }),
    ...(url.pathname.length > 1 && { path: url.pathname + url.search }),
    ...(url.username !== '' && { username: decode(url.username, place) }),
    ...(url.password !== '' && { password: decode(url.password, place) }),
  }
}

function decode(text: string, place: OptionPlace): string | undefined {
  const takes = `${addressTakes}; "%" in user and password is written "%25"`
  return safely(() => decodeURIComponent(text)) ?? void place.wrong(text, takes)
}

function portOfEnvironment(): number | undefined {
  const text = variable('MQTT_PORT')
  if (text === undefined) return undefined
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  throw OptionError('MQTT_PORT (of the environment)', quoted(text), 'a number from 1 to 65535')
}

/** @throws OptionError for an invalid port in the environment. */
export function addressOf({ url, ...options }: AddressSettings, place: OptionPlace): Address {
  const fromUrl: Partial<Address> = url ?? {}
  if (url !== undefined) {
    for (const name of ['protocol', 'host', 'port', 'path'] as const) {
      if (options[name] !== undefined)
        place.in(name).wrong(options[name], `nothing together with ${place.in('url').path}`)
    }
  }
  const protocol = fromUrl.protocol ?? options.protocol ?? 'mqtt'
  const host = fromUrl.host ?? options.host ?? variable('MQTT_HOST') ?? 'localhost'
  const port = fromUrl.port ?? options.port ?? (url === undefined ? portOfEnvironment() : undefined) ?? ports[protocol]
  return {
    protocol,
    host,
    port,
    path: fromUrl.path ?? options.path ?? '/mqtt',
    username: options.username ?? fromUrl.username,
    password: options.password ?? fromUrl.password,
    shown: `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`,
  }
}
