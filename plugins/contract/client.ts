import { defineErrors, withCause } from '../../kernel/support/errors.ts'
import { checkOptions } from '../../kernel/support/options.ts'
import { address, read, rest, type Input as SentInput, search, segment, send, signalOf } from './calls.ts'
import { ContractError, type NamedRoute, readContract } from './define.ts'
import { type ClientOptions, type OnceOptions, once } from './once.ts'
import type { ContractClient } from './types.ts'

// If a handler does not catch it, the response is a 500 without details: addresses of other servers are not meant for clients.
const { ContractCallError } = defineErrors({
  ContractCallError: (name: string, request: string, why: string) => `${name} (${request}): ${why}`,
})

const clientOptions = ['baseUrl', 'headers', 'fetch', 'credentials', 'timeout', 'signal', 'retries']

interface Input extends SentInput, OnceOptions {
  readonly params?: { readonly [name: string]: unknown }
}

/**
 * Creates the client of a contract: a function for each route, which returns the response whatever its status.
 *
 * The client validates nothing: the server does, and the client trusts the server.
 *
 * @throws ContractError for a value that is not a contract, OptionError for an unknown option.
 * @example
 * import { contractClient, defineContract } from 'framework/contract'
 * import { z } from 'zod'
 *
 * const shop = defineContract({
 *   readPost: { method: 'GET', path: '/posts/:id', responses: { 200: z.object({ title: z.string() }) } },
 * })
 * const client = contractClient(shop, { baseUrl: 'http://localhost:3000' })
 * const answer = await client.readPost({ params: { id: '1' } })
 * if (answer.status === 200) console.log(answer.body.title)
 */
export function contractClient<Routes extends object>(
  contract: Routes,
  options: ClientOptions = {},
): ContractClient<Routes> {
  checkOptions('contractClient', options, clientOptions)
  const calls = readContract(contract).map((named) => [named.name, (input?: Input) => call(named, options, input)])
  return Object.fromEntries(calls) as ContractClient<Routes>
}

async function call(named: NamedRoute, options: ClientOptions, input: Input = {}) {
  const { name, route, segments } = named
  const isOnce = route.idempotency === true
  const params = segments.some(({ kind }) => kind !== 'static') ? ['params'] : []
  const members = ['query', 'body', 'retries'].filter((one) => (one === 'retries' ? isOnce : one in route))
  checkOptions(name, input, [...params, ...members, 'headers', 'timeout', 'signal'])
  const path = pathOf(named, input)
  const signal = signalOf(options, input)
  try {
    const client = { ...options, signal, timeout: undefined }
    const sent = { headers: input.headers, body: input.body, retries: input.retries }
    const response = await (isOnce ? once : send)(client, route.method, path, sent, 'application/json')
    const { ok, status, headers } = response
    return { ok, status, headers, body: await read(response) }
  } catch (error) {
    // A caller that aborts receives the reason of its own signal, an AbortError or a TimeoutError.
    if (signal.aborted) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw withCause(ContractCallError(name, `${route.method} ${address(options, path)}`, why), error)
  }
}

/** The path of a call with its query. */
function pathOf({ name, segments }: NamedRoute, { params = {}, query }: Input): string {
  const names = segments.filter(({ kind }) => kind !== 'static').map(({ text }) => text)
  checkOptions(`${name}: params`, params, names)
  let missing: string | undefined
  try {
    const parts = segments.flatMap(({ kind, text, optional }) => {
      // The pattern contains a percent sign in its escaped form.
      if (kind === 'static') {
        missing = undefined
        return encodeURIComponent(text.replaceAll('%25', '%'))
      }
      const value = params[text]
      if (value === undefined && optional) {
        missing ??= text
        return []
      }
      // In such a path, the value would be that of the missing one.
      if (missing !== undefined && (optional || (kind === 'wildcard' && String(value).includes('/'))))
        throw new TypeError(`the parameter "${text}" cannot be sent without "${missing}", which is before it`)
      if (value === undefined || value === null) throw new TypeError(`the parameter "${text}" is missing`)
      return kind === 'param' ? segment(text, value) : rest(value, text)
    })
    return `/${parts.join('/')}${search(query)}`
  } catch (error) {
    throw ContractError(`${name}: ${(error as Error).message}`)
  }
}
