/** 300 request targets in which two readers of a URL may disagree; ASCII only, since parsers refuse the rest before any rule. */
export function urlTargets(): string[] {
  const paths = ['/', '/b', '/x', '/users/7', '/users/me', '/posts', '/files/', '/files/a/b', '/a/b', '/nowhere']
  const twists: ((path: string) => string)[] = [
    (path) => path,
    (path) => `${path}?a=1&b=2`,
    (path) => `${path}?`,
    (path) => `${path}#part`,
    (path) => `${path}?a=1#part?b=2`,
    (path) => `/z/..${path}`,
    (path) => `/z/%2e%2e${path}`,
    (path) => `/z/.%2E${path}`,
    (path) => `/./${path.slice(1)}`,
    (path) => `/%2e${path}`,
    (path) => `/..${path}`,
    (path) => `${path}/.`,
    (path) => `${path}/..`,
    (path) => path.replaceAll('/', '\\').replace('\\', '/'),
    (path) => `/z\\..${path}`,
    (path) => `/${path}`,
    (path) => `${path}/`,
    (path) => `//host${path}`,
    (path) => `http://elsewhere${path}`,
    (path) => `HTTP://elsewhere:81${path}?q=1`,
    (path) => `http://user:word@elsewhere${path}`,
    (path) => `${path};v=1`,
    (path) => `${path}%2f..%2fb`,
    (path) => `${path}%5c..%5cb`,
    (path) => `${path}%20`,
    (path) => `${path}?q=%zz&r=%20+'"<>`,
    (path) => `${path}%c3%a9`,
    (path) => `${path}{a}|^\`"<>`,
    (path) => `${path}/...`,
    (path) => `${path}%252e%252e/b`,
  ]
  return twists.flatMap((twist) => paths.map(twist))
}

/** What must be the same everywhere. */
export interface Outcome {
  readonly status: number
  readonly route?: unknown
  readonly params?: unknown
  readonly url?: unknown
  readonly path?: unknown
  readonly query?: unknown
  readonly message?: unknown
}

/** Cuts an answer down to what is compared. */
export function outcomeOf(status: number, body: unknown): Outcome {
  const { route, params, url, path, query, message } = (body ?? {}) as Record<string, unknown>
  return { status, route, params, url, path, query, message }
}
