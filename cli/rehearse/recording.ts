import { METHODS, validateHeaderName, validateHeaderValue } from 'node:http'
import { connectionHeaders } from '../../plugins/shared/http/connection-headers.ts'
import { isObject } from '../../plugins/shared/values/json.ts'
import { jsonFault } from '../../plugins/shared/values/json-fault.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { textOf } from '../text-file.ts'
import type { Planned } from './requests.ts'

/** What this command sets itself, or what only a handshake has. */
const own = ['host', 'content-length', 'expect', 'sec-websocket-key', 'sec-websocket-extensions']

/**
 * Reads the requests of a recording in the format HTTP Archive 1.2, as browsers export it. Those of another host than the first one are
 * left out, and counted in a note. Cookies and authorization are sent; no message has a value of them.
 *
 * @throws CommandFailure that names the file and the entry.
 */
export function readRecording(file: string, note: (line: string) => void): Planned[] {
  const fail = (why: string) => new CommandFailure(`--traffic: ${why}`)
  // Some programs begin the file with a byte order mark.
  const text = textOf(typedPath(file))?.replace(/^\uFEFF/, '')
  if (text === undefined) throw fail(`${file} does not exist`)
  const fault = jsonFault(text)
  if (fault !== undefined) throw fail(`${file} is not JSON: ${fault.place} needs ${fault.expected}`)
  const { entries } = objectIn(objectIn(JSON.parse(text)).log)
  if (!Array.isArray(entries)) throw fail(`${file} is not an HTTP Archive: it has no list log.entries`)
  const failed = (index: number) => (why: string) => fail(`entry ${index + 1} of ${file} ${why}`)
  const all = entries.map((entry, index) => orFail(() => requestIn(objectIn(entry).request), failed(index)))
  const host = all.find((one) => one.host !== '')?.host
  if (host === undefined) throw fail(`${file} has no request over HTTP`)
  const left = all.filter((one) => one.host !== host).length
  if (left > 0)
    note(`${left} of ${all.length} entries of ${file} are left out: their host is not that of the first, ${host}`)
  return all.flatMap((one) => (one.host === host ? one.planned : []))
}

const objectIn = (value: unknown) => (isObject(value) ? value : {}) as Readonly<Record<string, unknown>>

/** A request, with the host `''` if it is not one of HTTP, such as that of a `data:` address. */
function requestIn(given: unknown): { readonly host: string; readonly planned: Planned } {
  const { url, method, headers, postData } = objectIn(given)
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('has no request with a valid url')
  if (!METHODS.includes(method as string) || method === 'CONNECT') throw new Error('has no valid method')
  if (!Array.isArray(headers)) throw new Error('has no list of headers')
  const { protocol, host, pathname, search } = new URL(url)
  const kept: Record<string, string[]> = Object.create(null)
  for (const { name, value } of headers.map(objectIn) as { name: string; value: string }[]) {
    // Those of HTTP/2, such as `:path`.
    if (String(name).startsWith(':')) continue
    validateHeaderName(name)
    validateHeaderValue(name, value)
    kept[name.toLowerCase()] = [...(kept[name.toLowerCase()] ?? []), value]
  }
  for (const name of [...connectionHeaders(kept.connection?.join()), ...own]) delete kept[name]
  const body = postData ? bodyIn(objectIn(postData)) : undefined
  const { mimeType } = objectIn(postData)
  if (body !== undefined && mimeType) kept['content-type'] ??= [String(mimeType)]
  for (const value of kept['content-type'] ?? []) validateHeaderValue('content-type', value)
  const isSocket = protocol.startsWith('ws')
  const planned = { method: method as string, path: pathname + search, headers: kept, body, isSocket }
  return { host: /^(?:http|ws)s?:$/.test(protocol) ? host : '', planned }
}

/** Browsers write the fields of a form in `params`, and some of them also in `text`. */
function bodyIn({ text, encoding, mimeType, params }: ReturnType<typeof objectIn>): string | Buffer | undefined {
  if (encoding === 'base64' && /^[\w+/-]*={0,2}$/.test(String(text))) return Buffer.from(String(text), 'base64')
  if (encoding === 'base64') throw new Error('has a body that is not base64')
  if (typeof text === 'string' && text !== '') return text
  if (!Array.isArray(params) || params.length === 0) return undefined
  if (!String(mimeType).startsWith('application/x-www-form-urlencoded'))
    throw new Error('has a body of parts without its text, which the browser has not kept')
  return String(new URLSearchParams(params.map(objectIn).map(({ name, value = '' }) => [String(name), String(value)])))
}
