/** What to do about a connection that does not come, by the code of its error. */
const remedies: readonly (readonly [code: RegExp, remedy: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED|UnknownIssuer/,
    'No one who is known here has signed its certificate: give that of its authority as ca',
  ],
  [/^CERT_HAS_EXPIRED/, 'Renew its certificate, and look at the clock of this machine'],
  [/^CERT_NOT_YET_VALID/, 'Look at the clock of this machine'],
  [/ALTNAME_INVALID/, 'Connect to a name that its certificate has, or give one of those as servername'],
  [/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/, 'It wants a certificate of this client: give cert and key'],
  [
    /ALERT_(UNKNOWN_CA|BAD_CERT|(UNSUPPORTED_)?CERT|ACCESS_DENIED|DECRYPT)/,
    'It does not accept the certificate of this client: give one as cert that its authority has signed and that has not expired',
  ],
  [/KEY_VALUES_MISMATCH/, 'Give the key that belongs to cert'],
  [/^ERR_OSSL_/, 'Look at ca, cert and key: one of them cannot be read'],
  [/WRONG_VERSION|^EPROTO$/, 'Another protocol is spoken at this port: look at protocol and port'],
  [
    /^ECONNRESET$/,
    'Is it running? It also ends a connection at whose port it speaks another protocol: look at protocol and port',
  ],
]

/** Why a connection does not come, in one line, and what to do about it. */
export function explainFailure(error: Error & { code?: unknown; reason?: unknown }): string {
  const code = String(error.code ?? '')
  // The message of OpenSSL has the line of its own source, and an address in memory.
  const told =
    typeof error.reason === 'string' && /error:[\dA-F]{8}:/.test(error.message) ? error.reason : error.message
  const why = told === '' ? code || error.name : told
  const remedy = remedies.find(([pattern]) => pattern.test(code))?.[1]
  const number = typeof error.code === 'number' ? ` (${code})` : ''
  return `${why.replace(/\.$/, '')}${number}. ${remedy ?? 'Is it running, and are address and credentials right?'}`
}
