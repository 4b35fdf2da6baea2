/** 310 request targets in which two readers of a URL may disagree; ASCII only, since parsers refuse the rest before any rule. */
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
    (path) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
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

/** Reduces a response to the compared parts. */
export function outcomeOf(status: number, body: unknown): Outcome {
  const { route, params, url, path, query, message } = (body ?? {}) as Record<string, unknown>
  return { status, route, params, url, path, query, message }
}

/** Host headers, and whether each is one host. */
export const hosts: readonly (readonly [host: string, isOne: boolean])[] = [
  ...['a', 'A.b:80', 'a:', 'a.', 'a_b', '-a--b-', '[::1]', '[::1]:8080', '127.0.0.1', 'x:65535'].map(
    (host) => [host, true] as const,
  ),
  ...['xn--bcher-kva.example', 'XN--BCHER-KVA.example'].map((host) => [host, true] as const),
  ...['x:99999', 'a%', 'a%41', '[:::]', '[::1', '999.999.999.999', '127.1', '0x7f.1', '1.2.3.4.'].map(
    (host) => [host, false] as const,
  ),
  ...['a..b', 'xn--a', 'a.xn--0', 'xn--u-ccb', 'xn--bcher-kva-', 'a b', 'u@a', 'a/b', "a'b", 'a;b', 'x'.repeat(64)].map(
    (host) => [host, false] as const,
  ),
]
