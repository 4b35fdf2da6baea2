import { METHODS, validateHeaderName, validateHeaderValue } from 'node:http'
import { connectionHeaders } from '../../plugins/shared/http/connection-headers.ts'
import { isObject } from '../../plugins/shared/values/json.ts'
import { jsonFault } from '../../plugins/shared/values/json-fault.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { textOf } from '../text-file.ts'
import type { Planned } from './requests.ts'

type Json = Readonly<Record<string, unknown>>

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
  if (!Array.isArray(entries)) throw fail(`${file} is no HTTP Archive: it has no list log.entries`)
  const read = <Result>(index: number, work: () => Result): Result =>
    orFail(work, (why) => fail(`entry ${index + 1} of ${file} ${why}`))
  const requests = entries.map((entry) => objectIn(objectIn(entry).request))
  // The addresses data: and blob: have no host.
  const hosts = requests.map((request, index) => read(index, () => urlOf(request).host))
  const host = hosts.find((one) => one !== '')
  const own = requests.flatMap((request, index) => (host === hosts[index] ? read(index, () => plannedOf(request)) : []))
  if (host === undefined) throw fail(`${file} has no request to a host`)
  const others = requests.length - own.length
  if (others > 0)
    note(
      `${others} of ${requests.length} entries of ${file} are left out: their host is not that of the first, ${host}`,
    )
  return own
}

const objectIn = (value: unknown): Json => (isObject(value) ? (value as Json) : {})

function urlOf({ url }: Json): URL {
  if (typeof url === 'string' && URL.canParse(url)) return new URL(url)
  throw new Error('has no request with a valid url')
}

function plannedOf(request: Json): Planned {
  const { protocol, pathname, search } = urlOf(request)
  const { method, postData } = request
  if (!/^(?:http|ws)s?:$/.test(protocol)) throw new Error(`is not HTTP but ${protocol}`)
  if (!METHODS.includes(method as string) || method === 'CONNECT') throw new Error('has no valid method')
  const headers = headersOf(request.headers)
  const body = postData === undefined || postData === null ? undefined : bodyOf(objectIn(postData))
  if (body !== undefined) headers['content-type'] ??= [String(objectIn(postData).mimeType)]
  return { method: method as string, path: pathname + search, headers, body, isSocket: protocol.startsWith('ws') }
}

/** Without those that the client of this command sets, those of one connection, and those of HTTP/2 such as `:path`. */
function headersOf(given: unknown): Record<string, string[]> {
  if (!Array.isArray(given)) throw new Error('has no list of headers')
  const all = given.map((one): [string, string] => {
    const { name, value } = objectIn(one)
    if (typeof name !== 'string' || typeof value !== 'string') throw new Error('has a header without a name or a value')
    return [name.toLowerCase(), value]
  })
  const left = connectionHeaders(all.find(([name]) => name === 'connection')?.[1])
  const headers: Record<string, string[]> = {}
  for (const [name, value] of all) {
    if (left.has(name) || /^(?::.*|host|content-length|expect|sec-websocket-(?!protocol).*)$/.test(name)) continue
    validateHeaderName(name)
    validateHeaderValue(name, value)
    headers[name] = [...(headers[name] ?? []), value]
  }
  return headers
}

/** Browsers write the fields of a form in `params`, and some of them also in `text`. */
function bodyOf({ text, encoding, mimeType, params }: Json): string | Buffer | undefined {
  if (encoding === 'base64') {
    if (/^[\w+/-]*={0,2}$/.test(text as string)) return Buffer.from(text as string, 'base64')
    throw new Error('has a body that is not base64')
  }
  if (typeof text === 'string' && text !== '') return text
  if (!Array.isArray(params) || params.length === 0) return undefined
  if (!String(mimeType).startsWith('application/x-www-form-urlencoded'))
    throw new Error('has a body of parts without its text, which the browser has not kept')
  return String(
    new URLSearchParams(params.map((one) => [String(objectIn(one).name), String(objectIn(one).value ?? '')])),
  )
}
