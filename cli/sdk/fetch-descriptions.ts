import { isObject } from '../../plugins/shared/values/json.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure, wrongUsage } from '../failure.ts'
import type { ApiDocument } from './document.ts'
import type { MessageDocument } from './messages.ts'

/** Timeout of a description in milliseconds. */
const patience = 15_000

/**
 * Reads the descriptions of a running server. A missing description is noted; any other problem is a failure, because a client with half
 * of its calls would look like a complete one. The place of each is a path below the address, or an address of its own.
 */
export async function fetchDescriptions(
  { url, openapi, asyncapi }: Readonly<Record<'url', string> & Record<'openapi' | 'asyncapi', string | undefined>>,
  note: (line: string) => void,
): Promise<{ document: ApiDocument; messages: MessageDocument | undefined }> {
  const base = new URL(`${addressOf(url, '--url')}/`.replace(/\/+$/, '/'))
  const at = (given: string | undefined, path: string, flag: string) =>
    addressOf(given === undefined ? path : given.replace(/^\/+/, ''), flag, base)
  const places = [at(openapi, 'docs/json', '--openapi'), at(asyncapi, 'asyncapi.json', '--asyncapi')] as const
  const [api, messages] = await Promise.all([read(places[0], 'openapi', '3.'), read(places[1], 'asyncapi', '3.')])
  if (api === undefined && messages === undefined) {
    throw new CommandFailure(
      `${url} has neither an OpenAPI description at ${places[0]} nor an AsyncAPI description at ${places[1]}: register the plugin openapi or asyncapi, or pass their paths with --openapi and --asyncapi`,
    )
  }
  const missing = (format: string, at: URL, only: string) =>
    note(
      `There is no ${format} description at ${at}: the client has ${only} (--${format.toLowerCase()} sets another path).`,
    )
  if (api === undefined) missing('OpenAPI', places[0], 'websockets only')
  if (messages === undefined) missing('AsyncAPI', places[1], 'no websockets')
  const { info } = (messages ?? {}) as ApiDocument
  return {
    document: (api ?? { ...(info && { info }) }) as ApiDocument,
    messages: messages as MessageDocument | undefined,
  }
}

function addressOf(text: string, flag: string, base?: URL): URL {
  const address = URL.canParse(text, base) ? new URL(text, base) : undefined
  if (address !== undefined && /^https?:$/.test(address.protocol)) return address
  throw wrongUsage(`${flag} takes an address such as http://localhost:3000; "${text}" is not one`)
}

/** Reads a description; `undefined` if the server does not have it. */
async function read(address: URL, format: 'openapi' | 'asyncapi', version: string): Promise<object | undefined> {
  let response: Response
  let text: string
  try {
    response = await fetch(address, { signal: AbortSignal.timeout(patience), headers: { accept: 'application/json' } })
    text = await response.text()
  } catch (error) {
    const { name, message, cause } = error as Error
    const said = cause instanceof Error && cause.message !== '' ? cause.message : message
    const why = name === 'TimeoutError' ? `there was no response within ${patience / 1000} seconds` : said
    throw new CommandFailure(`${address} cannot be read: ${why}`, error)
  }
  if (response.status === 404) return undefined
  if (!response.ok) throw new CommandFailure(`${address} was answered with ${response.status}`)
  const noJson = () => new CommandFailure(`${address} is not JSON`)
  const document: unknown = orFail(() => JSON.parse(text), noJson)
  const said = isObject(document) ? document[format] : undefined
  if (typeof said === 'string' && said.startsWith(version)) return document as object
  throw new CommandFailure(`${address} is not a description of the format ${format} ${version}x`)
}
