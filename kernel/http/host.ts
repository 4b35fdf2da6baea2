// reg-name, IPv4 and bracketed IPv6 with an optional port (RFC 9110 section 7.2); userinfo, spaces, slashes and
// comma-joined duplicates are refused, because whoever builds a link from the host would build one to elsewhere.
const grammar = /^(?:[A-Za-z0-9._~!$&'*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/

let lastValid = ''

/** Whether a Host header is one host and nothing else. */
export function isValidHost(host: string): boolean {
  if (host === lastValid) return true
  if (host.length > 261 || !grammar.test(host)) return false
  lastValid = host
  return true
}

/** An address that a browser on this machine can open. */
export function urlOf(host: string, port: number, secure: boolean): string {
  const local = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${secure ? 'https' : 'http'}://${local}:${port}`
}
