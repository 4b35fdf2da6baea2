/** Decides whether an origin is allowed; `origin` is a single serialised origin or `null`. */
export type OriginFunction<Request = unknown> = (origin: string, req: Request) => boolean | Promise<boolean>

/** The value of the `origin` option. */
export type OriginOption<Request = unknown> =
  | false
  | string
  | RegExp
  | readonly (string | RegExp)[]
  | OriginFunction<Request>

/** How responses depend on the origin: no origin is allowed, every origin is, or a call decides. */
export type OriginRule<Request = unknown> =
  | { readonly kind: 'none' }
  | { readonly kind: 'any' }
  | { readonly kind: 'ask'; readonly allows: OriginFunction<Request>; readonly dynamic: boolean }

/** Reports why a value is not a valid `origin`. */
export class OriginError extends Error {}

const takes = `'*', an origin such as 'https://app.example', a RegExp, a list of them, or a function`

/** Turns the option into a rule, once at the start. */
export function originRule<Request>(option: OriginOption<Request> | undefined): OriginRule<Request> {
  if (option === undefined || option === false) return { kind: 'none' }
  if (option === '*') return { kind: 'any' }
  if (typeof option === 'function') return { kind: 'ask', dynamic: true, allows: option }
  const list: readonly unknown[] = Array.isArray(option) ? option : [option]
  if (list.length === 0) return { kind: 'none' }
  const exact = new Set<string>()
  const patterns: RegExp[] = []
  for (const one of list) {
    if (typeof one === 'string') exact.add(checkOrigin(one))
    // A global or sticky expression remembers where it last matched, and would refuse every second request.
    else if (one instanceof RegExp) patterns.push(new RegExp(one.source, one.flags.replace(/[gy]/g, '')))
    else throw new OriginError(takes)
  }
  return {
    kind: 'ask',
    dynamic: false,
    allows: (origin) => exact.has(origin) || patterns.some((pattern) => pattern.test(origin)),
  }
}

function checkOrigin(text: string): string {
  if (text === '*') throw new OriginError(`'*' on its own, not in a list`)
  const normal = normalOrigin(text)
  if (normal === text) return text
  const hint = normal === undefined ? '' : `. Browsers send that one as '${normal}'`
  throw new OriginError(`${takes}${hint}`)
}

/** Returns an origin in the form in which browsers send it; `undefined` for an invalid one. */
function normalOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, protocol, host } = new URL(text)
  if (origin !== 'null') return origin
  // For a URL parser, addresses with the schemes of extensions and app shells have no origin; for browsers, they do.
  return host === '' ? undefined : `${protocol}//${host}`
}

const serialised = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[\x21\x22\x24-\x2b\x2d\x2e\x30-\x3e\x40-\x7e]+)$/i

/** Whether an `Origin` header is a single origin; two of them joined by a comma could match a loose pattern. */
export function isOneOrigin(origin: string | undefined): origin is string {
  return origin !== undefined && origin.length <= 2_048 && serialised.test(origin)
}
